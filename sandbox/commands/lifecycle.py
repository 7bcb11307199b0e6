"""``up``, ``down`` and ``recover``: a stack from nothing to everything and back, in an AWS and a Kubernetes of ours."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sandbox import aws, home, leftovers, stacks, turns
from sandbox.commands import ending, project
from sandbox.commands.project import OpenStack
from sandbox.errors import SandboxError
from sandbox.home import Home, Kubernetes

RECONCILE = ("--yes", "--skip-preview", "--clear-pending-creates", "--run-program=false")
"""The options of a refresh that takes what there is as it is, without showing it twice."""


def up(stack: str, options: Sequence[str] = (), kubernetes: Kubernetes | None = None) -> int:
    """Build the stack, judged by the policy pack before anything is made; ``options`` go to ``pulumi up``.

    ``kubernetes`` says what answers for the cluster; left out, it is what the stack was built with, else the real one.

    Raises:
        SandboxError: the stack is unknown, or what it was built in is gone or is another.

    """
    opened = _open_judged(stack)
    with _turn(opened):
        _refuse_if_cut_off(opened)
        known = opened.home
        now = Home(aws.start(opened.engine.checkout, wait=False), _chosen(opened, known, kubernetes))
        if not opened.is_empty and (known is None or known.aws != now.aws):
            raise SandboxError(
                f"the AWS stand-in was stopped since {stack} was built, and what it held is gone; "
                f"{project.remedy('recover', stack)} builds it anew"
            )
        return _up(_settled(opened, now), options)


def down(stack: str, options: Sequence[str] = ()) -> int:
    """Destroy the stack, list what is left, and stop AWS and Kubernetes if nothing is.

    ``options`` go to ``pulumi destroy``.

    Raises:
        SandboxError: the stack is unknown, protects something, or is not destroyed.

    """
    opened = project.open_stack(stack)
    with turns.turn(opened.engine.checkout, opened.program, stack):
        _refuse_if_cut_off(opened)
        _refuse_if_protected(opened)
        if not opened.is_empty:
            _destroy(opened, options)
        return ending.leave(opened)


def _refuse_if_protected(opened: OpenStack) -> None:
    """Say how a protected stack is deleted on purpose, before the engine deletes what it may and stops half-way."""
    stack = opened.name
    names = stacks.protected(opened.engine.checkout, opened.program, stack)
    if names:
        raise SandboxError(
            f"{stack} protects {', '.join(names)} from being deleted; to delete it on purpose, set another environment "
            f"than prod in {opened.program.stack_file(stack).name}, {project.remedy('up', stack)} once, then "
            f'{project.remedy("down", stack)} again (docs/operations.md, "destroy")'
        )


def _destroy(opened: OpenStack, options: Sequence[str]) -> None:
    checkout = opened.engine.checkout
    with aws.in_use(checkout):
        aws.start(checkout, wait=False)
        if _in_real_kubernetes(opened):
            opened = opened.with_kubernetes()
        if opened.run("destroy", "--yes", *options) and not (
            _unblocked(opened) and opened.run("destroy", "--yes", *options) == 0
        ):
            _blame_kubernetes(opened)
            raise SandboxError(
                f"{opened.name} is not destroyed; {project.remedy('recover', opened.name)} reconciles it, then try "
                "again; if what somebody made by hand stands in the way, `make clean-sandbox` forgets all of it",
                exit_code=1,
            )


def _unblocked(opened: OpenStack) -> bool:
    """Remove what stands in the way of a destroy because nobody recorded it; tell whether there was any."""
    checkout = opened.engine.checkout
    return leftovers.clear(aws.start(checkout).url, checkout, opened.name).removed > 0


def recover(stack: str, options: Sequence[str] = ()) -> int:
    """Finish what a crash left: drop the lock, reconcile the state with what there is, then build the stack.

    A creation that was under way is dropped from the state, and what it made in AWS is removed (`sandbox.leftovers`).

    Raises:
        SandboxError: the stack is unknown, or its lock cannot be dropped.

    """
    opened = _open_judged(stack)
    with _turn(opened):
        # A stack that is empty, because its engine was killed at the very beginning or end, goes back there, too.
        known = home.last(opened.engine.checkout, opened.program, stack)
        now = Home(aws.start(opened.engine.checkout), _chosen(opened, known, None))
        opened = _settled(opened, now)
        _unlock(opened)
        # Before the refresh, which takes a release that was being uninstalled for one that is there, ...
        _clear_kubernetes(now, opened)
        with leftovers.around_refresh(now.aws.url, opened.engine.checkout, opened.program, stack):
            if not opened.is_empty and opened.run("refresh", *RECONCILE):
                raise SandboxError(
                    f"the state of {stack} cannot be reconciled; `make clean-sandbox` forgets it and its AWS",
                    exit_code=1,
                )
        # ... and after it, for providers go on for a while after their engine was killed.
        _clear_kubernetes(now, opened)
        return _up(opened, options)


def _clear_kubernetes(now: Home, opened: OpenStack) -> None:
    if now.kubernetes is Kubernetes.REAL:
        ending.clear_kubernetes(opened.engine.checkout)


def _open_judged(stack: str) -> OpenStack:
    """Open a stack whose file ``eks-gpu check`` can read; nothing is begun for any other."""
    program = project.load()
    program.stack_file(stack)
    project.judge(program, stack)
    return project.open_stack(stack)


@contextmanager
def _turn(opened: OpenStack) -> Iterator[None]:
    checkout = opened.engine.checkout
    with turns.turn(checkout, opened.program, opened.name), aws.in_use(checkout):
        yield


def _refuse_if_cut_off(opened: OpenStack) -> None:
    if turns.is_locked(opened.engine.checkout, opened.program, opened.name):
        raise SandboxError(
            f"a command that was changing {opened.name} was killed, and left it locked; "
            f"{project.remedy('recover', opened.name)} finishes its work"
        )


def _chosen(opened: OpenStack, known: Home | None, wanted: Kubernetes | None) -> Kubernetes:
    """Return what is to answer for the cluster: what did before, else what is wanted, else the real one."""
    before = known.kubernetes if known is not None else None
    if before is not None and wanted not in {None, before}:
        raise SandboxError(
            f"{opened.name} was built with the {before} Kubernetes, and cannot move to the {wanted} one; "
            f"{project.remedy('down', opened.name)} first"
        )
    return before or wanted or Kubernetes.REAL


def _settled(opened: OpenStack, now: Home) -> OpenStack:
    """Start what the stack lives in, remember it, and return the stack, ready to be built there."""
    engine = opened.engine
    if now.kubernetes is Kubernetes.REAL:
        others = list(home.others_in_kubernetes(engine.checkout, opened.program, opened.name))
        if others:
            raise SandboxError(
                f"this sandbox has one Kubernetes, and {others[0]} lives in it; take that down first, or give "
                f"{opened.name} a sandbox of its own with another checkout"
            )
        opened = opened.with_kubernetes()
    home.write(engine.checkout, opened.program, opened.name, now)
    return opened


def _in_real_kubernetes(opened: OpenStack) -> bool:
    return opened.home is not None and opened.home.kubernetes is Kubernetes.REAL


def _up(opened: OpenStack, options: Sequence[str]) -> int:
    if opened.run("up", "--yes", "--policy-pack", project.POLICY_PACK, *options) == 0:
        return 0
    _blame_kubernetes(opened)
    return 1


def _blame_kubernetes(opened: OpenStack) -> None:
    """Say so if a run failed because a part of the control plane has ended meanwhile."""
    if _in_real_kubernetes(opened):
        # Imported where it is used: a stack in the stand-in must not wait for it.
        from sandbox.kubernetes import control_plane  # noqa: PLC0415 - see above

        control_plane.check(opened.engine.checkout)


def _unlock(opened: OpenStack) -> None:
    command = opened.engine.command("cancel", opened.program, opened.name, "--yes")
    environment = opened.engine.environment
    answer = subprocess.run(
        command, cwd=opened.program.root, env=environment, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        said = answer.stderr.strip() or answer.stdout.strip()
        raise SandboxError(f"the lock of {opened.name} cannot be dropped: {said}")
