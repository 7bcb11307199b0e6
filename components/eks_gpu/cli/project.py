"""Where a Pulumi project is and which stacks it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eks_gpu.cli.exit_codes import CannotRun

_PROJECT_FILE = "Pulumi.yaml"
_PROGRAM_FILE = "__main__.py"
_RUNTIME = "python"


@dataclass(frozen=True)
class Project:
    """A directory with a ``Pulumi.yaml``."""

    directory: Path
    name: str
    program: Path
    """Where its ``__main__.py`` is: ``main`` of the project file, by default the directory itself."""
    stacks_directory: Path
    """Where the stack files lie: ``stackConfigDir`` of the project file, by default beside it."""

    @classmethod
    def find(cls, start: Path) -> Project:
        """Return the project that ``start`` is in: the nearest directory upwards that has a ``Pulumi.yaml``."""
        if not start.is_dir():
            raise CannotRun(f"{start} is no directory; give the directory of a Pulumi program")
        for directory in (start, *start.parents):
            if (directory / _PROJECT_FILE).is_file():
                return cls._read(directory)
        raise CannotRun(f"no {_PROJECT_FILE} in {start} or above; run this in a Pulumi project or give --program DIR")

    @classmethod
    def _read(cls, directory: Path) -> Project:
        path = directory / _PROJECT_FILE
        try:
            content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise CannotRun(f"{path} cannot be read: {' '.join(str(error).split())}") from error
        name = content.get("name") if isinstance(content, dict) else None
        if not isinstance(name, str):
            raise CannotRun(f"{path} has no name; a Pulumi project file starts with name: and runtime:")
        _refuse_other_runtimes(path, content.get("runtime"))
        where = content.get("stackConfigDir")
        program = _program(directory, content.get("main"))
        return cls(directory, name, program, directory / where if isinstance(where, str) else directory)

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks that have a file, sorted."""
        files = self.stacks_directory.glob("Pulumi.*.yaml")
        return tuple(sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files))

    def stack_file(self, stack: str) -> Path:
        """Return the file of ``stack``; refuse a stack that has none, naming those there are."""
        if stack not in self.stacks:
            known = ", ".join(self.stacks) or "none"
            raise CannotRun(f"no stack {stack!r} in {self.stacks_directory}; stacks there are: {known}")
        return self.stacks_directory / f"Pulumi.{stack}.yaml"


def _refuse_other_runtimes(path: Path, runtime: object) -> None:
    named = runtime.get("name") if isinstance(runtime, dict) else runtime
    if named != _RUNTIME:
        raise CannotRun(
            f"{path} has the runtime {named or 'unset'}, and this runs programs in {_RUNTIME} only; "
            "judge others with pulumi preview --policy-pack"
        )


def _program(directory: Path, main: object) -> Path:
    """Return the directory of the program, as the engine finds it."""
    named = directory / main if isinstance(main, str) else directory
    program = named.parent if named.name == _PROGRAM_FILE else named
    if not (program / _PROGRAM_FILE).is_file():
        raise CannotRun(f"no {_PROGRAM_FILE} in {program}; it is the program that {directory / _PROJECT_FILE} names")
    return program
