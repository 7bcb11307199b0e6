from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.charts import address, mirror
from sandbox.checkout import Checkout
from sandbox.ports import HOST


@dataclass(frozen=True)
class Answer:
    """What a client of the mirror was told."""

    status: int
    reason: str
    media_type: str
    body: bytes


@dataclass(frozen=True)
class Client:
    """Asks as Helm does: by the address of the host, through the proxy, trusting the sandbox's authority."""

    checkout: Checkout
    port: int

    def get(self, host: str, path: str, *, verb: str = "GET", trusting: ssl.SSLContext | None = None) -> Answer:
        """Ask for ``https://{host}{path}``."""
        context = trusting or ssl.create_default_context(cafile=str(address.ca_file(self.checkout)))
        connection = http.client.HTTPSConnection(HOST, self.port, timeout=30, context=context)
        connection.set_tunnel(host, 443)
        try:
            connection.request(verb, path)
            return _answer(connection.getresponse())
        finally:
            connection.close()

    def plain(self, verb: str, target: str) -> Answer:
        """Ask the proxy itself."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request(verb, target)
            return _answer(connection.getresponse())
        finally:
            connection.close()


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give all tests one folder for packed charts: to pack them takes seconds."""
    return tmp_path_factory.mktemp("packed")


@pytest.fixture
def client(checkout: Checkout, packed: Path) -> Iterator[Client]:
    """Run a mirror while a test lasts."""
    link(checkout, packed)
    with mirror.open_for(checkout, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Client(checkout, server.port)
        finally:
            server.shutdown()
            thread.join()


def link(checkout: Checkout, packed: Path) -> None:
    """Let a sandbox find packed charts."""
    address.folder(checkout).mkdir()
    (address.folder(checkout) / "packed").symlink_to(packed)


def _answer(response: http.client.HTTPResponse) -> Answer:
    return Answer(response.status, response.reason, response.headers.get_content_type(), response.read())
