"""What a stack runs on GPUs finds room in a pool of the same stack."""

from __future__ import annotations

from eks_gpu.cli.judge import as_resource
from eks_gpu.cli.program import Recorded
from eks_gpu.planning.pod_template import WorkloadKind
from eks_gpu_policies.stack import Stack


def test_n03_every_server_of_a_stack_fits_a_node_of_a_pool_that_admits_it(stack: Recorded) -> None:
    seen = Stack(map(as_resource, stack.recording.resources))
    servers = [pod for pod in seen.pods if pod.kind is WorkloadKind.INFERENCE and pod.asks_gpu]

    assert servers
    for pod in servers:
        answers = seen.placements(pod)
        assert any(placement.admits for _, placement in answers), [str(placement.reason) for _, placement in answers]
