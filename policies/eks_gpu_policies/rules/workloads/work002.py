"""WORK002: what a pod selects is there before the node is.

Labels that a pool sets itself are there at once, whatever their names. Nodes of a fixed size run already, so that a pod
may select whatever feature discovery has found out about them. ``-SHARED`` is appended to the product for MPS as it is
for time-slicing (NVIDIA/k8s-device-plugin v0.20.0 internal/lm/resource.go), so both are judged alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.placement.wishes import Wish
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.sharing.advertised import Shares
from eks_gpu_policies import examples
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Undecided, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS

_SHARED: Final = "-SHARED"
"""What feature discovery appends to the product of GPUs that several pods share under their own name."""


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    wanted = awaited(pod, stack)
    if not wanted:
        return
    if not stack.possible_pools:
        yield Undecided("GPU pools", f"no pool whose nodes may have {wanted[0].key} is in the stack")
        return
    answers = [(pool, stack.placed(pod, pool)) for pool in stack.possible_pools]
    shared = [pool for pool, answer in answers if not answer.refuses and _is_renamed(pool, wanted)]
    others = [answer for pool, answer in answers if pool not in shared]
    unclear = next((answer.unclear for answer in others if answer.unclear is not None), None)
    if any(answer.admits for answer in others):
        return
    if unclear is not None:
        yield undecided(unclear)
    elif shared:
        yield Problem(
            f"requires {_spelled(wanted)}, but the GPUs of {_names(shared)} are shared: feature discovery appends "
            f"{_SHARED} to their product",
            fix=f"require the product with {_SHARED}, or better {_known_before(shared)}",
        )
    elif blocked := waiting(pod, stack):
        yield Problem(
            f"requires {_spelled(wanted)}, which nodes have only once they run: {_names(blocked)} would do, but "
            "Karpenter buys no node for a label that it does not know",
            fix=f"require {_known_before(blocked)} instead, or set the label in the node pool's template",
        )


def awaited(pod: PodTemplate, stack: Stack) -> tuple[Wish, ...]:
    """Return what a pod requires of labels that only something on a running node can find out."""
    selection = need(stack.places.demand(pod).selection)
    wishes = {wish: None for each in selection.alternatives for wish in each}
    return tuple(wish for wish in wishes if labels.appears_after_boot(wish.key) and wish.asks)


def waiting(pod: PodTemplate, stack: Stack) -> tuple[Pool, ...]:
    """Return the pools that refuse a pod for nothing known but labels that their nodes get only once they run."""
    wanted = attempt(awaited, pod, stack)
    keys = frozenset() if isinstance(wanted, NotKnown) else frozenset(wish.key for wish in wanted)
    refusing = (pool for pool in stack.possible_pools if keys and not pool.static and stack.placed(pod, pool).refuses)
    return tuple(pool for pool in refusing if not stack.places.placed_without(pod, pool, keys).refuses)


def _is_renamed(pool: Pool, wanted: tuple[Wish, ...]) -> bool:
    """Return whether a pool's GPUs are called otherwise than a pod wants because they are shared."""
    products = [wish for wish in wanted if wish.key == labels.GFD_PRODUCT]
    if not products or not isinstance(pool.split, Shares) or pool.split.renamed:
        return False
    named = {value for wish in products for each in wish.requirements for value in each.values}
    return bool(named) and not any(value.endswith(_SHARED) for value in named)


def _spelled(wanted: tuple[Wish, ...]) -> str:
    return " and ".join(map(str, wanted))


def _names(pools: list[Pool] | tuple[Pool, ...]) -> str:
    return ", ".join(pool.name for pool in pools)


def _known_before(pools: list[Pool] | tuple[Pool, ...]) -> str:
    """Return the label by which a pod says the same in words that Karpenter knows."""
    models = sorted({kind.gpu_name for pool in pools for kind in pool.gpu_types})
    if any(pool.static for pool in pools):
        return f"{labels.INSTANCE_TYPE} or a label that the pool sets"
    return f"{labels.INSTANCE_GPU_NAME}={models[0]}" if len(models) == 1 else labels.INSTANCE_GPU_NAME


_POOL = examples.node_pool()
_AFTER = examples.deployment(nodeSelector={labels.GFD_PRODUCT: "NVIDIA-A10G"})
_BEFORE = examples.deployment(nodeSelector={labels.INSTANCE_GPU_NAME: "a10g"})

RULE: Final = Rule(
    id="WORK002",
    title="Selectors exist before the node",
    severity=Severity.HIGH,
    why=(
        "Labels such as nvidia.com/gpu.product appear when feature discovery runs on a node. Karpenter buys a node "
        "only for labels that it knows beforehand, so that a pending pod that selects such a label waits for ever, "
        "and nothing says why: once some other pod has brought a node, it starts by luck."
    ),
    fix=(
        f"select {labels.INSTANCE_GPU_NAME}, {labels.INSTANCE_GPU_MEMORY} or a label of the pool's template, as "
        "TritonServer and VllmServer do"
    ),
    lessons=("N04", "W02"),
    levels=EVERYWHERE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((examples.node_class(), _POOL, _AFTER)),
    passing=Example((examples.node_class(), _POOL, _BEFORE)),
)
