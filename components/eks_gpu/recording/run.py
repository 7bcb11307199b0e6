"""Runs a program against the recorder."""

from __future__ import annotations

import asyncio
import contextvars
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from google.protobuf import empty_pb2
from pulumi.runtime import mocks, settings
from pulumi.runtime.config import set_all_config
from pulumi.runtime.stack import run_in_stack

from eks_gpu.recording.answers import ANSWERS, Answer
from eks_gpu.recording.monitor import RecordingMonitor
from eks_gpu.recording.recorded import Recording


def record(  # noqa: PLR0913 - what a program can be run with; all keyword-only
    program: Callable[[], object],
    *,
    project: str = "eks-gpu",
    stack: str = "dev",
    config: Mapping[str, str] | None = None,
    secrets: frozenset[str] = frozenset(),
    preview: bool = True,
    answers: Mapping[str, Answer] | None = None,
) -> Recording:
    """Run ``program`` with no engine and no cloud, and return what it registered.

    ``config`` maps full keys (``aws:region``) to strings, structured values as JSON, as the engine hands them over;
    ``secrets`` names the keys that are secret. ``preview`` tells the program that it is a preview: outputs that nobody
    can know yet stay unknown and every dependency is kept; without it they are ``None``. ``answers`` adds provider
    functions by token. Whatever the program raises is raised here.

    Each run has a context of its own, so that recordings do not disturb each other.
    """

    def isolated() -> Recording:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        monitor = RecordingMonitor({**ANSWERS, **(answers or {})})
        try:
            set_all_config(dict(config or {}), sorted(secrets))
            settings.ROOT.set(None)
            settings.configure(_settings(monitor, project, stack, preview=preview))
            settings.SETTINGS.outputs.clear()
            loop.run_until_complete(run_in_stack(lambda: _settle(program)))
        finally:
            _close(loop)
        return Recording(
            resources=tuple(sorted(monitor.recorded, key=lambda resource: resource.urn)),
            exports=monitor.exports,
            unanswered=tuple(sorted(monitor.unanswered)),
        )

    return contextvars.copy_context().run(isolated)


def record_directory(
    directory: Path,
    *,
    project: str,
    stack: str,
    config: Mapping[str, str] | None = None,
    secrets: frozenset[str] = frozenset(),
) -> Recording:
    """Run the Pulumi program in ``directory`` (its ``__main__.py``) as the Python host would, against the recorder."""

    def program() -> None:
        runpy.run_path(str(directory / "__main__.py"), run_name="__main__")

    with _working_in(directory):
        return record(program, project=project, stack=stack, config=config, secrets=secrets)


def _settings(monitor: RecordingMonitor, project: str, stack: str, *, preview: bool) -> mocks.MockSettings:
    return mocks.MockSettings(  # type: ignore[no-untyped-call] # the SDK's
        monitor=monitor,
        monitor_features=set(monitor.GetDeploymentInfo(empty_pb2.Empty()).supportedFeatures),
        engine=mocks.MockEngine(None),
        project=project,
        stack=stack,
        dry_run=preview,
        organization="organization",
        callbacks=None,
        package_refs={},
        base_providers_by_ref={},
    )


def _under_way() -> list[asyncio.Task[object]]:
    with settings.SETTINGS.lock:  # executor threads add to them
        return [task for task in settings.SETTINGS.outputs if not task.done()]


async def _settle(program: Callable[[], object]) -> None:
    """Run ``program`` and wait until nothing of it is under way.

    The SDK would wait by itself, but for one Output after the other, each time asking all that are left: for a stack
    of 150 resources that costs as much as everything else together.
    """
    program()
    while pending := _under_way():
        await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.done() and not task.cancelled() and task.exception() for task in pending):
            return  # the SDK raises it in its own words


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Leave nothing of a failed run behind: its tasks would fail the next one with 'event loop is closed'."""
    leftovers = asyncio.all_tasks(loop)
    for task in leftovers:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*leftovers, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    asyncio.set_event_loop(None)
    loop.close()


@contextmanager
def _working_in(directory: Path) -> Iterator[None]:
    """Run in ``directory`` with its modules importable, as ``python __main__.py`` would, and undo both."""
    before = Path.cwd()
    os.chdir(directory)
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.path.remove(str(directory))
        os.chdir(before)
