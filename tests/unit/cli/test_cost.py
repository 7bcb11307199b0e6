"""``eks-gpu cost``: tables for people, one document for machines, a sentence for whatever keeps it from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eks_gpu.cli.app import app
from eks_gpu.facts import prices

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s

limit = {"dev": "4", "prod": "8"}.get(pulumi.get_stack(), "4")


def pool(name, types, capacity, limit):
    k8s.apiextensions.CustomResource(
        name,
        api_version="karpenter.sh/v1",
        kind="NodePool",
        metadata={"name": name},
        spec={
            "limits": {"nvidia.com/gpu": limit} if limit else {},
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": capacity},
                ],
            }},
        },
    )


pool("g5", ["g5.xlarge"], ["spot", "on-demand"], limit)
if pulumi.get_stack() == "prod":
    pool("p4d", ["p4d.24xlarge"], ["reserved"], "8")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: foreign\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
    return tmp_path


def cost(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["cost", *map(str, args)])


def budget(folder: Path, usd: object = 4000) -> tuple[str, str]:
    """Return the options with which a run has a budget."""
    file = folder / "pack.json"
    file.write_text(json.dumps({"eks-gpu": {"monthlyBudgetUsd": usd}}))
    return "--policy-pack-config", str(file)


def document(*args: str | Path) -> dict[str, Any]:
    result = cost(*args, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def sentence(result: Result) -> str:
    """Return the one sentence of a command that could not run."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def words(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_m05_people_see_pools_sums_the_budget_and_what_the_figures_rest_on(program: Path) -> None:
    said = words(cost("dev", "--program", program, *budget(program)))
    assert "4.02 / 2.04" in said
    assert "4 GPUs x $1.006/h" in said
    assert "hour 0.00 / 0.00 0.00 / 0.00 4.02 / 2.04" in said
    assert "month 0 / 0 0 / 0 2,938 / 1,486" in said
    assert "budget $4,000 a month; the ceiling leaves $1,062 of it (27%)" in said
    assert f"on demand {prices.ON_DEMAND_AS_OF}, list prices of us-east-1; spot {prices.SPOT_AS_OF}" in said
    assert "expected: desired sizes" in said


def test_a_ceiling_above_the_budget_says_by_how_much(program: Path) -> None:
    said = words(cost("dev", "--program", program, *budget(program, 1000)))
    assert "budget $1,000 a month; the ceiling is $1,938 above it" in said


def test_without_a_budget_it_says_where_to_set_one(program: Path) -> None:
    said = words(cost("prod", "--program", program))
    assert "prod has no budget: set budget.monthly_usd in the stack file" in said
    assert "reserved capacity is counted at its list price" in said


def test_every_stack_is_priced_when_none_is_named(program: Path) -> None:
    assert set(document("--program", program)["stacks"]) == {"dev", "prod"}


def test_machines_get_one_document_of_stable_keys(program: Path) -> None:
    found = document("dev", "--program", program, *budget(program))
    assert set(found) == {"currency", "hours_per_month", "prices", "assumptions", "stacks"}
    stack = found["stacks"]["dev"]
    assert set(stack) == {
        "pools",
        "total",
        "monthly_budget",
        "left_of_budget",
        "unplaced_workloads",
        "uncounted_workloads",
        "unclear_pools",
    }
    assert stack["left_of_budget"] == pytest.approx(4000 - 4 * 1.006 * 730)
    assert stack["total"]["ceiling"]["per_day"]["on_demand"] == pytest.approx(4 * 1.006 * 24, abs=1e-3)
    (pool,) = stack["pools"]
    assert pool["ceiling"] == {
        "per_hour": {"on_demand": 4.024, "spot": round(4 * prices.SPOT["g5.xlarge"], 4)},
        "because": "4 GPUs x $1.006/h",
    }
    assert pool["daemon_sets"]["per_node_and_day"] == 0


def test_a_stack_is_compared_with_another_with_signs(program: Path) -> None:
    said = words(cost("prod", "--program", program, "--against", "dev"))
    assert "prod against dev: US dollars an hour more (+) or less (-), on demand" in said
    assert "g5 changed +0.00 +0.00 +4.02" in said
    assert "p4d added +0.00 +0.00 +21.96" in said
    assert "together +0.00 (+0 a month) +0.00 (+0 a month) +25.98 (+18,967 a month)" in said
    assert "p4d removed +0.00 +0.00 -21.96" in words(cost("dev", "--program", program, "--against", "prod"))


def test_a_comparison_is_in_the_document(program: Path) -> None:
    found = document("prod", "--program", program, "--against", "dev")["against"]
    assert found["stack"] == "dev"
    changes = {item["name"]: (item["change"], item["more_per_hour"]["ceiling"]) for item in found["pools"]["prod"]}
    assert changes == {"g5": ("changed", 4.024), "p4d": ("added", 21.9576)}


def test_a_stack_against_itself_differs_in_nothing(program: Path) -> None:
    assert document("dev", "--program", program, "--against", "dev")["against"]["pools"] == {"dev": []}
    assert "1 pools are the same in both" in words(cost("dev", "--program", program, "--against", "dev"))


def test_a_comparison_needs_a_stack_to_compare(program: Path) -> None:
    assert "name the stack: eks-gpu cost STACK --against OTHER" in sentence(
        cost("--program", program, "--against", "dev")
    )
    assert "no stack 'qa'" in sentence(cost("dev", "--program", program, "--against", "qa"))


def test_measured_spot_prices_take_the_place_of_the_listed_ones(program: Path, tmp_path: Path) -> None:
    entry = {"InstanceType": "g5.xlarge", "AvailabilityZone": "a", "Timestamp": "2026-11-20T08:00:00Z"}
    file = tmp_path / "spot.json"
    file.write_text(json.dumps({"SpotPriceHistory": [{**entry, "SpotPrice": "0.25"}]}))
    found = document("dev", "--program", program, "--spot-prices", file)
    assert found["prices"]["spot"] == {"as_of": "2026-11-20", "source": "measured"}
    assert found["stacks"]["dev"]["total"]["ceiling"]["per_hour"]["spot"] == 1.0
    assert "spot 2026-11-20, measured" in words(cost("dev", "--program", program, "--spot-prices", file))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "spot.json cannot be read: No such file or directory"),
        ("{", "spot.json is no JSON"),
        ("[" * 100_000, "spot.json is no JSON that can be read: it is nested too deeply"),
        ("{}", "spot.json has no list SpotPriceHistory; write it with: aws ec2 describe-spot-price-history"),
    ],
)
def test_a_file_of_prices_that_is_none_is_one_sentence(
    program: Path, tmp_path: Path, content: str | None, says: str
) -> None:
    file = tmp_path / "spot.json"
    if content is not None:
        file.write_text(content)
    assert says in sentence(cost("dev", "--program", program, "--spot-prices", file))


def test_a_type_without_a_measured_price_is_named(program: Path, tmp_path: Path) -> None:
    entry = {"InstanceType": "g6.xlarge", "AvailabilityZone": "a", "Timestamp": "2026-11-20T08:00:00Z"}
    file = tmp_path / "spot.json"
    file.write_text(json.dumps({"SpotPriceHistory": [{**entry, "SpotPrice": "0.25"}]}))
    said = words(cost("prod", "--program", program, "--spot-prices", file))
    assert "no price on spot: g5.xlarge (g5)" in said
    assert "p4d.24xlarge (p4d)" not in said
    pools = document("prod", "--program", program, "--spot-prices", file)["stacks"]["prod"]["pools"]
    assert {pool["name"]: pool["without_spot_price"] for pool in pools} == {"g5": ["g5.xlarge"], "p4d": []}


def test_a_pool_without_limit_has_no_ceiling_and_the_budget_no_answer(program: Path) -> None:
    (program / "__main__.py").write_text(PROGRAM.replace('"on-demand"], limit)', '"on-demand"], "")'))
    said = words(cost("dev", "--program", program, *budget(program)))
    assert "no ceiling: g5 has no limit on its GPUs" in said
    assert "at least 0.00 / 0.00" in said
    assert "what the ceiling leaves of it is not known" in said
    stack = document("dev", "--program", program, *budget(program))["stacks"]["dev"]
    assert stack["left_of_budget"] is None
    assert stack["total"]["ceiling"]["without"] == ["g5 has no limit on its GPUs"]


def test_a_stack_without_gpu_pools_costs_nothing(program: Path) -> None:
    (program / "__main__.py").write_text("import pulumi_kubernetes as k8s\nk8s.core.v1.Namespace('n')\n")
    assert "dev: no GPU pools, so that GPUs cost nothing" in words(cost("dev", "--program", program))


def test_a_budget_that_is_none_is_one_sentence(program: Path) -> None:
    said = sentence(cost("dev", "--program", program, *budget(program, "lots")))
    assert "monthlyBudgetUsd is 'lots'; it must be a number of US dollars above 0" in said


def test_the_help_says_what_the_figures_are() -> None:
    said = words(cost("--help"))
    for part in ("minimum", "expected", "ceiling", "not a bill", "--against", "--spot-prices", "--json"):
        assert part in said
