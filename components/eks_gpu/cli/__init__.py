"""The ``eks-gpu`` command line."""

from __future__ import annotations

import gc
import signal
import sys


def main() -> None:
    """Run ``eks-gpu``; say in one sentence what to install when the command line's own packages are missing."""
    # A command lives for seconds and throws nothing away; looking for garbage among the SDKs' classes takes a fifth of
    # its time.
    gc.disable()
    try:
        from eks_gpu.cli.app import app  # noqa: PLC0415 - the message below must not need what may be missing
    except ModuleNotFoundError as missing:
        if missing.name not in {"typer", "rich"}:
            raise
        sys.stderr.write("eks-gpu: the command line is an extra; pip install 'pulumi-eks-gpu[cli,policies]'\n")
        sys.exit(2)
    try:
        app()
    finally:
        # Taking the SDKs apart takes a moment, in which Ctrl-C has nothing left to interrupt and no traceback to show.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
