"""What can be built: each tool is pinned by the ``go.mod`` and ``go.sum`` in the folder of its name.

Versions and packages are read from those files and typed nowhere else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

MODULES = Path(__file__).resolve().parent


@dataclass(frozen=True)
class GoBinary:
    """One executable, built from the ``tool`` line of ``<name>/go.mod``."""

    name: str
    seconds: int
    """How long a first build took on two cores with empty caches (Go 1.26, measured 2026-11-21)."""
    version_symbol: str = ""
    """The Go variable that holds the version the program says it has, where the linker must set it."""
    modules: Path = MODULES

    @property
    def folder(self) -> Path:
        """The folder with the module files."""
        return self.modules / self.name

    @cached_property
    def module_file(self) -> str:
        """The text of ``go.mod``."""
        return (self.folder / "go.mod").read_text()

    @cached_property
    def package(self) -> str:
        """The package to build."""
        return _line(r"^tool (\S+)$", self.module_file)

    @cached_property
    def go_version(self) -> tuple[int, int]:
        """The oldest Go that can build it."""
        major, minor = _line(r"^go (\d+\.\d+)", self.module_file).split(".")
        return int(major), int(minor)

    @cached_property
    def version(self) -> str:
        """The version of the module that holds the package, as ``go.mod`` pins it."""
        pinned: dict[str, str] = dict(re.findall(r"^\s+(\S+) (v\S+)", self.module_file, re.MULTILINE))
        module = max((name for name in pinned if f"{self.package}/".startswith(f"{name}/")), key=len)
        return pinned[module]

    @property
    def linker_flags(self) -> str:
        """Strip debug tables (a third of the size), and set the version."""
        return f"-s -w -X {self.version_symbol}={self.version}" if self.version_symbol else "-s -w"


@dataclass(frozen=True)
class ModuleFile:
    """A file that is copied, executable, out of a Go module a binary is built from."""

    name: str
    module: str
    path: str


@dataclass(frozen=True)
class Tool:
    """What lies together in one folder of the cache."""

    name: str
    binaries: tuple[GoBinary, ...]
    files: tuple[ModuleFile, ...] = field(default=())

    @property
    def version(self) -> str:
        """The version of the first binary, after which the tool is named."""
        return self.binaries[0].version

    @cached_property
    def folder_name(self) -> str:
        """``<tool>-<version>-<digest>``; the digest changes with any pinned dependency of any of its binaries."""
        digest = hashlib.sha256()
        for binary in self.binaries:
            for name in ("go.mod", "go.sum"):
                digest.update((binary.folder / name).read_bytes())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:8]}"

    @property
    def contents(self) -> tuple[str, ...]:
        """The names of all files the folder must hold."""
        return (*(binary.name for binary in self.binaries), *(file.name for file in self.files))


PULUMI = Tool(
    "pulumi",
    (
        GoBinary("pulumi", 195, version_symbol="github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"),
        # A language host in the folder of the `pulumi` binary counts as bundled: the engine does not warn about it.
        GoBinary("pulumi-language-python", 45),
    ),
    (
        ModuleFile(
            "pulumi-language-python-exec",
            "github.com/pulumi/pulumi/sdk/v3",
            "python/cmd/pulumi-language-python-exec",
        ),
    ),
)
"""The engine and its Python host."""

PROMTOOL = Tool("promtool", (GoBinary("promtool", 140),))
"""Prometheus' own checker and unit tests of alert rules."""

TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in (PULUMI, PROMTOOL)})


def _line(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError(f"go.mod has no line like {pattern}")
    return found.group(1)
