"""``eks-gpu check``: the verdict, and a sentence instead of a traceback for whatever keeps it from one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eks_gpu.cli.app import app

GPU_POD_THAT_ASKS_TWICE = """
import pulumi_kubernetes as k8s
limits = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "2"}}
k8s.core.v1.Pod("odd", spec={"containers": [{"name": "c", "image": "x/y:1", "resources": limits}]})
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: foreign\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(GPU_POD_THAT_ASKS_TWICE)
    return tmp_path


def check(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, args)])


def sentence(result: Result) -> str:
    """Return the one sentence of a command that could not run."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_work003_a_broken_mandatory_rule_is_a_finding_with_its_remedy(program: Path) -> None:
    result = check("--program", program)
    assert result.exit_code == 1
    assert "WORK003" in result.stdout
    assert "write nvidia.com/gpu once, under limits" in " ".join(result.stdout.split())
    assert "dev refused: " in result.stdout


def test_json_is_one_document_by_stack(program: Path) -> None:
    result = check("--program", program, "--json")
    report = json.loads(result.stdout)["dev"]
    assert result.exit_code == 1
    assert report["refused"] is True
    assert [finding["resource"] for finding in report["findings"] if finding["rule"] == "WORK003"] == ["odd"]


def test_a_sound_program_passes(program: Path) -> None:
    (program / "__main__.py").write_text("import pulumi_kubernetes as k8s\nk8s.core.v1.Namespace('n')\n")
    result = check("--program", program)
    assert result.exit_code == 0
    assert "dev passes: " in result.stdout


def test_every_stack_is_checked_when_none_is_named(program: Path) -> None:
    for stack in ("one", "two"):
        (program / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    assert set(json.loads(check("--program", program, "--json").stdout)) == {"one", "two"}


def test_unknown_stack_names_those_there_are(program: Path) -> None:
    (program / "Pulumi.one.yaml").write_text("config: {}\n")
    assert "no stack 'tow'" in sentence(check("tow", "--program", program))


def test_a_directory_without_a_project_says_so(tmp_path: Path) -> None:
    assert "no Pulumi.yaml in" in sentence(check("--program", tmp_path))


def test_a_program_that_fails_says_where(program: Path) -> None:
    (program / "__main__.py").write_text("import pulumi\n\nraise KeyError('zone')\n")
    assert "failed in __main__.py, line 3: KeyError: 'zone'" in sentence(check("--program", program))


@pytest.mark.parametrize("failure", ["SystemExit(3)", "asyncio.CancelledError('gone')", "BaseException('odd')"])
def test_whatever_a_program_raises_is_a_sentence(program: Path, failure: str) -> None:
    (program / "__main__.py").write_text(f"import asyncio\nraise {failure}\n")
    assert "the program failed in __main__.py, line 2: " in sentence(check("--program", program))


def test_a_program_in_another_language_is_left_to_the_engine(program: Path) -> None:
    for runtime in ("nodejs", "{name: nodejs}"):
        (program / "Pulumi.yaml").write_text(f"name: foreign\nruntime: {runtime}\n")
        said = sentence(check("--program", program))
        assert "has the runtime nodejs, and this runs programs in python only" in said
        assert said.endswith("judge others with pulumi preview --policy-pack")


@pytest.mark.parametrize("main", ["infra", "infra/", "./infra/__main__.py"])
def test_the_program_may_be_elsewhere_in_the_project(program: Path, main: str) -> None:
    (program / "infra").mkdir()
    (program / "__main__.py").rename(program / "infra" / "__main__.py")
    (program / "Pulumi.yaml").write_text(f"name: foreign\nruntime: python\nmain: {main}\n")
    assert "WORK003" in check("--program", program).stdout


def test_a_project_without_a_program_says_where_it_should_be(program: Path) -> None:
    (program / "__main__.py").unlink()
    assert f"no __main__.py in {program}" in sentence(check("--program", program))


def test_a_program_that_is_no_python_says_where(program: Path) -> None:
    (program / "__main__.py").write_text("def (")
    assert "the program is no Python: invalid syntax (__main__.py, line 1)" in sentence(check("--program", program))


def test_the_traceback_is_there_on_request(program: Path) -> None:
    (program / "__main__.py").write_text("raise KeyError('zone')\n")
    result = CliRunner().invoke(app, ["--traceback", "check", "--program", str(program)])
    assert result.exit_code == 2
    assert "KeyError: 'zone'" in result.output
    assert "Traceback" in result.output


def test_a_malformed_waiver_stops_the_check(program: Path) -> None:
    waiver = "{rule: work, resource: odd, owner: me, reason: because it is old}"
    (program / "Pulumi.dev.yaml").write_text(f"config:\n  eks-gpu:platform:\n    waivers: [{waiver}]\n")
    result = check("dev", "--program", program)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert 'waivers[0].rule (line 3): is "work"' in result.stderr
    assert "waivers[0].until (line 3): is missing" in result.stderr


def test_an_unknown_environment_names_those_there_are(program: Path) -> None:
    said = sentence(check("--program", program, "--environment", "live"))
    assert "environment is 'live'; it must be one of dev, staging, prod" in said


BARE_POOL = """
import pulumi_kubernetes as k8s
k8s.apiextensions.CustomResource("g5", api_version="karpenter.sh/v1", kind="NodePool", metadata={"name": "g5"}, spec={
    "limits": {"nvidia.com/gpu": "4"},
    "template": {"spec": {"requirements": [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.xlarge"]},
    ]}},
})
"""


def pack_config(folder: Path, content: object) -> Path:
    path = folder / "levels.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_packs_configuration_file_is_that_of_the_engine(program: Path) -> None:
    (program / "__main__.py").write_text(BARE_POOL)
    waiver = {"rule": "NODE004", "resource": "g5", "owner": "ml", "reason": "single tenant", "until": "2999-12-31"}
    options = {"environment": "prod", "monthlyBudgetUsd": 1, "monitoringStack": "observability"}
    content = {"eks-gpu": {**options, "waivers": [waiver]}, "COST002": "advisory"}
    result = check("--program", program, "--policy-pack-config", pack_config(program, content), "--json")
    report = json.loads(result.stdout)["dev"]
    assert result.exit_code == 0, result.output
    assert [(item["rule"], item["level"]) for item in report["findings"]] == [("COST002", "advisory")]
    assert [item["finding"]["rule"] for item in report["waived"]] == ["NODE004"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "levels.json is no JSON"),
        ("[" * 100_000, "levels.json is no JSON that can be read: it is nested too deeply"),
        ('{"eks-gpu": {"monthlyBudgetUsd": Infinity}}', "monthlyBudgetUsd is inf; it must be a number of US dollars"),
        ("[]", "the configuration of the pack is no mapping"),
        ({"NODE099": "advisory"}, "NODE099 is no rule of this pack (did you mean NODE009?)"),
        ({"NODE004": "warn"}, "the level of NODE004 is 'warn'; it must be one of mandatory, advisory, disabled"),
        ({"eks-gpu": {"budget": 3}}, "budget is no option of the policy eks-gpu"),
        ({"eks-gpu": {"waivers": [{"rule": "NODE004"}]}}, "waivers[0].until is missing"),
    ],
)
def test_mistakes_in_the_packs_configuration_are_one_sentence(program: Path, content: object, says: str) -> None:
    assert says in sentence(check("--program", program, "--policy-pack-config", pack_config(program, content)))


def test_a_configuration_file_that_is_not_there_is_named(program: Path) -> None:
    said = sentence(check("--program", program, "--policy-pack-config", program / "no.json"))
    assert said.endswith("no.json cannot be read: No such file or directory")


def test_five_mistakes_in_a_stack_file_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: eks-gpu\nruntime: python\n")
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.dev.yaml").write_text(
        """config:
  eks-gpu:platform:
    environment: live
    owner: ml-platform
    network: {cidr: 10.0.0.0/8, zones: [us-east-1a, us-east-1b]}
    cluster: {version: "1.35", endpoint_access: {public_cidrs: [0.0.0.0/0]}}
    system_nodes: {instance_types: [m7i.xlarge], size: {min: 2, max: 4}}
    node_pools:
      g5: {instance_types: [g5.xlarg], capacity: [sport], max_gpus: 4}
    gpu_software: {kind: device_plugin}
"""
    )
    result = check("dev", "--program", tmp_path)
    assert result.exit_code == 2
    for path in (
        "environment",
        "network.cidr",
        "cluster.endpoint_access.public_cidrs",
        "node_pools.g5.instance_types",
        "node_pools.g5.capacity[0]",
    ):
        assert path in result.stderr
    assert "Traceback" not in result.output
    assert "spot" in result.stderr


def test_help_teaches_exit_codes_and_what_runs() -> None:
    text = " ".join(CliRunner().invoke(app, ["check", "--help"]).output.split())
    assert "No engine, no cloud and no credentials" in text
    assert "could not run" in text
