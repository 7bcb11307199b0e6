from __future__ import annotations

import copy
from typing import Any

import pytest

from eks_gpu.facts import versions
from eks_gpu.nodes import karpenter
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.recording import record
from eks_gpu.settings.gpu_pool import Capacity, Purpose, RootVolume
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.reservation import Reservation
from tests.support.clusters import cluster
from tests.support.crds import KARPENTER, cel_problems, chart_defaults, schema_problems

POOLS = {
    "g5": NodePool(
        instance_types=("g5.xlarge", "g5.2xlarge"), max_gpus=8, capacity=(Capacity.SPOT, Capacity.ON_DEMAND)
    ),
    "p4d": NodePool(
        instance_types=("p4d.24xlarge",),
        max_gpus=16,
        purpose=Purpose.TRAINING,
        max_job_hours=72,
        capacity=(Capacity.RESERVED,),
        reservation=Reservation(capacity_block_id="cr-0123456789abcdef0"),
        efa=True,
        dedicated=True,
    ),
    "p5": NodePool(
        instance_types=("p5.48xlarge",),
        max_gpus=64,
        purpose=Purpose.TRAINING,
        efa=True,
        root_volume=RootVolume(size_gib=500, throughput_mibps=1000, iops=16000),
        zones=("us-east-1b",),
        validate_new_nodes=True,
    ),
    "g6e": NodePool.model_validate(
        {"instance_types": {"gpus": 1, "gpu": "l40s"}, "max_gpus": 4, "image": {"family": "bottlerocket"}}
    ),
    "g5g": NodePool(instance_types=("g5g.xlarge",), max_gpus=2, purpose=Purpose.DEVELOPMENT, zones=("us-east-1b",)),
}


def _resources(name: str, settings: NodePool) -> list[dict[str, Any]]:
    def program() -> None:
        karpenter = KarpenterConnection(node_role_name="karpenter-node")
        GpuNodePool(
            name,
            GpuNodePoolArgs(settings=settings, cluster=cluster(), karpenter=karpenter, tags={"owner": "ml-platform"}),
        )

    recording = record(program)
    pool, node_class = (
        dict(recording.one(token).inputs)
        for token in ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    )
    for term in node_class["spec"]["securityGroupSelectorTerms"]:
        term["id"] = "sg-0a"  # one that EC2 could give, where a recording has a stand-in
    return [pool, node_class]


def test_the_crds_are_those_of_the_version_that_is_installed() -> None:
    assert KARPENTER.version == versions.KARPENTER.version == versions.KARPENTER_CRD.version


@pytest.mark.parametrize("name", POOLS)
def test_every_resource_of_a_pool_is_one_that_the_api_server_takes(name: str) -> None:
    for resource in _resources(name, POOLS[name]):
        assert schema_problems(resource) == []
        assert cel_problems(resource) == []


def test_a_misspelt_field_is_refused() -> None:
    pool, node_class = _resources("g5", POOLS["g5"])
    pool["spec"]["template"]["spec"]["expireAftr"] = "720h"
    node_class["spec"]["blockDeviceMappings"][0]["ebs"]["volumeSise"] = "100Gi"

    (of_pool,) = schema_problems(pool)
    (of_class,) = schema_problems(node_class)
    assert "'expireAftr' was unexpected" in of_pool
    assert "'volumeSise' was unexpected" in of_class


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("disruption", "budgets", 0, "nodes"), 0),
        (("disruption", "consolidationPolicy"), "WhenIdle"),
        (("template", "spec", "expireAfter"), "30d"),
        (("template", "spec", "taints", 0, "effect"), "NO_SCHEDULE"),
        (("weight",), 101),
    ],
)
def test_a_value_that_the_api_server_refuses_is_refused(path: tuple[str | int, ...], value: object) -> None:
    pool, _ = _resources("g5", POOLS["g5"])
    place: Any = pool["spec"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    assert len(schema_problems(pool)) == 1


def test_rules_that_only_cel_states_are_refused() -> None:
    pool, node_class = _resources("p4d", POOLS["p4d"])
    pool["spec"]["template"]["spec"]["requirements"].append(
        {"key": "karpenter.k8s.aws/instance-pods", "operator": "Exists"}
    )
    node_class["spec"]["amiSelectorTerms"].append({"id": "ami-0"})
    node_class["spec"]["networkInterfaces"].append(copy.deepcopy(node_class["spec"]["networkInterfaces"][1]))
    node_class["spec"]["tags"] = {"karpenter.sh/nodepool": "mine"}

    assert cel_problems(pool) == ['label domain "karpenter.k8s.aws" is restricted']
    assert cel_problems(node_class) == [
        "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms",
        (
            "networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most "
            "one efa device per network card"
        ),
        "tag contains a restricted tag matching karpenter.sh/nodepool",
    ]


def unread(values: dict[str, Any], defaults: dict[str, Any], path: str = "") -> list[str]:
    """Return the paths of ``values`` that a chart with these defaults has no use for. An empty mapping takes any."""
    found = []
    for key, value in values.items():
        here = f"{path}.{key}".removeprefix(".")
        if key not in defaults:
            found.append(here)
        elif isinstance(value, dict) and defaults[key]:
            found += unread(value, defaults[key], here)
    return found


def test_the_karpenter_chart_reads_every_value_that_it_is_given() -> None:
    values = karpenter.chart_values(cluster_name="prod", queue_name="interruptions", region="us-east-1")
    assert unread(values, chart_defaults()) == []


def test_a_misspelt_value_of_the_karpenter_chart_is_noticed() -> None:
    assert unread({"settings": {"interruptionQueueName": "queue"}}, chart_defaults()) == [
        "settings.interruptionQueueName"
    ]
