from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from sandbox import kubernetes, plugins
from sandbox.charts import address
from sandbox.checkout import Checkout
from sandbox.kubernetes import environment
from sandbox.kubernetes.control_plane import ControlPlane
from sandbox.toolchain import builder

TOKEN = "a-random-token"  # noqa: S105 - of no cluster at all


@pytest.fixture
def variables(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Reach a cluster that is said to run."""
    monkeypatch.setattr(builder, "ensure", lambda _tool: tmp_path / "tools")
    monkeypatch.setattr(address, "proxy_url", lambda _checkout: "http://127.0.0.1:4711")
    folder = checkout.directory / "kubernetes"
    folder.mkdir()
    plane = ControlPlane("https://127.0.0.1:1", "Q0E=", TOKEN, folder / "kubeconfig")
    return dict(environment.variables(checkout, plane, "/usr/bin:/bin"))


def aws(variables: dict[str, str], *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    found = {"PATH": f"{variables['PATH']}{os.pathsep}{path}"}
    command = shutil.which("aws", path=found["PATH"])
    assert command is not None
    return subprocess.run([command, *arguments], env=found, capture_output=True, text=True, check=False)


def test_the_command_in_a_kubeconfig_gets_the_token_of_the_sandbox(variables: dict[str, str]) -> None:
    answer = aws(variables, "--region", "us-east-1", "eks", "get-token", "--cluster-name", "local", "--output", "json")
    credential = json.loads(answer.stdout)
    assert credential["kind"] == "ExecCredential"
    assert credential["apiVersion"] == "client.authentication.k8s.io/v1beta1"
    assert credential["status"] == {"token": TOKEN}


def test_every_other_command_goes_to_the_next_aws_on_path(variables: dict[str, str], tmp_path: Path) -> None:
    users = tmp_path / "users-own"
    users.mkdir()
    (users / "aws").write_text('#!/bin/sh\necho "real: $@"\n')
    (users / "aws").chmod(0o755)
    assert aws(variables, "s3", "ls", path=str(users)).stdout == "real: s3 ls\n"


def test_without_another_aws_it_says_what_it_can_do(variables: dict[str, str]) -> None:
    answer = aws(variables, "s3", "ls")
    assert answer.returncode == 127
    assert "answers `aws eks get-token` only" in answer.stderr


def test_only_the_owner_can_read_the_token(checkout: Checkout, variables: dict[str, str]) -> None:
    assert TOKEN not in json.dumps(variables)
    assert stat.S_IMODE((checkout.directory / "bin" / "aws").stat().st_mode) == 0o700


def test_helm_keeps_what_it_fetches_in_the_sandbox(checkout: Checkout, variables: dict[str, str]) -> None:
    for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "KUBECONFIG"):
        assert Path(variables[name]).is_relative_to(checkout.directory), name


def test_the_real_provider_alone_is_sent_to_the_chart_mirror(
    checkout: Checkout, variables: dict[str, str], tmp_path: Path
) -> None:
    assert "HTTPS_PROXY" not in variables
    assert variables[kubernetes.VARIABLE] == str(tmp_path / "tools" / "pulumi-resource-kubernetes")
    (tmp_path / "tools").mkdir()
    real = tmp_path / "tools" / "pulumi-resource-kubernetes"
    real.write_text('#!/bin/sh\necho "$HTTPS_PROXY $SSL_CERT_FILE $@"\n')
    real.chmod(0o755)
    plugins.install(checkout, {"kubernetes": "4.25.0"})
    stub = checkout.pulumi_home / "plugins" / "resource-kubernetes-v4.25.0" / "pulumi-resource-kubernetes"

    answer = subprocess.run([stub, "127.0.0.1:9"], env=variables, capture_output=True, text=True, check=True)

    assert answer.stdout == f"http://127.0.0.1:4711 {address.ca_file(checkout)} 127.0.0.1:9\n"
