from __future__ import annotations

import signal
import subprocess
import sys

AT_EXIT = """
import atexit, os, signal, sys
from eks_gpu.cli import main
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["eks-gpu", "--version"]
main()
"""


def test_an_interrupt_while_the_command_line_ends_shows_no_traceback() -> None:
    answer = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False)

    assert answer.stdout.strip()
    assert answer.stderr == ""
    assert answer.returncode == -signal.SIGINT
