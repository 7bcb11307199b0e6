"""Where a Pulumi project is and which stacks it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eks_gpu.cli.exit_codes import CannotRun

_PROJECT_FILE = "Pulumi.yaml"


@dataclass(frozen=True)
class Project:
    """A directory with a ``Pulumi.yaml``."""

    directory: Path
    name: str
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
        where = content.get("stackConfigDir")
        return cls(directory, name, directory / where if isinstance(where, str) else directory)

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
