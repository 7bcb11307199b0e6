"""Each mistake in a stack file, and the whole message that it gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from eks_gpu.settings import stack_file
from eks_gpu.settings.problems import InvalidSettingsError

PLATFORM_KEYS = (
    "environment, owner, network, cluster, system_nodes, node_groups, node_pools, karpenter, gpu_software, "
    "model_cache, monitoring, workloads, budget, quotas, waivers"
)

Write = Callable[[str], Path]


def _message(write: Write, text: str) -> str:
    with pytest.raises(InvalidSettingsError) as raised:
        stack_file.load(write(text))
    return str(raised.value)


MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake["problem"].partition(":")[0] for mistake in MISTAKES])
def test_a_mistake_gets_its_whole_message(good: str, write: Write, mistake: dict[str, str]) -> None:
    assert mistake["right"] in good
    with pytest.raises(InvalidSettingsError) as raised:
        stack_file.load(write(good.replace(mistake["right"], mistake["wrong"], 1)))
    assert mistake["problem"] in [str(problem) for problem in raised.value.problems]


def test_one_mistake_is_one_line(good: str, write: Write) -> None:
    assert _message(write, good.replace("count: 2", "count: 0")) == (
        "stacks/Pulumi.prod.yaml: node_groups.inference.count (line 18): is 0; must be at least 1"
    )


def test_five_mistakes_are_reported_together_in_the_files_order(good: str, write: Write) -> None:
    text = (
        good.replace("environment: prod", "environment: prd")
        .replace('version: "1.35"', "version: 1.35")
        .replace("count: 2", "count: two")
        .replace("zones: [us-east-1a]\n", "zones: [us-east-1d]\n")
        .replace('until: "2026-12-31"', "until: 2026-12-31")
    )
    assert _message(write, text) == (
        "stacks/Pulumi.prod.yaml has 5 problems:\n"
        '  environment (line 4): is "prd"; allowed are dev, staging, prod; did you mean prod?\n'
        '  cluster.version (line 11): is 1.35, a number; write it in quotes: "1.35"\n'
        '  node_groups.inference.count (line 18): is "two"; give a whole number, without quotes\n'
        '  node_pools.p4d.zones[0] (line 28): is "us-east-1d"; the network has us-east-1a, us-east-1b, us-east-1c; '
        "did you mean us-east-1c?\n"
        "  waivers[0].until (line 42): is the date 2026-12-31 without quotes, which the engine rewrites; "
        'write "2026-12-31"'
    )


NEW = "    network:\n      cidr: 10.40.0.0/16\n      zones: [us-east-1a, us-east-1b, us-east-1c]\n      nat: per-zone\n"
EXISTING = """\
    network:
      existing:
        vpc_id: vpc-0a1b2c3d4e5f67890
        private_subnets: {us-east-1a: subnet-0a1b2c3d4e5f67890, us-east-1b: subnet-1a1b2c3d4e5f67890}
"""


def test_existing_and_new_are_not_mixed(good: str, write: Write) -> None:
    text = good.replace(NEW, EXISTING + "      nat: single\n")
    assert _message(write, text) == "stacks/Pulumi.prod.yaml: network.nat (line 10): is no key here; keys are existing"


def test_a_mistake_in_an_existing_block_says_nothing_of_the_new_kind(good: str, write: Write) -> None:
    text = good.replace(NEW, EXISTING.replace("vpc_id", "vpc_ids"))
    assert _message(write, text) == (
        "stacks/Pulumi.prod.yaml has 2 problems:\n"
        "  network.existing.vpc_id (line 7): is missing: Id of the VPC: vpc- and 8 to 17 hexadecimal digits\n"
        "  network.existing.vpc_ids (line 8): is no key here; did you mean vpc_id?; "
        "keys are vpc_id, private_subnets, isolated"
    )


def test_pool_zones_are_checked_against_the_existing_networks_subnets(good: str, write: Write) -> None:
    text = good.replace(NEW, EXISTING).replace("zones: [us-east-1a]", "zones: [us-east-1c]")
    assert _message(write, text) == (
        'stacks/Pulumi.prod.yaml: node_pools.p4d.zones[0] (line 28): is "us-east-1c"; the network has us-east-1a, '
        "us-east-1b; did you mean us-east-1b?"
    )


def test_an_existing_cluster_comes_with_its_network_and_its_system_nodes(good: str, write: Write) -> None:
    text = good.replace('      version: "1.35"', '      existing: {name: shared, version: "1.35"}')
    assert _message(write, text) == (
        "stacks/Pulumi.prod.yaml has 2 problems:\n"
        "  network (line 6): is a new one, but the cluster exists and cannot move into it; give network: {existing: "
        "{vpc_id: …, private_subnets: …}} with the cluster's own VPC\n"
        "  system_nodes (line 12): belongs to a new cluster, but the cluster exists and has nodes of its own; remove it"
    )


def test_a_platform_that_is_no_block_is_one_sentence(write: Write) -> None:
    assert _message(write, "config:\n  eks-gpu:platform: 3\n") == (
        f"stacks/Pulumi.prod.yaml: is a number; give a block with the keys {PLATFORM_KEYS}"
    )
