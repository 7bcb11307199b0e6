"""Production has each kind of GPU capacity once, and staging the other owner of GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eks_gpu.cli.program import record_stack
from eks_gpu.cli.project import Project
from eks_gpu.facts import labels
from eks_gpu.recording import Recording

PROJECT = Project.find(Path(__file__).parents[2])
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


@pytest.fixture(scope="module")
def prod() -> Recording:
    return record_stack(PROJECT, "prod").recording


def template(recording: Recording, pool: str) -> dict[str, Any]:
    """Return what the nodes of a Karpenter pool are like."""
    found: dict[str, Any] = recording.named(f"{pool}-node-pool")["spec"]["template"]
    return found


def capacities(recording: Recording, pool: str) -> list[str]:
    """Return how the nodes of a Karpenter pool may be paid for."""
    (wanted,) = (
        each["values"]
        for each in template(recording, pool)["spec"]["requirements"]
        if each["key"] == labels.CAPACITY_TYPE
    )
    return sorted(wanted)


def test_inference_has_a_floor_that_is_always_there_and_spot_above_it(prod: Recording) -> None:
    floor = prod.named("inference-node-group")
    assert floor["instanceTypes"] == ["g5.2xlarge"]
    assert floor["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}
    assert capacities(prod, "g5") == ["on-demand", "spot"]


def test_g04_small_models_get_slices_of_a_static_group(prod: Recording) -> None:
    slices = prod.named("slices-node-group")
    assert slices["instanceTypes"] == ["p4d.24xlarge"]
    assert slices["labels"][labels.MIG_CONFIG] == "all-1g.5gb"
    assert slices["labels"][labels.GPU_TYPE] == "a100-mig"


def test_n11_g09_training_is_on_reserved_p4d_with_adapters_and_nobody_else_is(prod: Recording) -> None:
    node_class = prod.named("p4d-node-class")["spec"]
    assert capacities(prod, "p4d") == ["reserved"]
    assert [set(term) for term in node_class["capacityReservationSelectorTerms"]] == [{"id"}]
    adapters = [each for each in node_class["networkInterfaces"] if each["interfaceType"] == "efa-only"]
    assert len(adapters) == 4, "one on each network card of a p4d.24xlarge"
    nodes = template(prod, "p4d")
    assert nodes["metadata"]["labels"][labels.WORKLOAD] == "training"
    assert nodes["metadata"]["labels"][labels.DEVICE_PLUGIN_CONFIG] == "exclusive"
    assert {taint["key"] for taint in nodes["spec"]["taints"]} >= {labels.GPU_TYPE}


def test_n07_broken_nodes_are_repaired_whoever_made_them(prod: Recording) -> None:
    for group in prod.of_type(NODE_GROUP):
        assert group["nodeRepairConfig"]["enabled"] is True
    gates = prod.named("karpenter-chart")["values"]["settings"]["featureGates"]
    assert gates["nodeRepair"] is True


def test_g02_production_is_the_operators_and_staging_the_plugins(prod: Recording) -> None:
    made = {resource.type for resource in prod.resources}
    assert "eks-gpu:index:GpuOperator" in made
    assert "eks-gpu:index:DevicePlugin" not in made
    staging = {resource.type for resource in record_stack(PROJECT, "staging").recording.resources}
    assert "eks-gpu:index:GpuOperator" not in staging
    assert "eks-gpu:index:DevicePlugin" in staging
