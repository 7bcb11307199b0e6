from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import programs
from sandbox.errors import SandboxError

MakePython = Callable[[Path, dict[str, str]], Path]


@pytest.fixture
def make_python() -> MakePython:
    """Write an interpreter that answers with given SDK versions."""

    def make(path: Path, versions: dict[str, str]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{json.dumps({'versions': versions, 'pip': False})}'\n")
        path.chmod(0o755)
        return path

    return make


def write_project(folder: Path, runtime: object, **more: object) -> programs.Program:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_text(json.dumps({"name": "theirs", "runtime": runtime, **more}))
    found = programs.find(folder)
    assert found is not None
    return found


def test_a_project_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    write_project(tmp_path, "python")
    (tmp_path / "deep" / "down").mkdir(parents=True)

    found = programs.find(tmp_path / "deep" / "down")

    assert found is not None
    assert (found.root, found.name, found.runtime) == (tmp_path, "theirs", "python")


@pytest.mark.parametrize("text", ["name: [unclosed", "just text", "name: x", "runtime: python", ""])
def test_a_broken_project_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "Pulumi.yaml").write_text(text)

    with pytest.raises(SandboxError) as caught:
        programs.find(tmp_path)

    assert str(tmp_path / "Pulumi.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_interpreter_of_a_named_virtual_environment_is_used(tmp_path: Path, make_python: MakePython) -> None:
    program = write_project(tmp_path, {"name": "python", "options": {"virtualenv": "venv"}})
    python = make_python(tmp_path / "venv" / "bin" / "python", {"aws": "6.0.0"})

    assert programs.interpreter(program, "/nowhere") == str(python)
    assert programs.packages(str(python)) == programs.Packages({"aws": "6.0.0"}, pip=False)


@pytest.mark.parametrize("marker", ["uv.lock", "pyproject.toml"])
def test_with_uv_the_environment_lies_beside_the_nearest_lock_or_project(
    tmp_path: Path, make_python: MakePython, marker: str
) -> None:
    (tmp_path / marker).write_text("")
    program = write_project(tmp_path / "infra", {"name": "python", "options": {"toolchain": "uv"}})
    python = make_python(tmp_path / ".venv" / "bin" / "python", {})

    assert programs.interpreter(program, "/nowhere") == str(python)


def test_with_uv_and_no_environment_yet_nothing_is_known(tmp_path: Path) -> None:
    program = write_project(tmp_path, {"name": "python", "options": {"toolchain": "uv"}})

    assert programs.interpreter(program, "/usr/bin") is None


def test_without_an_environment_it_is_the_first_python_on_path(tmp_path: Path, make_python: MakePython) -> None:
    program = write_project(tmp_path, "python")
    python = make_python(tmp_path / "bin" / "python3", {})

    assert programs.interpreter(program, str(tmp_path / "bin")) == str(python)


def test_poetry_is_asked_for_its_environment(tmp_path: Path) -> None:
    program = write_project(tmp_path, {"name": "python", "options": {"toolchain": "poetry"}})
    poetry = tmp_path / "bin" / "poetry"
    poetry.parent.mkdir()
    poetry.write_text("#!/bin/sh\necho /their/python\n")
    poetry.chmod(0o755)

    assert programs.interpreter(program, f"{tmp_path}/bin") == "/their/python"
    assert programs.interpreter(program, "/nowhere") is None


def test_the_versions_of_this_python_are_the_same_asked_from_inside_and_from_outside() -> None:
    own = programs.own_versions()

    assert set(own) == set(programs.PROVIDERS)
    assert programs.packages(sys.executable) == programs.Packages(own, pip=True)


def test_of_an_interpreter_that_does_not_run_nothing_is_known(tmp_path: Path) -> None:
    assert programs.packages(str(tmp_path / "missing")) == programs.Packages()


def test_the_stacks_are_those_with_a_file_in_the_configured_folder(tmp_path: Path) -> None:
    program = write_project(tmp_path, "python", stackConfigDir="stacks")
    (tmp_path / "stacks").mkdir()
    for name in ("Pulumi.prod.yaml", "Pulumi.dev.yaml", "Pulumi.odd.name.yaml", "other.yaml"):
        (tmp_path / "stacks" / name).write_text("")

    assert program.stacks == ("dev", "odd.name", "prod")
    assert program.stack_file("dev") == tmp_path / "stacks" / "Pulumi.dev.yaml"


@pytest.mark.parametrize("stack", ["prd", "", "../stacks/Pulumi.dev", "dev/../dev"])
def test_an_unknown_stack_is_one_sentence_that_names_those_there_are(tmp_path: Path, stack: str) -> None:
    program = write_project(tmp_path, "python")
    for name in ("dev", "prod"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("")

    with pytest.raises(SandboxError, match=r"unknown stack .*; the stacks of theirs are dev, prod") as caught:
        program.stack_file(stack)

    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        (
            "nodejs",
            r"runtime 'nodejs' needs pulumi-language-nodejs, and the sandbox brings Pulumi's Python host only; put",
        ),
        ({"name": "python", "options": {"toolchain": "uv"}}, r"toolchain 'uv': uv is not on PATH, and Pulumi's Python"),
        ({"name": "python", "options": {"toolchain": "poetry"}}, r"toolchain 'poetry': poetry is not on PATH, and"),
    ],
)
def test_what_a_program_runs_with_and_is_not_there_is_one_sentence(tmp_path: Path, runtime: object, said: str) -> None:
    program = write_project(tmp_path / "theirs", runtime)

    with pytest.raises(SandboxError, match=f"Pulumi.yaml: {said}"):
        programs.require_host(program, str(tmp_path))


@pytest.mark.parametrize(
    ("runtime", "needed"),
    [
        ("nodejs", "pulumi-language-nodejs"),
        ({"name": "python", "options": {"toolchain": "uv"}}, "uv"),
        ("python", ""),
        ({"name": "python", "options": {"virtualenv": "venv"}}, ""),
    ],
)
def test_a_program_whose_host_is_there_is_not_refused(tmp_path: Path, runtime: object, needed: str) -> None:
    program = write_project(tmp_path / "theirs", runtime)
    if needed:
        (tmp_path / needed).write_text("#!/bin/sh\n")
        (tmp_path / needed).chmod(0o755)

    programs.require_host(program, str(tmp_path))

    assert (shutil.which(needed, path=str(tmp_path)) is not None) == bool(needed)
