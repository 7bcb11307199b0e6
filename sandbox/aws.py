"""The AWS of the sandbox: one moto server per checkout, on this machine only.

Its port is reserved when a sandbox is first used and kept, so that everything can be told the URL before the server
runs; whoever needs an answer calls `endpoint`, which starts it. Its state lives in memory: it is gone when the server
stops.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.locks import exclusive, is_held, shared
from sandbox.ports import HOST, free, is_free
from sandbox.processes import end, start_detached, start_time

START_SECONDS = 60.0
"""How long the server may take to answer; it takes two seconds on an idle machine."""


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of the server: its port always, the rest while it runs."""

    port: int
    pid: int = 0
    started: str = ""

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{HOST}:{self.port}"

    @property
    def alive(self) -> bool:
        """Tell whether the process is there, and is the one that was started, not a later one with its number."""
        return bool(self.pid) and bool(self.started) and start_time(self.pid) == self.started


def endpoint() -> str:
    """Return the URL of the AWS stand-in of the current sandbox, started if it was not: for the stand-in providers.

    Raises:
        SandboxError: it does not start; the message names its log.

    """
    return start(Checkout.current()).url


def reserve(checkout: Checkout) -> Server:
    """Return the server with its port, without starting it."""
    checkout.prepare()
    with exclusive(_lock(checkout)):
        known = _read(checkout)
        if known is not None:
            return known
        return _write(checkout, Server(free()))


def start(checkout: Checkout, *, wait: bool = True) -> Server:
    """Start the server if it does not run; with ``wait``, until it answers."""
    checkout.prepare()
    with exclusive(_lock(checkout)):
        known = _read(checkout)
        server = known if known is not None and known.alive else _spawn(checkout, known)
    if wait:
        _wait(checkout, server)
    return server


def running(checkout: Checkout) -> Server | None:
    """Return the server if it runs."""
    known = _read(checkout)
    return known if known is not None and known.alive else None


def stop(checkout: Checkout) -> bool:
    """Stop the server, if it is the one we started; tell whether there was one."""
    server = running(checkout)
    if server is None:
        return False
    with exclusive(_lock(checkout)):
        end(server.pid, server.started)
        _write(checkout, Server(server.port))
    return True


def in_use(checkout: Checkout) -> AbstractContextManager[None]:
    """Keep the server from being stopped by `stop_unless_in_use` while the context lasts."""
    return shared(_users(checkout))


def is_in_use(checkout: Checkout) -> bool:
    """Tell whether a command works with the server."""
    return is_held(_users(checkout))


def stop_unless_in_use(checkout: Checkout) -> None:
    """Stop the server if no command works with it."""
    if not is_in_use(checkout):
        stop(checkout)


def _spawn(checkout: Checkout, known: Server | None) -> Server:
    port = known.port if known is not None and is_free(known.port) else free()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    # Without its managed policies, attaching AmazonEKSWorkerNodePolicy and the like fails.
    environment |= {"MOTO_IAM_LOAD_MANAGED_POLICIES": "true", "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    pid = start_detached(command, environment, _log(checkout))
    return _write(checkout, Server(port, pid, start_time(pid)))


def _wait(checkout: Checkout, server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(server):
        if not server.alive or time.monotonic() > deadline:
            tail = _log(checkout).read_text(errors="replace").splitlines()[-5:]
            said = "".join(f"\n    {line}" for line in tail)
            raise SandboxError(f"the AWS stand-in (moto) did not start; its log is {_log(checkout)}{said}")
        time.sleep(0.05)


def _answers(server: Server) -> bool:
    connection = http.client.HTTPConnection(HOST, server.port, timeout=5)
    try:
        connection.request("GET", "/moto-api/")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _read(checkout: Checkout) -> Server | None:
    try:
        return Server(**json.loads(_record(checkout).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _write(checkout: Checkout, server: Server) -> Server:
    temporary = _record(checkout).with_suffix(".part")
    temporary.write_text(json.dumps(asdict(server)))
    temporary.replace(_record(checkout))
    return server


def _lock(checkout: Checkout) -> Path:
    return checkout.directory / "aws.lock"


def _users(checkout: Checkout) -> Path:
    return checkout.directory / "aws.users"


def _record(checkout: Checkout) -> Path:
    return checkout.directory / "aws.json"


def _log(checkout: Checkout) -> Path:
    return checkout.logs / "aws.log"
