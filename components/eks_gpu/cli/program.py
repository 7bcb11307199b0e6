"""Running a stack's program against the recorder, and saying in a sentence why it could not run."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pulumi

from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu.cli.project import Project
from eks_gpu.recording import Recording, record_directory
from eks_gpu.settings import stack_file
from eks_gpu.settings.platform import PROJECT
from eks_gpu.settings.problems import SettingsError

WITHOUT_FILE: Final = "dev"
"""The stack that a program runs as when it has no stack files at all."""


@dataclass(frozen=True)
class Recorded:
    """A stack, its configuration as the engine would hand it over, and what its program registered."""

    stack: str
    recording: Recording
    config: Mapping[str, str] = field(default_factory=dict)


def stacks_to_run(project: Project, asked: str | None) -> tuple[str, ...]:
    """Return the stack that was asked for, or every stack of the project."""
    if asked is not None and project.stacks:
        project.stack_file(asked)
        return (asked,)
    return project.stacks or (asked or WITHOUT_FILE,)


def record_stack(project: Project, stack: str) -> Recorded:
    """Run the project's program for ``stack`` against the recorder.

    Raise :class:`CannotRun` with the program's own words when it refuses its settings or arguments, and with the place
    where it failed when it fails otherwise.
    """
    try:
        configuration = _configuration(project, stack)
        config = configuration.engine_config() if configuration else {}
        secrets = configuration.secrets if configuration else frozenset()
        recording = record_directory(project.program, project=project.name, stack=stack, config=config, secrets=secrets)
    except (SettingsError, pulumi.RunError, pulumi.InputPropertiesError) as error:
        raise CannotRun(str(error)) from error
    except (CannotRun, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise CannotRun(_failure(error, project.program)) from error
    return Recorded(stack, recording, config)


def _configuration(project: Project, stack: str) -> stack_file.Configuration | None:
    if not project.stacks:
        return None
    path = project.stack_file(stack)
    return stack_file.load(path) if project.name == PROJECT else stack_file.read(path)


def _failure(error: BaseException, directory: Path) -> str:
    """Return what failed and the last place in the program itself, not in a library it calls."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(directory)]
    own = [frame for frame in own if "site-packages" not in frame.filename] or frames[-1:]
    if isinstance(error, SyntaxError):
        return f"the program is no Python: {error}"
    place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else str(directory)
    return f"the program failed in {place}: {type(error).__name__}: {error}; --traceback shows how it came there"
