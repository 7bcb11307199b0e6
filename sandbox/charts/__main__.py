"""Serves the stand-in charts: ``python -m sandbox.charts --directory .sandbox --port 0``."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from sandbox.charts import address, mirror
from sandbox.checkout import Checkout
from sandbox.errors import SandboxError


def main() -> int:
    """Serve until told to stop; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.charts", description=__doc__)
    parser.add_argument("--directory", type=Path, required=True, help="the sandbox it belongs to")
    parser.add_argument("--port", type=int, default=0, help="where it listens on 127.0.0.1 (default: a free port)")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    try:
        _serve(Checkout(given.directory.absolute()), given.port)
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    return 0


def _serve(checkout: Checkout, port: int) -> None:
    with mirror.open_for(checkout, port) as server:
        print(f"charts at {address.url(server.port)}: {server.inventory}", flush=True)
        server.serve_forever()


def _end(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
