from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import ami, instances
from eks_gpu.nodes import warm_capacity
from eks_gpu.planning.allocatable import allocatable
from eks_gpu.planning.quantity import quantity
from eks_gpu.settings.node_image import KubeletReserved, NodeImage
from eks_gpu.settings.node_pool import NodePool

USABLE = sorted(
    name for name, kind in instances.CATALOGUE.items() if kind.gpu_count and kind.family not in ami.AL2023_RELEASE_LACKS
)


def _pod(pool: NodePool) -> dict[str, Any]:
    spec = warm_capacity.deployment_spec(pool, node_pool="g5", priority="g5-warm")
    return dict(spec["template"]["spec"])


def _requests(pool: NodePool) -> dict[str, str]:
    (container,) = _pod(pool)["containers"]
    return dict(container["resources"]["requests"])


def test_n08_a_placeholder_holds_all_gpus_of_the_smallest_node_and_has_it_to_itself() -> None:
    pool = NodePool(instance_types=("g5.12xlarge", "g5.2xlarge", "g5.xlarge"), max_gpus=8, warm_nodes=2)
    spec = warm_capacity.deployment_spec(pool, node_pool="g5", priority="g5-warm")
    (term,) = _pod(pool)["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]

    assert spec["replicas"] == 2
    assert _pod(pool)["nodeSelector"] == {"karpenter.sh/nodepool": "g5"}
    assert _requests(pool)["nvidia.com/gpu"] == "1"
    assert term == {"labelSelector": spec["selector"], "topologyKey": "kubernetes.io/hostname"}
    assert spec["template"]["metadata"]["labels"] == spec["selector"]["matchLabels"]


def test_n08_every_other_pod_goes_before_a_placeholder_and_it_before_none() -> None:
    priority = warm_capacity.priority_class("g5-warm")
    pool = NodePool(instance_types=("g5.xlarge",), max_gpus=8, warm_nodes=1)

    assert priority["value"] < 0
    assert (priority["preemption_policy"], priority["global_default"]) == ("Never", False)
    assert _pod(pool)["priorityClassName"] == "g5-warm"
    assert _pod(pool)["terminationGracePeriodSeconds"] == 0


@pytest.mark.parametrize(("dedicated", "keys"), [(False, ["nvidia.com/gpu"]), (True, ["nvidia.com/gpu", "gpu-type"])])
def test_n12_a_placeholder_tolerates_its_own_pool_and_no_more(*, dedicated: bool, keys: list[str]) -> None:
    pool = NodePool(instance_types=("g5.xlarge",), max_gpus=8, warm_nodes=1, dedicated=dedicated)

    assert [toleration["key"] for toleration in _pod(pool)["tolerations"]] == keys


@given(st.sampled_from(USABLE))
def test_n08_a_placeholder_leaves_room_for_node_agents_and_fits_no_node_of_half_the_size(name: str) -> None:
    kind = instances.CATALOGUE[name]
    asked = _requests(NodePool(instance_types=(name,), max_gpus=16, warm_nodes=1))
    cpu, memory = quantity(asked["cpu"]), quantity(asked["memory"])

    assert cpu is not None
    assert memory is not None
    assert kind.allocatable_cpu_millicores / 2 < cpu * 1000 < kind.allocatable_cpu_millicores * 0.7
    assert kind.allocatable_memory_mib / 2 < memory / 2**20 < kind.allocatable_memory_mib * 0.7


def test_w01_a_placeholder_asks_for_whole_gpus_as_it_is_limited() -> None:
    (container,) = _pod(NodePool(instance_types=("g5.xlarge",), max_gpus=8, warm_nodes=1))["containers"]

    assert container["resources"]["limits"].items() <= container["resources"]["requests"].items()


def test_n03_a_placeholder_has_room_beside_what_kubelet_keeps() -> None:
    image = NodeImage(kubelet_reserved=KubeletReserved(memory_mib=16_384, cpu_millicores=4000))
    pool = NodePool(instance_types=("g5.2xlarge",), max_gpus=8, warm_nodes=1, image=image)
    (kind,) = pool.types

    requests = _requests(pool)

    left = allocatable(kind, {"cpu": "4", "memory": "16Gi"})
    assert requests["cpu"] == f"{left.cpu_millicores * 60 // 100}m"
    assert requests["memory"] == f"{left.memory_mib * 60 // 100}Mi"
