from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import aws, stacks
from sandbox.checkout import DIRECTORY_VARIABLE, Checkout
from sandbox.commands import project


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    """Give a test a sandbox of its own, in which nothing runs when the test is over."""
    own = Checkout(tmp_path / "sandbox")
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(own.directory))
    own.prepare()
    yield own
    aws.stop(own)


@pytest.fixture
def in_place_of_ours(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put another program, with a pack and a local stack, in the place of this checkout's own; return its folder."""

    def install(name: str, *, program: str, pack: str, stack_file: str) -> Path:
        folder = tmp_path / "program"
        (folder / "policies").mkdir(parents=True)
        (folder / "stacks").mkdir()
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        described = {"name": name, "runtime": runtime, "stackConfigDir": "stacks"}
        (folder / "Pulumi.yaml").write_text(json.dumps(described))
        (folder / "__main__.py").write_text(program)
        (folder / "stacks" / "Pulumi.local.yaml").write_text(stack_file)
        (folder / "policies" / "PulumiPolicy.yaml").write_text(json.dumps({"runtime": runtime, "version": "1.0.0"}))
        (folder / "policies" / "__main__.py").write_text(pack)
        monkeypatch.setattr(project, "ROOT", folder)
        # What it finds is its own tests' matter, and each takes a second and a half.
        monkeypatch.setattr(project, "check_command", lambda _program, _stack: ["true"])
        assert stacks.resource_counts(checkout) == {}
        return folder

    return install


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test an empty cache of built tools."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "eks-gpu-sandbox"


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a Go on PATH that does what a test needs; it writes its command lines to the file that is returned."""
    folder = tmp_path / "go" / "bin"
    calls = tmp_path / "go" / "calls"

    def install(*, version: str = "go1.99.0", build: str = 'printf "#!/bin/sh\\n" > "$out"') -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        module = tmp_path / "go" / "module"
        (module / "cmd").mkdir(parents=True, exist_ok=True)
        (module / "cmd" / "helper").write_text("#!/bin/sh\n")
        facts = f'{{"GOVERSION":"{version}","GOMODCACHE":"{tmp_path}/mod","GOCACHE":"{tmp_path}/obj"}}'
        script = folder / "go"
        script.write_text(
            "#!/bin/sh\n"
            f'echo "$@" >> {calls}\n'
            f"if [ \"$1\" = env ]; then echo '{facts}'; exit 0; fi\n"
            f'if [ "$1" = mod ]; then echo \'{{"Dir":"{module}"}}\'; exit 0; fi\n'
            'while [ "$1" != -o ]; do shift; done; out="$2"\n'
            f"{build}\n"
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return calls

    return install
