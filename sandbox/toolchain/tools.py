"""What can be built: each tool is pinned by the ``go.mod`` and ``go.sum`` of its binaries, in folders beside this file.

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

from sandbox.toolchain.karpenter_patches import KARPENTER_KWOK
from sandbox.toolchain.patches import PatchedModule

TOOLCHAIN = Path(__file__).resolve().parent

_KUBERNETES_VERSION = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A file of one of the Go modules a binary is built from, and the name it gets where it is put."""

    name: str
    module: str
    path: str


@dataclass(frozen=True)
class GoBinary:
    """One executable, built from a ``tool`` line of ``<folder>/go.mod`` or from our own ``main.go`` beside it."""

    name: str
    seconds: int
    """How long a first build took on two cores, after the ones before it (Go 1.26, measured 2026-11-21)."""
    module: str = ""
    """The folder with the module files, where it is not called like the binary."""
    stamps: Mapping[str, str] = field(default_factory=dict)
    """Go variables the linker sets to say the version, each with its text: ``{version}`` (``1.2.3``), ``{major}``,
    ``{minor}``."""
    release: str = ""
    """The version that counts, where ``go.mod`` can only name a commit."""
    embedded: tuple[ModuleFile, ...] = ()
    """Files that our own ``main.go`` embeds."""
    patched: tuple[PatchedModule, ...] = ()
    """Modules that are built from a changed copy."""
    parent: Path = TOOLCHAIN

    @property
    def folder(self) -> Path:
        """The folder with the module files."""
        return self.parent / (self.module or self.name)

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files in ``folder`` that it is built from."""
        return tuple(self.folder / name for name in ("go.mod", "go.sum")) + tuple(sorted(self.folder.glob("*.go")))

    @cached_property
    def module_file(self) -> str:
        """The text of ``go.mod``."""
        return (self.folder / "go.mod").read_text(encoding="utf-8")

    @cached_property
    def package(self) -> str:
        """The package to build: ours, or that of the only ``tool`` line, or of the one that ends in the name."""
        if (self.folder / "main.go").is_file():
            return "."
        packages = re.findall(r"^(?:tool |\t)([^\s()]+)$", self.module_file, re.MULTILINE)
        named = [package for package in packages if len(packages) == 1 or package.endswith(f"/{self.name}")]
        if len(named) != 1:
            raise ValueError(f"{self.folder / 'go.mod'} has no tool line for {self.name}")
        return str(named[0])

    @cached_property
    def go_version(self) -> tuple[int, ...]:
        """The oldest Go that can build it."""
        found = re.search(r"^go ([\d.]+)$", self.module_file, re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.folder / 'go.mod'} has no go line")
        return tuple(int(part) for part in found.group(1).split("."))

    @cached_property
    def pinned(self) -> Mapping[str, str]:
        """The version of each module it is built from."""
        pattern = r"^(?:require )?\s*(\S+) (v\S+)(?: // indirect)?$"
        return dict(re.findall(pattern, self.module_file, re.MULTILINE))

    @cached_property
    def version(self) -> str:
        """The version of the module that holds the package, as ``go.mod`` pins it."""
        if self.release:
            return self.release
        module = max((name for name in self.pinned if f"{self.package}/".startswith(f"{name}/")), key=len)
        return self.pinned[module]

    @property
    def linker_flags(self) -> str:
        """Strip debug tables (a third of the size), and set the version."""
        version = self.version.removeprefix("v")
        major, minor, *_ = version.split(".")
        said = {"version": version, "major": major, "minor": minor}
        return " ".join(["-s -w", *(f"-X {name}={text.format(**said)}" for name, text in self.stamps.items())])


@dataclass(frozen=True)
class Tool:
    """What lies together in one folder of the cache."""

    name: str
    binaries: tuple[GoBinary, ...]
    files: tuple[ModuleFile, ...] = ()
    """Executable files that are copied out of the modules of the first binary."""
    found_on_path: bool = False
    """Whether one on PATH will do."""

    @property
    def version(self) -> str:
        """The version of the first binary, after which the tool is named."""
        return self.binaries[0].version

    @cached_property
    def folder_name(self) -> str:
        """``<tool>-<version>-<digest>``; the digest changes with whatever any of its binaries is built from."""
        digest = hashlib.sha256()
        for source in dict.fromkeys(source for binary in self.binaries for source in binary.sources):
            digest.update(source.read_bytes())
        for patched in (patched for binary in self.binaries for patched in binary.patched):
            digest.update(repr([(patch.file, patch.old, patch.new) for patch in patched.patches]).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:8]}"

    @property
    def contents(self) -> tuple[str, ...]:
        """The names of all files the folder must hold."""
        return (*(binary.name for binary in self.binaries), *(file.name for file in self.files))


PULUMI = Tool(
    "pulumi",
    (
        GoBinary("pulumi", 195, stamps={"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": "v{version}"}),
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
    found_on_path=True,
)
"""The engine and its Python host."""

PROMTOOL = Tool("promtool", (GoBinary("promtool", 140),))
"""Prometheus' own checker and unit tests of alert rules."""


def _of_kubernetes(name: str, seconds: int) -> GoBinary:
    stamps = {"gitVersion": "v{version}", "gitMajor": "{major}", "gitMinor": "{minor}"}
    symbols = {f"{_KUBERNETES_VERSION}.{variable}": text for variable, text in stamps.items()}
    return GoBinary(name, seconds, module="kubernetes", stamps=symbols)


KUBERNETES = Tool(
    "kubernetes",
    (
        _of_kubernetes("kube-apiserver", 200),
        _of_kubernetes("kube-scheduler", 20),
        _of_kubernetes("kube-controller-manager", 40),
        GoBinary("etcd", 30),
        GoBinary("kwok", 80),
        GoBinary("karpenter-kwok", 115, module="karpenter", patched=(KARPENTER_KWOK,)),
    ),
)
"""The control plane, and what pretends nodes (kwok) and decides which there are (Karpenter)."""

_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"

PULUMI_KUBERNETES = Tool(
    "pulumi-resource-kubernetes",
    (
        GoBinary(
            "pulumi-resource-kubernetes",
            390,
            stamps={f"{_PROVIDER}/pkg/version.Version": "{version}"},
            # The provider's module has no tags of its releases; this is the commit of the release of the Python SDK.
            release="v4.25.0",
            embedded=(
                ModuleFile("schema.json", _PROVIDER, "cmd/pulumi-resource-kubernetes/schema.json"),
                ModuleFile(
                    "terraform-mapping.json", _PROVIDER, "cmd/pulumi-resource-kubernetes/terraform-mapping.json"
                ),
            ),
        ),
    ),
)
"""Pulumi's provider for Kubernetes, with Helm in it."""

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {tool.name: tool for tool in (PULUMI, PROMTOOL, KUBERNETES, PULUMI_KUBERNETES)}
)
"""In the order in which they are built: what a preview needs, what the tests need, what an ``up`` needs."""
