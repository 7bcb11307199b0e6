"""``eks-gpu policies export``: a folder that serves the rules of the installed distribution."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2_grpc
from typer.testing import CliRunner, Result

from eks_gpu.cli.app import app
from eks_gpu_policies.export import pack_files
from eks_gpu_policies.rules import RULES

OWN = Path(__file__).parents[3] / "policies"


def export(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["policies", "export", *map(str, args)])


def test_the_folder_names_the_distribution_at_its_version(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "pack"
    result = export(folder)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == ["PulumiPolicy.yaml", "__main__.py", "requirements.txt"]
    own = version("pulumi-eks-gpu")
    assert (folder / "requirements.txt").read_text() == f"pulumi-eks-gpu[policies]=={own}\n"
    assert yaml.safe_load((folder / "PulumiPolicy.yaml").read_text())["version"] == own


def test_the_folder_is_this_repositorys_pack_but_for_where_its_packages_come_from() -> None:
    files = pack_files()
    exported, own = (
        yaml.safe_load(text) for text in (files["PulumiPolicy.yaml"], (OWN / "PulumiPolicy.yaml").read_text())
    )
    assert exported.pop("runtime") == {"name": "python", "options": {"toolchain": "pip", "virtualenv": "venv"}}
    assert own.pop("runtime")["name"] == "python"
    assert exported == own
    assert ast.dump(ast.parse(files["__main__.py"])) == ast.dump(ast.parse((OWN / "__main__.py").read_text()))


def test_what_is_there_is_kept_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("mine\n")
    result = export(tmp_path)
    assert result.exit_code == 2
    assert result.stderr == (
        f"eks-gpu: __main__.py in {tmp_path} would be written over; choose another folder or --force\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["__main__.py"]
    assert (tmp_path / "__main__.py").read_text() == "mine\n"
    assert export(tmp_path, "--force").exit_code == 0
    assert (tmp_path / "__main__.py").read_text() == pack_files()["__main__.py"]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = export(tmp_path / "file" / "pack")
    assert result.exit_code == 2
    assert "cannot be written: Not a directory" in result.stderr


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    assert export(tmp_path / "pack").exit_code == 0
    return tmp_path / "pack"


def test_the_folder_serves_every_rule(pack: Path) -> None:
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(pack)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=pack) as process:
        try:
            assert process.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                stub = analyzer_pb2_grpc.AnalyzerStub(channel)
                info = stub.GetAnalyzerInfo(empty_pb2.Empty(), wait_for_ready=True, timeout=60)
        finally:
            process.terminate()
            process.communicate()
    assert [policy.name for policy in info.policies] == ["eks-gpu", *(rule.id for rule in RULES)]
