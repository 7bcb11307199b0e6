"""The chart mirror: an HTTPS proxy that is every chart's repository itself, and forwards nothing to anybody."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import ssl
import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, ClassVar, Final

from eks_gpu.facts.versions import CHARTS
from sandbox.charts import address, archives, identity, repositories
from sandbox.charts.repositories import Address, Document
from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.ports import HOST

_HTTPS_PORT: Final = "443"
_IDLE_SECONDS: Final = 60
_REGISTRY: Final = "/v2/"


class Mirror(socketserver.ThreadingTCPServer):
    """Listens on this machine only; each connection has a thread of its own."""

    allow_reuse_address = True
    request_queue_size = 64
    daemon_threads = True

    def __init__(self, port: int, served: Mapping[Address, Document], tls: ssl.SSLContext, inventory: str) -> None:
        """Bind the port (0: a free one). ``inventory`` says in words which charts there are, for refusals."""
        super().__init__((HOST, port), _Proxy)
        self.served = served
        self.hosts = frozenset(address.host for address in served)
        self.tls = tls
        self.inventory = inventory

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Say nothing of clients that went away."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def open_for(checkout: Checkout, port: int) -> Mirror:
    """Return a mirror of every chart that may be installed: bound to ``port`` (0: a free one), and not serving yet.

    Raises:
        SandboxError: a chart cannot be packed, or the port is taken.

    """
    checkout.prepare()
    kept = address.folder(checkout) / "packed"
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    served = repositories.documents(archives.pack(chart, kept) for chart in CHARTS.values())
    hosts = sorted({place.host for place in served})
    inventory = ", ".join(f"{chart.name} {chart.version}" for chart in CHARTS.values())
    try:
        mirror = Mirror(port, served, identity.server_context(checkout, hosts), inventory)
    except OSError as error:
        raise SandboxError(f"the chart mirror cannot listen at port {port} of {HOST}: {error.strerror}") from None
    address.record(checkout, mirror.port)
    return mirror


class _Handler(BaseHTTPRequestHandler):
    """What both sides of a tunnel have in common."""

    protocol_version = "HTTP/1.1"
    timeout: ClassVar[int] = _IDLE_SECONDS
    server: Mirror

    def answer(self, status: HTTPStatus, document: Document, *, reason: str | None = None) -> None:
        """Send a whole answer; Go's clients show the reason and nothing else where a proxy refuses."""
        self.send_response(status, reason)
        self.send_header("Content-Type", document.media_type)
        self.send_header("Content-Length", str(len(document.body)))
        self.send_header("Docker-Content-Digest", document.digest)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(document.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the base class's signature
        """Write one line to the log."""
        print(format % args, flush=True)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Write nothing: both handlers say more by themselves."""


class _Proxy(_Handler):
    """What a client says to its proxy."""

    def do_GET(self) -> None:
        """Say that the mirror is up; nothing else is to be had without TLS."""
        if self.path == address.HEALTH_PATH:
            self.answer(HTTPStatus.OK, _text("ok"))
        else:
            self._refuse(self.path)

    def do_CONNECT(self) -> None:
        """Be the host that the client asks for, if it is a chart's."""
        host, _, port = self.path.rpartition(":")
        if port != _HTTPS_PORT or host not in self.server.hosts:
            self._refuse(f"https://{self.path}")
            return
        self.send_response_only(HTTPStatus.OK, "connection established")
        self.end_headers()
        self.close_connection = True
        try:
            tunnel = self.server.tls.wrap_socket(self.connection, server_side=True)
        except OSError as error:
            self.log_message("%s", f"{host}: no TLS ({error}); does the client trust the sandbox's authority?")
            return
        with tunnel, contextlib.suppress(ConnectionError, ssl.SSLError):
            _Repository(tunnel, self.client_address, self.server, host)

    def _refuse(self, what: str) -> None:
        reason = f"the sandbox has no network, so {what} is out of reach; charts it has: {self.server.inventory}"
        self.log_message("%s", f"refused: {reason}")
        self.answer(HTTPStatus.FORBIDDEN, _text(reason), reason=reason)


class _Repository(_Handler):
    """What a client says to a chart's host, in the tunnel."""

    def __init__(self, tunnel: socket.socket, client: Any, server: Mirror, host: str) -> None:  # noqa: ANN401
        """Answer all requests of one connection."""
        self._host = host
        super().__init__(tunnel, client, server)

    def do_GET(self) -> None:
        """Answer from the table."""
        place = Address(self._host, self.path.partition("?")[0])
        document = self.server.served.get(place)
        if document is not None:
            self.log_message("%s", f"{self.command} {place} 200")
            self.answer(HTTPStatus.OK, document)
            return
        reason = f"the sandbox has nothing at {place}; charts it has: {self.server.inventory}"
        self.log_message("%s", f"{self.command} {place} 404: {reason}")
        missing = _registry_error(reason) if place.path.startswith(_REGISTRY) else _text(reason)
        self.answer(HTTPStatus.NOT_FOUND, missing, reason=reason)

    def do_HEAD(self) -> None:
        """Answer as to a GET, without the body."""
        self.do_GET()


def _text(line: str) -> Document:
    return Document(f"{line}\n".encode(), "text/plain; charset=utf-8")


def _registry_error(reason: str) -> Document:
    """Return an error as the OCI distribution protocol writes it."""
    body = {"errors": [{"code": "MANIFEST_UNKNOWN", "message": reason}]}
    return Document(json.dumps(body).encode(), "application/json")
