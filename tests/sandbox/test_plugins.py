from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandbox import plugins, programs
from sandbox.checkout import Checkout


def test_each_stand_in_is_installed_under_the_version_asked_for(checkout: Checkout) -> None:
    plugins.install(checkout, {"aws": "7.1.0", "eks": "4.2.0"})
    plugins.install(checkout, {"aws": "7.2.0"})

    installed = sorted(path.name for path in (checkout.pulumi_home / "plugins").iterdir())
    assert installed == ["resource-aws-v7.1.0", "resource-aws-v7.2.0", "resource-eks-v4.2.0"]
    for folder in (checkout.pulumi_home / "plugins").iterdir():
        name = folder.name.split("-")[1]
        assert [file.name for file in folder.iterdir()] == [f"pulumi-resource-{name}"]
        assert os.access(folder / f"pulumi-resource-{name}", os.X_OK)


def test_a_stand_in_that_is_there_is_not_written_again(checkout: Checkout) -> None:
    plugins.install(checkout, {"aws": "7.1.0"})
    stub = checkout.pulumi_home / "plugins" / "resource-aws-v7.1.0" / "pulumi-resource-aws"
    before = stub.stat().st_mtime_ns

    plugins.install(checkout, {"aws": "7.1.0"})

    assert stub.stat().st_mtime_ns == before


@pytest.mark.parametrize("provider", programs.PROVIDERS)
def test_the_installed_file_starts_the_stand_in_wherever_the_engine_runs_it(
    checkout: Checkout, tmp_path: Path, provider: str
) -> None:
    # A program may have modules of any name; they must not be taken for ours.
    (tmp_path / "sandbox").mkdir(exist_ok=True)
    for name in ("sandbox/__init__.py", "yaml.py", "grpc.py"):
        (tmp_path / name).write_text("raise RuntimeError('a module of the program')\n")
    plugins.install(checkout, {provider: "9.8.7"})
    stub = checkout.pulumi_home / "plugins" / f"resource-{provider}-v9.8.7" / f"pulumi-resource-{provider}"

    with subprocess.Popen(
        [stub, "127.0.0.1:1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = process.stdout.readline().strip()
        process.kill()
        said = process.stderr.read()

    assert port.isdigit(), said
