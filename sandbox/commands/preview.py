"""``preview``: what the engine would build for a stack, judged by the policy pack."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox import aws
from sandbox.commands import project


def preview(stack: str, options: Sequence[str] = ()) -> int:
    """Print the verdict of ``eks-gpu check``, then the preview; ``options`` are handed to ``pulumi preview``.

    The verdict comes first because it needs no engine: on a new machine it is there minutes before the preview.
    """
    program = project.load()
    program.stack_file(stack)
    project.verdict(program, stack)
    opened = project.open_stack(stack)
    checkout = opened.engine.checkout
    was_running = aws.running(checkout) is not None
    try:
        return 1 if opened.run("preview", "--policy-pack", project.POLICY_PACK, *options) else 0
    finally:
        # A look-up may have started the AWS stand-in; with nothing deployed, nobody needs it any more.
        if not was_running and opened.is_empty:
            aws.stop(checkout)
