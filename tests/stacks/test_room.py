"""What a stack runs on GPUs finds room in a pool of the same stack."""

from __future__ import annotations

from fractions import Fraction

from eks_gpu.cli.judge import as_resource
from eks_gpu.cli.program import Recorded
from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement import admits, types_selected
from eks_gpu.planning.pod_template import PodTemplate, WorkloadKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import need
from eks_gpu_policies.stack import Stack

MIB = 2**20


def asked(pod: PodTemplate, resource: str) -> Fraction:
    """Return how much the containers of a pod ask for together."""
    amounts = (quantity(need(each.requests).get(resource, "0")) for each in need(pod.containers))
    return sum((amount for amount in amounts if amount is not None), Fraction(0))


def has_room(kind: InstanceType, pod: PodTemplate) -> bool:
    """Tell whether an empty node of a type can run a pod."""
    return (
        asked(pod, resources.CPU) * 1000 <= kind.allocatable_cpu_millicores
        and asked(pod, resources.MEMORY) <= kind.allocatable_memory_mib * MIB
        and asked(pod, resources.GPU) <= kind.gpu_count
    )


def test_n03_every_server_of_a_stack_fits_a_node_of_a_pool_that_admits_it(stack: Recorded) -> None:
    seen = Stack(map(as_resource, stack.recording.resources))
    servers = [pod for pod in seen.pods if pod.kind is WorkloadKind.INFERENCE and pod.asks_gpu]

    assert servers
    for pod in servers:
        fitting = [
            kind.name
            for pool in seen.pools
            if admits(pool, pod)
            for kind in types_selected(pool, pod)
            if has_room(kind, pod)
        ]
        assert fitting, f"no node of any pool has room for {pod.name}"
