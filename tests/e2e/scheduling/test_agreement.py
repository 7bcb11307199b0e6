"""Karpenter and the planning module are asked the same questions, hundreds at once, and must give the same answers.

A question is: may a pod that says this be placed on that pool? Each pod names its pool, so that no answer depends on
another. Room and limits do not bind. The pools are of all makes, not only ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from eks_gpu.facts import labels
from eks_gpu.facts.taints import GPU, TOLERATE_EVERYTHING, Effect, Taint, dedicated
from tests.e2e.scheduling import emitted
from tests.e2e.scheduling.emitted import Block, Manifest, Pools
from tests.e2e.scheduling.planning import answers
from tests.e2e.scheduling.pods import GPU_TOLERATION, gpu_pod, pod, required, where
from tests.e2e.scheduling.world import Fate, Placed, Undecided, World

_PLENTY: Final = 2000

BLOCKS: Final[Mapping[str, Block]] = {
    "t4": {"instance_types": ("g4dn.xlarge", "g4dn.2xlarge"), "max_gpus": _PLENTY, "zones": ("us-east-1a",)},
    "a10g": {"instance_types": ("g5.xlarge", "g5.12xlarge"), "max_gpus": _PLENTY, "capacity": ("spot", "on-demand")},
    "arm": {"instance_types": ("g5g.xlarge",), "max_gpus": _PLENTY, "purpose": "training"},
    "a100": {"instance_types": ("p4d.24xlarge",), "max_gpus": _PLENTY, "dedicated": True},
}
"""Pools as our component emits them."""

TEAM: Final = "team"
EVICTING: Final = Taint(GPU.key, GPU.value, Effect.NO_EXECUTE)
PREFERRED: Final = Taint(TEAM, "research", Effect.PREFER_NO_SCHEDULE)
STRANGERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "evicting": {"taints": [EVICTING.kubernetes()]},
    "preferred": {"taints": [GPU.kubernetes(), PREFERRED.kubernetes()]},
    "teams": {"requirements": [where(TEAM, "In", "search", "maps"), where(labels.INSTANCE_FAMILY, "In", "g6")]},
    "open": {
        "requirements": [
            where(TEAM, "Exists"),
            where(labels.INSTANCE_GPU_NAME, "In", "l4"),
            where(labels.INSTANCE_GPU_COUNT, "Lt", "2"),
            where(labels.INSTANCE_CPU, "Lt", "17"),
        ]
    },
}
"""Pools of other people's: what stands in their template's spec in place of what we would emit."""

SELECTORS: Final[Mapping[str, Mapping[str, str]]] = {
    "nothing": {},
    **{f"type-{gpu}": {labels.GPU_TYPE: gpu} for gpu in ("a10g", "a100", "h100")},
    **{f"name-{gpu}": {labels.INSTANCE_GPU_NAME: gpu} for gpu in ("l4", "t4g", "b200")},
    **{f"for-{purpose}": {labels.WORKLOAD: purpose} for purpose in ("inference", "training", "games")},
    **{f"zone-{zone}": {labels.ZONE: f"us-east-1{zone}"} for zone in "abd"},
    **{f"capacity-{each}": {labels.CAPACITY_TYPE: each} for each in ("spot", "on-demand", "reserved")},
    **{f"arch-{arch}": {labels.ARCH: arch} for arch in ("amd64", "arm64", "riscv64")},
    "windows": {labels.OS: "windows"},
    "gpu-node": {labels.ACCELERATOR: labels.ACCELERATOR_NVIDIA, labels.GPU_PRESENT: "true"},
    "instance-type": {labels.INSTANCE_TYPE: "g5.12xlarge"},
    "four-gpus": {labels.INSTANCE_GPU_COUNT: "4"},
    "gpu-memory": {labels.INSTANCE_GPU_MEMORY: "40960"},
    "category": {labels.INSTANCE_CATEGORY: "p"},
    "bandwidth": {labels.INSTANCE_NETWORK_BANDWIDTH: "2500"},
    "discovered": {labels.GFD_PRODUCT: "NVIDIA-A10G"},
    "of-eks": {labels.EKS_CAPACITY_TYPE: "ON_DEMAND"},
    "contradiction": {labels.GPU_TYPE: "t4", labels.INSTANCE_GPU_NAME: "a10g"},
    **{f"team-{team}": {TEAM: team} for team in ("search", "mail")},
}

TERMS: Final[Mapping[str, tuple[list[Manifest], ...]]] = {
    "not-t4": ([where(labels.GPU_TYPE, "NotIn", "t4")],),
    "large": ([where(labels.INSTANCE_CPU, "Gt", "16")],),
    "small": ([where(labels.INSTANCE_MEMORY, "Lt", "16385")],),
    "with-disks": ([where(labels.INSTANCE_LOCAL_NVME, "Exists")],),
    "without-disks": ([where(labels.INSTANCE_LOCAL_NVME, "DoesNotExist")],),
    "with-team": ([where(TEAM, "Exists")],),
    "without-team": ([where(TEAM, "DoesNotExist")],),
    "without-zone": ([where(labels.ZONE, "DoesNotExist")],),
    "not-this-zone": ([where(labels.ZONE, "NotIn", "us-east-1a")],),
    "no-spot": ([where(labels.CAPACITY_TYPE, "NotIn", "spot")],),
    "second-term": ([where(labels.GPU_TYPE, "In", "h100")], [where(labels.GPU_TYPE, "In", "a10g", "t4")]),
    "no-term": ([where(labels.GPU_TYPE, "In", "h100")], [where(TEAM, "In", "mail", "news")]),
}
"""Terms of a required node affinity.

None is about other values of a label that a pool does not have (`team NotIn search`). Karpenter then takes the label as
known for the node that it is about to buy, and puts a pod there that wants `team: mail`, which gets no node by itself.
So the answer to one question would depend on another; the planning module answers as for a pod that is alone.
"""

CONSENTS: Final[Mapping[str, list[dict[str, str]]]] = {
    "none": [],
    "gpu": [GPU_TOLERATION],
    "gpu-exists": [{"key": GPU.key, "operator": "Exists"}],
    "gpu-other-value": [{**GPU_TOLERATION, "value": "true"}],
    "gpu-other-effect": [{**GPU_TOLERATION, "effect": Effect.NO_EXECUTE.value}],
    "dedicated": [GPU_TOLERATION, dedicated("a100").toleration()],
    "dedicated-alone": [dedicated("a100").toleration()],
    "effect": [{"operator": "Exists", "effect": Effect.NO_SCHEDULE.value}],
}
"""Tolerations."""

TAINTED: Final = ("a10g", "a100", "evicting", "preferred")
"""The pools with different taints."""


OVERLOOKED: Final[Mapping[str, str]] = {
    f"capacity-reserved-on-{pool}": "which reservations there are" for pool in ("teams", "open")
}
"""Pods that the planning module admits and Karpenter refuses, with what the planning module does not look at. These
pools say nothing of capacity types; ours always do."""

ASKED: Final = ("t4", "a10g", "arm", "a100", "teams", "open")
"""The pools with different labels."""


def test_karpenter_and_the_planning_module_admit_the_same_pods_to_the_same_pools(world: World) -> None:
    pods = {each["metadata"]["name"]: each for each in _pods()}
    pools = _pools()
    world.create(*pods.values())
    world.install(pools)
    world.until(lambda: not any(isinstance(each, Undecided) for each in world.fates().values()), "all is said", 240)
    planned = {name: answers(pools.planned, each) for name, each in pods.items()}
    fates = world.fates()
    wrong = [
        f"{name}: {fates[name]}; planned: {planned[name]}"
        for name in pods
        if _agree(fates[name], planned[name]) is (name in OVERLOOKED)
    ]
    assert not wrong, "\n".join(wrong)
    placed = sum(isinstance(fate, Placed) for fate in fates.values())
    assert placed > len(pods) // 10, "the questions must not all have the same answer"
    assert placed < len(pods) * 9 // 10, "the questions must not all have the same answer"


def _agree(fate: Fate, planned: Mapping[str, tuple[str, ...]]) -> bool:
    if isinstance(fate, Placed):
        return fate.instance_type in planned.get(fate.pool, ())
    return not planned


def _pools() -> Pools:
    """Return the pools; the strangers' are emitted for some type, and then say what strangers say."""
    blocks = {**BLOCKS, **{name: {"instance_types": ("g6.2xlarge",), "max_gpus": _PLENTY} for name in STRANGERS}}
    return emitted.pools(blocks).altered(STRANGERS)


def _pods() -> Iterator[Manifest]:
    """Yield a pod for each question to each pool. Those about labels ask for no GPU, so that few nodes are enough."""
    everything: dict[str, Any] = {"tolerations": [TOLERATE_EVERYTHING], "cpu": "10m", "memory": "16Mi"}
    for pool in ASKED:
        chosen = {labels.KARPENTER_NODEPOOL: pool}
        for name, selector in SELECTORS.items():
            yield pod(f"{name}-on-{pool}", nodeSelector={**selector, **chosen}, **everything)
        for name, terms in TERMS.items():
            yield pod(f"{name}-on-{pool}", affinity=required(*terms), nodeSelector=chosen, **everything)
    for pool in TAINTED:
        chosen = {labels.KARPENTER_NODEPOOL: pool}
        for name, consents in CONSENTS.items():
            yield pod(f"plain-{name}-on-{pool}", tolerations=consents, nodeSelector=chosen, cpu="10m")
            yield gpu_pod(f"gpu-{name}-on-{pool}", tolerations=consents, nodeSelector=chosen, cpu="10m")
