"""Karpenter, a node pool and a node group through the real engine, in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping

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


def settings_of(groups: Mapping[str, object], pools: Mapping[str, object]) -> dict[str, object]:
    """Return the configuration of the program with those groups and pools."""
    return {"aws:region": "us-east-1", "nodes:groups": json.dumps(groups), "nodes:pools": json.dumps(pools)}


def changed(result: Result) -> dict[str, str]:
    """Return what a run did, or would do, to resources by their names."""
    assert result.returncode == 0, result.output
    ignored = {"same", "read", "create-replacement", "delete-replaced"}  # beside a replacement, "replace" is enough
    return {step.name: step.operation for step in result.steps if step.operation not in ignored}


def test_pools_come_up_are_renamed_and_go_before_the_controller(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="nodes")
    first = settings_of({"inference": GROUP}, {"g5": POOL})

    assert set(changed(engine.up(program, config=first)).values()) == {"create"}
    assert changed(engine.up(program, config=first)) == {}

    renamed = settings_of({"serving": {**GROUP, "previously": "inference"}}, {"a10g": {**POOL, "previously": ["g5"]}})
    operations = set(changed(engine.up(program, config=renamed)).values())
    assert operations <= {"update"}

    further = settings_of(
        {"serving": {**GROUP, "previously": "inference"}, "slices": {"instance_types": ["p4d.24xlarge"], "count": 1}},
        {"a10g": {**POOL, "previously": ["g5"]}, "p4d": {"instance_types": ["p4d.24xlarge"], "max_gpus": 8}},
    )
    added = changed(engine.preview(program, config=further))
    assert set(added.values()) == {"create"}, "a further group and a further pool touch nothing that is there"
    assert {name.split("-")[0] for name in added} == {"slices", "p4d"}

    gone = engine.destroy(program, config=renamed)
    assert gone.returncode == 0, gone.output
    order = [step.name for step in gone.steps if step.operation == "delete"]
    wanted = ["a10g-node-pool", "a10g-node-class", "karpenter-chart", "karpenter-crds"]
    assert [name for name in order if name in wanted] == wanted
    assert order.index("karpenter-chart") < order.index("karpenter-interruptions-queue")
    assert order.index("serving-node-group") < order.index("serving-node-AmazonEKSWorkerNodePolicy")
