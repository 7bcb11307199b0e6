"""The Kubernetes of the sandbox by itself: ``python -m sandbox.kubernetes start|status|stop|wipe``."""

from __future__ import annotations

import argparse
import signal
import sys
import time

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import control_plane, usage

_INTERRUPTED = 130
_NOT_RUNNING = 1


def main() -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.kubernetes", description=__doc__)
    parser.add_argument("command", choices=["start", "status", "stop", "wipe"])
    command = parser.parse_args().command
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(command, Checkout.current())
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from there, and `stop` stops what was started", file=sys.stderr)
        return _INTERRUPTED


def _run(command: str, checkout: Checkout) -> int:
    if command == "start":
        for part, seconds in control_plane.measure(checkout).items():
            print(f"{part:<26} ready after {seconds:5.1f} s")
        return _status(checkout)
    if command == "status":
        return _status(checkout)
    began = time.monotonic()
    if command == "stop":
        was = control_plane.stop(checkout)
        print(f"stopped after {time.monotonic() - began:.1f} s" if was else "it was not running")
    else:
        control_plane.wipe(checkout)
        print("stopped and forgotten")
    return 0


def _status(checkout: Checkout) -> int:
    plane = control_plane.running(checkout)
    usages = usage.of(checkout)
    for line in usages:
        print(line)
    print(f"{usage.total_bytes(usages) // 1024**2} MiB in all")
    print(f"{plane.endpoint}, kubeconfig {plane.kubeconfig}" if plane else "not running")
    return 0 if plane else _NOT_RUNNING


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
