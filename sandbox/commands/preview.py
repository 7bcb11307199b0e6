"""``preview``: what the engine would build for a stack, judged by the policy pack."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox import aws, stacks
from sandbox.checkout import Checkout
from sandbox.commands import project
from sandbox.commands.project import OpenStack
from sandbox.home import Kubernetes
from sandbox.processes import run_behind
from sandbox.toolchain import pulumi_cli


def preview(stack: str, options: Sequence[str] = ()) -> int:
    """Print the verdict of ``eks-gpu check``, then the preview; ``options`` are handed to ``pulumi preview``.

    The verdict needs no engine. Where the engine has yet to be built, it is there minutes before the preview; where it
    is built, both are worked out at the same time.

    Raises:
        SandboxError: the stack is unknown or its file is refused, or there is no engine.

    """
    program = project.load()
    program.stack_file(stack)
    checkout = Checkout.current()
    must_build = pulumi_cli.available(checkout) is None
    if must_build:
        project.judge(program, stack)
    opened = project.open_stack(stack)
    if opened.home is not None and opened.home.kubernetes is Kubernetes.REAL:
        # What the real provider made, only the real one can compare.
        opened = opened.with_kubernetes()
    was_running = aws.running(checkout) is not None
    judged = ("preview", "--policy-pack", project.POLICY_PACK, *options)
    try:
        with aws.in_use(checkout):
            code = opened.run(*judged) if must_build else _beside(opened, judged)
    finally:
        # A look-up may have started the AWS stand-in; with nothing deployed, nobody needs it any more.
        if not was_running and not any(stacks.resource_counts(checkout).values()):
            aws.stop_unless_in_use(checkout)
    return 1 if code else 0


def _beside(opened: OpenStack, judged: tuple[str, ...]) -> int:
    check = project.check_command(opened.program, opened.name)
    command = opened.command(*judged)
    verdict, code = run_behind(check, command, cwd=opened.program.root, env=opened.engine.environment)
    project.refuse(verdict)
    return project.outlived(code, "run again")
