"""SHARE005: something can provision shared, MIG and DRA demand.

Karpenter buys for what EC2 lists: whole GPUs. Which pods it lets onto which pools by taints and labels is WORK001's;
here it is asked whether any of the pools that come into question makes nodes that have what the pod asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.provisioning import ENABLE_DRA, FIRST_WITH_DRA
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.placement import tolerates
from eks_gpu.planning.pod_template import PodTemplate, WorkloadKind
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu.planning.sharing.advertised import Partitions, Shares
from eks_gpu.planning.sharing.slices import adds, no_shares, no_slices, profile_of
from eks_gpu_policies import examples
from eks_gpu_policies.readers.mig_files import layout_files
from eks_gpu_policies.readers.provisioners import buys_for, claims_devices
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS

_FOR_SHARES: Final = (
    "serve it from a managed node group or a NodePool with replicas, whose GPUs the device plugin shares with "
    f"renameByDefault: true; or ask {resources.GPU}"
)
_FOR_CLAIMS: Final = (
    "serve it from a managed node group or a NodePool with replicas; or run Karpenter "
    f"{'.'.join(map(str, FIRST_WITH_DRA))} or newer with {'.'.join(ENABLE_DRA)}: true"
)

_Reason = Callable[[Pool], str | None]
"""Why a pool makes no node for a pod; None when it does."""


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    names = dict.fromkeys(name for container in pod.all_containers for name in container.gpu_resources)
    asked = {name: _most(pod, name) for name in names}
    slices = [name for name in asked if name.startswith(resources.MIG_PREFIX)]
    yield from clauses(
        _training(pod, sum(asked[name] for name in slices)),
        *(_provided(name, pod, stack, partial(_slices, name, stack)) for name in slices),
        _provided(resources.GPU_SHARED, pod, stack, lambda pool: _shares(pool, stack), _FOR_SHARES)
        if resources.GPU_SHARED in asked
        else (),
        _whole(asked.get(resources.GPU, 0), pod, stack),
        _provided("a device by claim", pod, stack, lambda pool: claims_devices(pool, stack), _FOR_CLAIMS)
        if _claims(pod)
        else (),
    )


def _most(pod: PodTemplate, name: str) -> int:
    """Return how many of a resource the pod's containers ask together."""
    asked = (quantity({**need(box.requests), **need(box.limits)}.get(name, "")) for box in need(pod.containers))
    return int(sum(amount for amount in asked if amount is not None))


def _claims(pod: PodTemplate) -> bool:
    return any(container.claims_devices for container in pod.all_containers)


def _training(pod: PodTemplate, slices: int) -> Iterator[Outcome]:
    if slices > 1 and need(pod.kind) is WorkloadKind.TRAINING:
        yield Problem(
            f"asks {slices} slices of GPUs for training, between which NCCL cannot talk",
            fix="train on whole GPUs, or in one slice",
        )


def _provided(what: str, pod: PodTemplate, stack: Stack, reason: _Reason, fix: str | None = None) -> Iterator[Outcome]:
    """Yield a problem when every pool that comes into question has a reason to make no node for the pod."""
    pools = _candidates(pod, stack)
    if not pools:
        yield from _no_pool(what, stack)
        return
    answers = {pool.name: attempt(reason, pool) for pool in pools}
    if any(answer is None for answer in answers.values()):
        return
    unknown = [*(answer for answer in answers.values() if isinstance(answer, NotKnown)), *stack.unclear_pools]
    yield from map(undecided, unknown)
    if unknown:
        return
    if stack.options.manifests_only and not stack.landing(pod):
        yield Undecided("GPU pools", f"it asks {what}, and which node groups there are is not said here")
    else:
        yield Problem(
            f"asks {what}, and no pool makes a node for it: "
            + "; ".join(f"{name} {answer}" for name, answer in answers.items()),
            fix=fix,
        )


def _candidates(pod: PodTemplate, stack: Stack) -> tuple[Pool, ...]:
    """Return the pools that come into question: those that let the pod on, else all of them."""
    landing = tuple(pool for pool in stack.landing(pod) if pool.buys_gpus)
    let_on = (pool for pool in stack.gpu_pools if attempt(_lets_on, pool, pod, stack) is True)
    return landing or tuple(let_on) or stack.gpu_pools


def _lets_on(pool: Pool, pod: PodTemplate, stack: Stack) -> bool:
    """Return whether taints and labels let a pod on, whatever its GPUs are split into."""
    return tolerates(pod, need(pool.taints)) and bool(stack.places.types_selected(pod, pool))


def _no_pool(what: str, stack: Stack) -> Iterator[Outcome]:
    yield from (undecided(pool) for pool in stack.unclear_pools)
    if not stack.unclear_pools:
        yield Undecided("GPU pools", f"it asks {what}, and no GPU pool is in the stack")


def _slices(name: str, stack: Stack, pool: Pool) -> str | None:
    def makes(layout: str, kind: InstanceType) -> bool | None:
        return _makes(layout, profile_of(name), kind, stack)

    return _either(attempt(no_slices, pool, name, makes), attempt(buys_for, name, pool, stack))


def _either(*reasons: str | NotKnown | None) -> str | None:
    """Return the first reason that is known; raise ``NotKnownError`` where there is none and one may be."""
    known = next((reason for reason in reasons if isinstance(reason, str)), None)
    return known or next((need(reason) for reason in reasons if isinstance(reason, NotKnown)), None)


def _makes(layout: str, profile: str, kind: InstanceType, stack: Stack) -> bool | None:
    """Return whether a layout makes partitions of a profile; None where no file in the stack tells what it is."""
    gpu = mig.MODELS[kind.gpu_model]
    wanted = gpu.profile(profile)
    own = next(iter(layout_files(stack)), None)
    if own is not None:
        return any(wanted is not None and _count(wanted, entry.partitions) for entry in need(own).on(layout, gpu))
    known = gpu.layout(layout)
    return None if known is None or wanted is None else bool(_count(wanted, known))


def _count(profile: mig.Profile, partitions: Mapping[str, int]) -> int:
    return sum(count for name, count in partitions.items() if name in {profile.name, profile.label})


def _shares(pool: Pool, stack: Stack) -> str | None:
    name = resources.GPU_SHARED
    return _either(attempt(no_shares, pool, name), attempt(buys_for, name, pool, stack))


def _whole(asked: int, pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    """Judge plain GPUs that are shares or slices in truth, of which Karpenter knows the physical count only."""
    pools = stack.landing(pod) if asked > 1 else ()
    limits = {pool.name: attempt(_believed, pool) for pool in pools}
    if limits and all(isinstance(limit, int) and asked > limit for limit in limits.values()):
        believed = ", ".join(f"{limit} on {name}" for name, limit in limits.items())
        yield Problem(
            f"asks {asked} {resources.GPU} of GPUs that are shared or partitioned; Karpenter believes that a node has "
            f"as many as it has whole GPUs ({believed}) and buys none",
            fix="ask no more than one node has whole GPUs, or serve it from a managed node group",
        )


def _believed(pool: Pool) -> int | None:
    """Return how many GPUs Karpenter believes a node to have at most, where its GPUs are split under their own name."""
    split = pool.split
    passes_for_gpus = (isinstance(split, Shares) and split.resource == resources.GPU) or (
        isinstance(split, Partitions) and split.strategy == mig.SINGLE
    )
    if not passes_for_gpus or pool.static or any(adds(each, resources.GPU, pool) for each in need(pool.overlays)):
        return None
    return max((kind.gpu_count for kind in pool.gpu_types), default=0)


def _operator() -> Resource:
    return examples.release(
        "operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"mig": {"strategy": mig.MIXED}}
    )


def _pod(profile: str) -> Resource:
    box = examples.container(resources={"limits": {resources.mig(profile): "1"}})
    return examples.deployment(box, tolerations=[{"key": resources.GPU, "operator": "Exists"}])


_LABELS: Final = {
    **labels.pool_labels(labels.gpu_type("a100", partitioned=True), "inference"),
    labels.MIG_CONFIG: "all-1g.5gb",
}
_GROUP: Final = examples.node_group(None, "p4d", instanceTypes=["p4d.24xlarge"], labels=_LABELS)

RULE: Final = Rule(
    id="SHARE005",
    title="Something can provision shared, MIG, DRA demand",
    severity=Severity.HIGH,
    why=(
        "Karpenter knows the GPUs that EC2 lists and nothing of slices, renamed shares or claimed devices. A pod that "
        "asks for one is pending for ever beside a pool that could serve it, and no node is ever bought."
    ),
    fix=(
        "serve it from a managed node group or a NodePool with replicas, with a layout that has the profile and "
        "mig.strategy mixed, as GpuNodeGroup does; or add the resource by a NodeOverlay and switch its gate on"
    ),
    lessons=("G03", "G04"),
    levels=EVERYWHERE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((_operator(), _GROUP, _pod("4g.40gb"))),
    passing=Example((_operator(), _GROUP, _pod("1g.5gb"))),
)
