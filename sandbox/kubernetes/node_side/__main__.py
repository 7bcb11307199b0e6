"""The process of the node side: ``python -m sandbox.kubernetes.node_side --directory <sandbox> --port <port>``.

It answers ``/healthz`` at its port once it has seen everything, and ends at SIGTERM, with Karpenter.
"""

from __future__ import annotations

import argparse
import http.client
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import credentials, karpenter, layout, parts, ports
from sandbox.kubernetes.node_side.custom_resources import ClusterPolicies, NodeClasses
from sandbox.kubernetes.node_side.gpus import Gpus
from sandbox.kubernetes.node_side.scaler import Scaler
from sandbox.kubernetes.node_side.terminated import Terminated
from sandbox.kubernetes.node_side.unnoticed import Unnoticed
from sandbox.kubernetes.node_side.volumes import Volumes
from sandbox.kubernetes.node_side.world import Duty, World, log
from sandbox.kubernetes.rest import ApiError, Rest
from sandbox.kubernetes.watch import Folder
from sandbox.ports import HOST

_IDLE_SECONDS: Final = 1.0
"""After which duties are looked at though nothing was seen to change: Karpenter may have ended."""
_SETTLE_SECONDS: Final = 0.05
"""Changes come in bursts: those of so long are looked at together."""


def main(arguments: Sequence[str]) -> int:
    """Do all duties until told to end."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.kubernetes.node_side")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stdout, format="%(asctime)s %(message)s", level=logging.INFO)
    checkout = Checkout(options.directory)
    world = World(_api(checkout))
    stopping = _told_to_end(world)
    server = ThreadingHTTPServer((HOST, options.port), partial(_Health, world))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scaler = Scaler(checkout, layout.kubeconfig(checkout, credentials.NODE_SIDE))
    work = Work(
        (
            Terminated(),
            Unnoticed(),
            Gpus(),
            Volumes(),
            ClusterPolicies(),
            NodeClasses(partial(karpenter.answers, checkout)),
            scaler,
        )
    )
    folder = Folder(checkout)
    world.start()
    try:
        while not stopping.is_set():
            if not folder.is_there():
                log.info("the folder of the sandbox was deleted: everything ends")
                folder.end_the_others(but=os.getpid())
                break
            work.do(world)
            world.changed.wait(_IDLE_SECONDS)
            stopping.wait(_SETTLE_SECONDS)
            world.changed.clear()
    finally:
        scaler.stop("the node side ends")
        server.server_close()
    return 0


class Work:
    """All duties, one after the other."""

    def __init__(self, duties: Sequence[Duty]) -> None:
        """Have nothing to complain of yet."""
        self._duties = duties
        self._told: dict[str, str] = {}

    def do(self, world: World) -> None:
        """Do each duty; what cannot be done now is said once, and tried again the next time."""
        if not world.complete:
            return
        for duty in self._duties:
            try:
                duty.step(world)
                self._told.pop(type(duty).__name__, None)
            except (ApiError, SandboxError, OSError, http.client.HTTPException) as error:
                if not _is_overtaken(error):
                    self._tell(duty, error)
            except Exception as error:  # noqa: BLE001 - one object of a kind nobody thought of must not end all duties
                self._tell(duty, error, "".join(traceback.format_exception(error)))

    def _tell(self, duty: Duty, error: Exception, more: str = "") -> None:
        name = type(duty).__name__
        if self._told.get(name) != repr(error):
            self._told[name] = repr(error)
            log.warning("%s: %s", name, more or error)


def _is_overtaken(error: Exception) -> bool:
    """Tell whether something is only not as it was when it was looked at: it is gone, or has changed."""
    return isinstance(error, ApiError) and error.code in {http.client.NOT_FOUND, http.client.CONFLICT}


def _api(checkout: Checkout) -> Rest:
    return Rest(
        parts.endpoint(ports.reserve(checkout)),
        credentials.authority_in_base64(checkout),
        credentials.token(checkout, credentials.NODE_SIDE),
    )


def _told_to_end(world: World) -> threading.Event:
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        world.changed.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopping


class _Health(BaseHTTPRequestHandler):
    def __init__(self, world: World, *arguments: object) -> None:
        self._world = world
        super().__init__(*arguments)  # type: ignore[arg-type]  # as the server gives them

    def do_GET(self) -> None:
        self.send_response(http.client.OK if self._world.complete else http.client.SERVICE_UNAVAILABLE)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing: somebody asks all the time."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
