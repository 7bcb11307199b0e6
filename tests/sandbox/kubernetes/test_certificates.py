from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from sandbox.kubernetes.certificates import Authority, Pair, signing_key
from sandbox.ports import HOST


def test_a_server_is_trusted_by_those_who_trust_the_authority_and_by_nobody_else(tmp_path: Path) -> None:
    authority = Authority("one")
    pair = authority.issue("server", (HOST, "charts.example.com"))

    assert _handshake(tmp_path, pair, authority, HOST) == ""
    assert _handshake(tmp_path, pair, authority, "charts.example.com") == ""
    assert "mismatch" in _handshake(tmp_path, pair, authority, "other.example.com")
    assert "verify failed" in _handshake(tmp_path, pair, Authority("two"), HOST)


def test_a_client_is_no_server(tmp_path: Path) -> None:
    authority = Authority("one")

    assert "unsuitable certificate purpose" in _handshake(tmp_path, authority.issue("client"), authority, HOST)


def test_an_authority_signs_no_authorities() -> None:
    issued = x509.load_pem_x509_certificate(Authority("one").issue("server", (HOST,)).certificate.encode())

    assert not issued.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not issued.extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign


def test_the_public_half_of_a_signing_key_is_that_of_the_private_one() -> None:
    pair = signing_key()
    private = serialization.load_pem_private_key(pair.key.encode(), password=None)

    encoding = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    assert private.public_key().public_bytes(*encoding).decode() == pair.certificate
    assert signing_key() != pair


@pytest.mark.parametrize("hosts", [(), (HOST,)])
def test_two_certificates_share_no_key(hosts: tuple[str, ...]) -> None:
    authority = Authority("one")

    assert authority.issue("a", hosts).key != authority.issue("a", hosts).key


def _handshake(folder: Path, pair: Pair, trusted: Authority, host: str) -> str:
    """Return why a client refuses a server, or nothing if it does not."""
    certificate, key = folder / "server.crt", folder / "server.key"
    certificate.write_text(pair.certificate)
    key.write_text(pair.key)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            with serving.wrap_socket(theirs, server_side=True) as connection:
                connection.recv(1)
        except ssl.SSLError:
            theirs.close()

    server = threading.Thread(target=serve)
    server.start()
    context = ssl.create_default_context(cadata=trusted.certificate)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
        with context.wrap_socket(ours, server_hostname=host):
            return ""
    except ssl.SSLError as error:
        return str(error)
    finally:
        ours.close()
        server.join()
