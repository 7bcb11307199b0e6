"""Karpenter, a node pool and a node group through the real engine, in the sandbox."""

from __future__ import annotations

import json

import pytest

from tests.support.engine import Bench, Result

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi
import pulumi_aws as aws
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter import Karpenter, KarpenterArgs
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool

config = pulumi.Config()
opts = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
network = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", opts=opts)
subnets = {
    zone: aws.ec2.Subnet(zone, vpc_id=network.id, cidr_block=block, availability_zone=zone, opts=opts).id
    for zone, block in {"us-east-1a": "10.0.0.0/20", "us-east-1b": "10.0.16.0/20"}.items()
}
role = aws.iam.Role("cluster", assume_role_policy="{}", opts=opts)
control_plane = aws.eks.Cluster(
    "cluster", role_arn=role.arn, version="1.35", vpc_config={"subnet_ids": list(subnets.values())}, opts=opts
)
cluster = ClusterConnection.from_aws(
    "kubernetes", control_plane, version="1.35", vpc_id=network.id, private_subnets=subnets
)
karpenter = Karpenter("karpenter", KarpenterArgs(cluster=cluster), opts).connection
for name, settings in config.require_object("groups").items():
    block = NodeGroup.model_validate(settings)
    GpuNodeGroup(name, GpuNodeGroupArgs(settings=block, cluster=cluster), opts)
for name, settings in config.require_object("pools").items():
    block = NodePool.model_validate(settings)
    GpuNodePool(name, GpuNodePoolArgs(settings=block, cluster=cluster, karpenter=karpenter), opts)
"""

GROUP: dict[str, object] = {"instance_types": ["g5.2xlarge"], "count": 2}
POOL: dict[str, object] = {"instance_types": ["g5.xlarge"], "max_gpus": 8}


def _settings(groups: dict[str, object], pools: dict[str, object]) -> dict[str, object]:
    return {"aws:region": "us-east-1", "nodes:groups": json.dumps(groups), "nodes:pools": json.dumps(pools)}


def _changed(result: Result) -> dict[str, str]:
    assert result.returncode == 0, result.output
    ignored = {"same", "read", "create-replacement", "delete-replaced"}  # beside a replacement, "replace" is enough
    return {step.name: step.operation for step in result.steps if step.operation not in ignored}


def test_pools_come_up_are_renamed_and_go_before_the_controller(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="nodes")
    first = _settings({"inference": GROUP}, {"g5": POOL})

    assert set(_changed(engine.up(program, config=first)).values()) == {"create"}
    assert _changed(engine.up(program, config=first)) == {}

    renamed = _settings({"serving": {**GROUP, "previously": "inference"}}, {"a10g": {**POOL, "previously": ["g5"]}})
    operations = set(_changed(engine.up(program, config=renamed)).values())
    assert operations <= {"update"}

    further = _settings(
        {"serving": {**GROUP, "previously": "inference"}},
        {"a10g": {**POOL, "previously": ["g5"]}, "p4d": {"instance_types": ["p4d.24xlarge"], "max_gpus": 8}},
    )
    assert _changed(engine.preview(program, config=further)) == {
        "p4d": "create",
        "p4d-node-class": "create",
        "p4d-node-pool": "create",
    }

    gone = engine.destroy(program, config=renamed)
    assert gone.returncode == 0, gone.output
    order = [step.name for step in gone.steps if step.operation == "delete"]
    wanted = ["a10g-node-pool", "a10g-node-class", "karpenter-chart", "karpenter-crds"]
    assert [name for name in order if name in wanted] == wanted
    assert order.index("karpenter-chart") < order.index("karpenter-interruptions-queue")
    assert order.index("serving-node-group") < order.index("serving-node-AmazonEKSWorkerNodePolicy")


CREATES = "create"
"""Something comes beside what is there."""

UPDATES = "update"
"""Changed in place: no node goes."""

REPLACES = "replace"
"""A new one is made first, then the old one goes."""

CHANGES_OF_A_GROUP: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "count": ({"count": 3}, {"node-group": UPDATES}),
    "purpose": ({"purpose": "development"}, {"node-group": UPDATES}),
    "repair": ({"node_repair": {"enabled": False}}, {"node-group": UPDATES}),
    # The new version of the template rolls the nodes, one at a time.
    "disk": ({"root_volume": {"size_gib": 200}}, {"launch-template": UPDATES, "node-group": UPDATES}),
    "types": ({"instance_types": ["g5.4xlarge"]}, {"node-group": REPLACES}),
    "capacity": ({"capacity": "spot"}, {"node-group": REPLACES}),
    "zones": ({"zones": ["us-east-1a"]}, {"node-group": REPLACES}),
}
"""What is changed in a group of that name, and what that does to which of its children."""

CHANGES_OF_A_POOL: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "limit": ({"max_gpus": 16}, {"node-pool": UPDATES}),
    "capacities": ({"capacity": ["spot", "on-demand"]}, {"node-pool": UPDATES}),
    "purposes": ({"purpose": "development"}, {"node-pool": UPDATES}),
    "taint": ({"dedicated": True}, {"node-pool": UPDATES}),
    "sizes": ({"instance_types": ["g5.xlarge", "g5.2xlarge"]}, {"node-pool": UPDATES}),
    "disks": ({"root_volume": {"size_gib": 200}}, {"node-class": UPDATES}),
    "needs": ({"instance_types": {"gpus": 1, "gpu": "a10g"}}, {"node-pool": UPDATES}),
    "proved": ({"validate_new_nodes": True}, {"node-pool": UPDATES}),
    "ready": ({"warm_nodes": 1}, {"warm-priority": CREATES, "warm": CREATES}),
    "system": ({"image": {"family": "bottlerocket"}}, {"node-class": UPDATES, "node-pool": UPDATES}),
    "subnets": ({"zones": ["us-east-1a"]}, {"node-class": UPDATES, "node-pool": UPDATES}),
}
"""The same for pools. Karpenter replaces nodes that no longer fit, within the pool's disruption budgets."""


def test_a_changed_setting_updates_rolls_or_replaces_as_the_tables_say(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="nodes")
    before = _settings(dict.fromkeys(CHANGES_OF_A_GROUP, GROUP), dict.fromkeys(CHANGES_OF_A_POOL, POOL))
    after = _settings(
        {name: {**GROUP, **change} for name, (change, _) in CHANGES_OF_A_GROUP.items()},
        {name: {**POOL, **change} for name, (change, _) in CHANGES_OF_A_POOL.items()},
    )
    _changed(engine.up(program, config=before))

    assert _changed(engine.preview(program, config=after)) == {
        f"{name}-{child}": operation
        for name, (_, expected) in (CHANGES_OF_A_GROUP | CHANGES_OF_A_POOL).items()
        for child, operation in expected.items()
    }
