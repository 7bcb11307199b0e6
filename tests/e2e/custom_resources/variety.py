"""Everything that settings can make the library emit: pools of all kinds, and platforms besides the stacks'."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any, Final

from eks_gpu.facts import ami, instances
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.recording import Recording, record, record_directory
from eks_gpu.settings import stack_file
from eks_gpu.settings.efa import EFA_LAYOUT_UNKNOWN
from eks_gpu.settings.gpu_pool import LARGEST_VOLUME_GIB, Capacity, Purpose
from eks_gpu.settings.node_pool import NodePool
from sandbox.checkout import ROOT
from tests.support.clusters import cluster

Block = Mapping[str, Any]

STACKS: Final = sorted(path.name for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))

_PLATFORM: Final = "eks-gpu:platform"
_RESERVATIONS: Final = ({"capacity_block_id": "cr-0123456789abcdef0"}, {"on_demand_id": "cr-0fedcba9876543210"})
_BASE: Final[Block] = {"instance_types": ["g5.xlarge"], "max_gpus": 8}

PLATFORMS: Final[Mapping[str, Block]] = {
    "shared GPUs, owned by the operator": {
        "gpu_software": {"kind": "operator", "sharing": {"time_slicing": {"replicas": 4}}},
    },
    "shared GPUs under a name of their own": {
        "gpu_software": {"kind": "device_plugin", "sharing": {"time_slicing": {"replicas": 2, "rename": True}}},
        "node_pools": {},
    },
    "GPUs partitioned, limited and whole, each in its pool": {
        "gpu_software": {"kind": "operator"},
        "node_groups": {
            "slices": {
                "instance_types": ["p4d.24xlarge"],
                "count": 1,
                "sharing": {"mig": {"strategy": "single", "layout": {"3g.20gb": 2}}},
            },
        },
        "node_pools": {
            "g5": {"instance_types": ["g5.xlarge"], "max_gpus": 2, "sharing": {"mps": {"replicas": 2}}},
            "p4d": {
                "instance_types": ["p4d.24xlarge"],
                "max_gpus": 16,
                "purpose": "training",
                "efa": True,
                "zones": ["us-east-1a"],
            },
        },
        "workloads": {
            "vllm": {"model": "Qwen/Qwen2.5-7B-Instruct", "gpu_types": ["a100"], "mig_profile": "3g.20gb"},
        },
    },
    "GPUs that are proven: whole, shared, partitioned, across nodes, and on each new node": {
        "gpu_software": {"kind": "operator", "validation": {"node_pools": True}},
        "node_groups": {
            "slices": {
                "instance_types": ["p4d.24xlarge"],
                "count": 2,
                "sharing": {"mig": {"strategy": "mixed", "profile": "all-balanced"}},
            },
            "sliced": {
                "instance_types": ["g5.12xlarge"],
                "count": 2,
                "purpose": "development",
                "sharing": {"time_slicing": {"replicas": 4}},
            },
        },
        "node_pools": {
            "g5": {
                "instance_types": ["g5.xlarge", "g5.12xlarge"],
                "max_gpus": 4,
                "validate_new_nodes": True,
            },
            "p5": {
                "instance_types": ["p5.48xlarge"],
                "max_gpus": 16,
                "purpose": "training",
                "efa": True,
                "dedicated": True,
                "zones": ["us-east-1a"],
            },
        },
        "workloads": {},
    },
    "a Prometheus that exists": {
        "monitoring": {
            "prometheus": {"kind": "existing", "selector_labels": {"release": "prom"}},
            "alerts": {"preallocating_containers": [], "idle_after_minutes": 30, "single_bit_errors_per_hour": 1},
            "runbook_base_url": "https://runbooks.example/gpu",
        },
    },
    "both servers": {
        "workloads": {
            "vllm": {
                "model": "Qwen/Qwen2.5-7B-Instruct",
                "gpu_types": ["a10g"],
                "replicas": 3,
                "max_model_len": 8192,
                "offline": True,
                "hf_token_secret": "hugging-face",
            },
            "triton": {"model_size_gb": 4, "gpu_types": ["a10g"], "full_image_reason": "every backend is in use"},
        },
    },
}
"""What is changed in the stack file of `staging`, by what that makes of it."""


def stack(file: str) -> Recording:
    """Record one of the stacks."""
    return _recorded(file, {})


def platform(changes: Block) -> Recording:
    """Record the program with a platform that is `staging` but for the blocks in ``changes``."""
    return _recorded("Pulumi.staging.yaml", changes)


def _recorded(file: str, changes: Block) -> Recording:
    configuration = stack_file.load(ROOT / "stacks" / file)
    config = configuration.engine_config()
    config[_PLATFORM] = json.dumps({**json.loads(config[_PLATFORM]), **changes})
    return record_directory(
        ROOT, project="eks-gpu", stack=configuration.stack, config=config, secrets=configuration.secrets
    )


def pools() -> Recording:
    """Record a node pool for each block that `blocks` yields, and one for each way to be bound to an account."""

    def program() -> None:
        place, karpenter = cluster(), KarpenterConnection(node_role_name="karpenter-node")
        for number, block in enumerate(blocks()):
            settings = NodePool.model_validate(block)
            GpuNodePool(f"pool-{number}", GpuNodePoolArgs(settings=settings, cluster=place, karpenter=karpenter))
        for name, changes in _BOUND.items():
            settings = NodePool.model_validate(_BASE)
            GpuNodePool(
                name, GpuNodePoolArgs(**{"settings": settings, "cluster": place, "karpenter": karpenter, **changes})
            )

    return record(program)


_BOUND: Final[Mapping[str, Mapping[str, Any]]] = {
    "with-profile": {"karpenter": KarpenterConnection(node_role_name="node", instance_profile_name="node-profile")},
    "with-tags": {"tags": {"owner": "ml-platform", "cost-center": "42"}},
    "first": {"weight": 100},
    "last": {"weight": 1},
}


def blocks() -> Iterator[Block]:
    """Yield settings of node pools: every family, every purpose with every capacity, every option."""
    yield from _families()
    yield from _capacities()
    for change in (
        {"dedicated": True},
        {"warm_nodes": 2},
        {"validate_new_nodes": True},
        {"image": {"family": "bottlerocket"}},
        {"instance_types": {"gpus": 8, "gpu": "a100", "gpu_memory_gib": 40}, "dedicated": False},
        {"instance_types": ["p4d.24xlarge"], "efa": True, "placement_group": True, "zones": ["us-east-1b"]},
        {"purpose": Purpose.TRAINING, "max_job_hours": 24 * 60, "dedicated": True},
        {"purpose": Purpose.DEVELOPMENT},
        {"zones": ["us-east-1b"]},
        {"previously": ["former", "later"]},
        {"max_gpus": 10_000},
        {"root_volume": {"size_gib": LARGEST_VOLUME_GIB, "throughput_mibps": 2000, "iops": 80000}},
        {"root_volume": {"size_gib": 200, "throughput_mibps": 250}},
    ):
        yield {**_BASE, **change}


def _families() -> Iterator[Block]:
    for family, types in instances.families().items():
        whole = [kind for kind in types if kind.gpu_count]
        if family in ami.AL2023_RELEASE_LACKS or not whole:
            continue
        yield {"instance_types": [kind.name for kind in whole], "max_gpus": 64}
        adapters = whole[-1].efa_interfaces
        if adapters and not family.startswith(EFA_LAYOUT_UNKNOWN):
            alike = [kind.name for kind in whole if kind.efa_interfaces == adapters]
            yield {"instance_types": alike, "max_gpus": 64, "efa": True, "purpose": Purpose.TRAINING}


def _capacities() -> Iterator[Block]:
    several = chain.from_iterable(combinations(Capacity, number) for number in range(1, len(Capacity) + 1))
    for capacity in several:
        for purpose in Purpose:
            block = {**_BASE, "capacity": capacity, "purpose": purpose, "resumable": True}
            if Capacity.RESERVED not in capacity:
                yield block
                continue
            for reservation in _RESERVATIONS:
                yield {**block, "reservation": reservation}
