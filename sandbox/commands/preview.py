"""``preview``: what the engine would build for a stack, judged by the policy pack."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox import aws, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.commands import project
from sandbox.engine import prepare
from sandbox.processes import run


def preview(stack: str, options: Sequence[str] = ()) -> int:
    """Print the verdict of ``eks-gpu check``, then the preview; ``options`` are handed to ``pulumi preview``.

    The verdict comes first because it needs no engine: on a new machine it is there minutes before the preview.
    """
    checkout = Checkout.current()
    program = project.load()
    program.stack_file(stack)
    project.verdict(stack)
    engine = prepare(checkout, program)
    copy = project.open_stack(engine, program, stack)
    was_running = aws.running(checkout) is not None
    command = engine.command(
        *("preview", program, stack, "--config-file", str(copy), "--policy-pack", project.POLICY_PACK),
        *options,
    )
    try:
        return 1 if run(command, cwd=ROOT, env=engine.environment) else 0
    finally:
        # A look-up may have started the AWS stand-in; with nothing deployed, nobody needs it any more.
        if not was_running and stacks.is_empty(checkout, program, stack):
            aws.stop(checkout)
