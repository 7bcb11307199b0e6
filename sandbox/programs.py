"""Which Python runs a Pulumi program, and which provider versions its SDKs ask the engine for."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import yaml

from sandbox.errors import SandboxError

PROVIDERS = ("aws", "eks", "kubernetes")
"""The resource providers the sandbox has stand-ins for; each SDK's distribution is called ``pulumi-<provider>``."""

_LIST_VERSIONS = """
import importlib.metadata, importlib.util, json
versions = {}
for provider in %r:
    try:
        versions[provider] = importlib.metadata.version("pulumi-" + provider)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps({"versions": versions, "pip": importlib.util.find_spec("pip") is not None}))
"""


@dataclass(frozen=True, slots=True)
class Packages:
    """What matters of the packages of a Python environment."""

    versions: Mapping[str, str] = field(default_factory=dict)
    """The SDK versions, by provider."""
    pip: bool = True
    """Whether it has pip, which Pulumi's Python host lists the packages with (with uv it brings its own)."""


@dataclass(frozen=True, slots=True)
class Program:
    """A Pulumi project on disk."""

    root: Path
    """The folder of ``Pulumi.yaml``."""
    name: str
    runtime: str
    options: Mapping[str, object]
    stack_folder: Path
    """Where its stack files lie (``stackConfigDir``, else the root)."""

    @property
    def stacks(self) -> tuple[str, ...]:
        """The names of the stacks that have a file, sorted."""
        files = (*self.stack_folder.glob("Pulumi.*.yaml"), *self.stack_folder.glob("Pulumi.*.yml"))
        return tuple(sorted(file.name.removeprefix("Pulumi.").rpartition(".")[0] for file in files))

    def stack_file(self, stack: str) -> Path:
        """Return the file of one stack.

        Raises:
            SandboxError: there is no such stack; the message names those there are.

        """
        for suffix in ("yaml", "yml"):
            file = self.stack_folder / f"Pulumi.{stack}.{suffix}"
            # A name with a path in it must not lead to a file elsewhere.
            if stack in self.stacks and file.is_file():
                return file
        known = ", ".join(self.stacks) or f"none: there is no Pulumi.<stack>.yaml in {self.stack_folder}"
        raise SandboxError(f"unknown stack {stack!r}; the stacks of {self.name} are {known}")


def find(start: Path) -> Program | None:
    """Return the Pulumi project that ``start`` lies in, as the engine would find it; None if it lies in none."""
    for folder in (start, *start.parents):
        for name in ("Pulumi.yaml", "Pulumi.yml"):
            if (folder / name).is_file():
                return load(folder / name)
    return None


def load(project_file: Path) -> Program:
    """Read a ``Pulumi.yaml``.

    Raises:
        SandboxError: it is not YAML, or names no project or runtime.

    """
    try:
        document = yaml.safe_load(project_file.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SandboxError(f"{project_file} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict) or not document.get("name") or not document.get("runtime"):
        raise SandboxError(f"{project_file} needs a name and a runtime")
    runtime = document["runtime"]
    described = runtime if isinstance(runtime, dict) else {"name": runtime}
    root = project_file.parent
    return Program(
        root=root,
        name=str(document["name"]),
        runtime=str(described.get("name", "")),
        options=described.get("options") or {},
        stack_folder=root / str(document.get("stackConfigDir") or "."),
    )


def interpreter(program: Program, path: str) -> str | None:
    """Return the Python that the engine's host will run the program with; None if that cannot be known.

    It follows the host: a named virtual environment; with uv the one beside the nearest ``uv.lock`` or
    ``pyproject.toml``; with poetry what poetry says; else the first Python on ``path``.
    """
    toolchain = program.options.get("toolchain", "pip")
    named = program.options.get("virtualenv")
    if named:
        return _existing(program.root / str(named) / "bin" / "python")
    if toolchain == "uv":
        home = _above(program.root, ("uv.lock",)) or _above(program.root, ("pyproject.toml",)) or program.root
        return _existing(home / ".venv" / "bin" / "python")
    if toolchain == "poetry":
        return _poetry(program.root, path)
    return shutil.which("python3", path=path) or shutil.which("python", path=path)


def require_host(program: Program, path: str) -> None:
    """Make sure that the engine will find what it runs the program with.

    Raises:
        SandboxError: the language is one whose host is not there, or the program's package manager is not on ``path``.

    """
    project_file = program.root / "Pulumi.yaml"
    if program.runtime != "python":
        host = f"pulumi-language-{program.runtime}"
        if shutil.which(host, path=path) is None:
            raise SandboxError(
                f"{project_file}: runtime {program.runtime!r} needs {host}, and the sandbox brings Pulumi's Python "
                f"host only; put {host} on PATH"
            )
        return
    manager = str(program.options.get("toolchain", "pip"))
    if manager in {"uv", "poetry"} and shutil.which(manager, path=path) is None:
        raise SandboxError(
            f"{project_file}: toolchain {manager!r}: {manager} is not on PATH, and Pulumi's Python host runs it "
            "before each program; install it and run again"
        )


def own_versions() -> dict[str, str]:
    """Return the SDK versions of the Python that runs the sandbox, by provider."""
    versions = {}
    for provider in PROVIDERS:
        try:
            versions[provider] = metadata.version(f"pulumi-{provider}")
        except metadata.PackageNotFoundError:
            continue
    return versions


def packages(python: str) -> Packages:
    """Ask an interpreter what it has; nothing is known of one that does not run."""
    answer = _ask([python, "-I", "-c", _LIST_VERSIONS % (PROVIDERS,)])
    try:
        said = json.loads(answer)
    except ValueError:
        return Packages()
    return Packages({str(name): str(version) for name, version in said["versions"].items()}, bool(said["pip"]))


def _ask(command: Sequence[str], cwd: Path | None = None) -> str:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=cwd)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""


def _poetry(root: Path, path: str) -> str | None:
    poetry = shutil.which("poetry", path=path)
    said = _ask([poetry, "env", "info", "--executable"], root).strip() if poetry else ""
    return said or None


def _existing(python: Path) -> str | None:
    return str(python) if python.exists() else None


def _above(start: Path, names: Iterable[str]) -> Path | None:
    wanted = tuple(names)
    return next(
        (folder for folder in (start, *start.parents) if any((folder / name).is_file() for name in wanted)), None
    )
