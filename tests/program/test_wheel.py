"""The wheel, in an environment that has nothing else of this repository, serves a program of somebody else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.engine import Bench

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own-cluster"


def uv(*args: str | Path, environment: Path | None = None) -> None:
    """Run uv without the network: everything it needs is in its cache since this checkout was synced."""
    variables = {**os.environ, "UV_OFFLINE": "1"}
    variables.pop("VIRTUAL_ENV", None)
    if environment is not None:
        variables["UV_PROJECT_ENVIRONMENT"] = str(environment)
    done = subprocess.run(["uv", *map(str, args)], cwd=ROOT, env=variables, capture_output=True, text=True, check=False)  # noqa: S607 - uv is a prerequisite
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and install it into an environment with its locked dependencies, and nothing for development."""
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--out-dir", folder)
    (wheel,) = folder.glob("*.whl")
    place = folder / "venv"
    # As `pulumi install` makes it: with pip, by which the Python host lists the packages that a program has.
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    sync = ("sync", "--frozen", "--inexact", "--no-default-groups", "--extra", "cli", "--no-install-project")
    uv(*sync, environment=place)
    uv("pip", "install", "--python", place / "bin" / "python", "--no-deps", wheel)
    return place


@pytest.fixture
def program(tmp_path: Path, environment: Path) -> Path:
    """Give a test somebody else's program: its own VPC, its own cluster, everything an Output."""
    folder = tmp_path / "foreign"
    shutil.copytree(EXAMPLE, folder)
    runtime = json.dumps({"name": "python", "options": {"virtualenv": str(environment)}})
    (folder / "Pulumi.yaml").write_text(f"name: foreign\nruntime: {runtime}\n")
    return folder


def test_the_library_is_installed_and_not_borrowed(environment: Path) -> None:
    code = "import eks_gpu, eks_gpu_policies; print(eks_gpu.__file__); print(eks_gpu_policies.__file__)"
    done = subprocess.run(
        [environment / "bin" / "python", "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert all(line.startswith(str(environment)) for line in done.stdout.splitlines())


def test_check_runs_from_the_wheel(environment: Path, program: Path) -> None:
    done = subprocess.run(
        [environment / "bin" / "eks-gpu", "check", "--json"], cwd=program, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)["dev"]
    assert report["findings"] == []
    assert report["resources"] > 30


def test_a_pack_is_exported_from_the_wheel_and_asks_for_that_wheel(environment: Path, tmp_path: Path) -> None:
    command = [str(environment / "bin" / "eks-gpu"), "policies", "export", str(tmp_path / "pack")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = environment.parent.glob("*.whl")
    version = wheel.name.split("-")[1]
    assert (tmp_path / "pack" / "requirements.txt").read_text() == f"pulumi-eks-gpu[policies]=={version}\n"


def test_manifests_are_linted_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    done = subprocess.run(
        [environment / "bin" / "eks-gpu", "lint", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on 1 resource: " in done.stdout


@pytest.mark.engine
def test_a_foreign_program_previews_with_the_wheel(engine: Bench, program: Path) -> None:
    result = engine.preview(program, config={"aws:region": "us-east-1"}, policy_pack=ROOT / "policies")

    assert result.returncode == 0, result.output
    assert result.operations("kubernetes:karpenter.sh/v1:NodePool") == ["create"]
    assert result.step("inference-node-group").operation == "create"
    assert [violation for violation in result.violations if violation.level == "mandatory"] == []


def test_without_its_extra_the_command_line_says_what_to_install(environment: Path, tmp_path: Path) -> None:
    place = tmp_path / "bare"
    uv("sync", "--frozen", "--no-default-groups", "--no-install-project", environment=place)
    (wheel,) = environment.parent.glob("*.whl")
    uv("pip", "install", "--python", place / "bin" / "python", "--no-deps", wheel)
    done = subprocess.run(
        [place / "bin" / "eks-gpu", "check"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "eks-gpu: the command line is an extra; pip install 'pulumi-eks-gpu[cli,policies]'\n"
