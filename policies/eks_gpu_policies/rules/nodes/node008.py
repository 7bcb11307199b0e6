"""NODE008: every pool buys GPUs we know.

A rule that knows nothing of an instance type would pass it, so a pool of such a type is a finding of its own. Pools of
g4ad, whose GPUs are AMD's, are nobody's mistake. Nor is a pool that may buy a GPU only because nothing forbids it:
NODE004 speaks of those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE, OTHER_MAKERS_GPUS, by_gpu_name, families
from eks_gpu.planning.instance_choice import others, others_named
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, View, need
from eks_gpu.planning.requirements import Requirement, read_requirements
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.instance_names import named_types
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS

_MARKS: Final = {labels.ACCELERATOR: labels.ACCELERATOR_NVIDIA, labels.GPU_PRESENT: "true"}
_NVIDIA: Final = "nvidia"


def _marks(pool: Pool) -> Iterator[str]:
    """Yield what says that a pool has NVIDIA GPUs, as far as it is known."""
    if not isinstance(pool.taints, NotKnown):
        yield from (f"the taint {taint.key}" for taint in pool.taints if resources.is_gpu(taint.key))
    if not isinstance(pool.labels, NotKnown):
        for key, value in pool.labels.items():
            if _MARKS.get(key) == value or key == labels.GPU_TYPE:
                yield f"the label {key}={value}"
    if not isinstance(pool.limits, NotKnown):
        for key, value in pool.limits.items():
            if resources.is_gpu(key) and quantity(value) != 0:
                yield f"a limit on {key}"
    yield from _asked(pool)


def _asked(pool: Pool) -> Iterator[str]:
    """Yield the requirements that ask for NVIDIA's GPUs by maker or by a name that is nobody else's."""
    for item in () if isinstance(pool.requirements, NotKnown) else pool.requirements:
        named = item.key == labels.INSTANCE_GPU_NAME and not OTHER_MAKERS_GPUS & set(item.values)
        made = item.key == labels.INSTANCE_GPU_MANUFACTURER and _NVIDIA in item.values
        if item.operator == "In" and (named or made):
            yield f"a requirement on {item.key} of {', '.join(item.values)}"


def _concerns(pool: Pool, stack: Stack) -> bool:
    return stack.is_gpu_pool(pool) or any(True for _ in _marks(pool))


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(_none(pool, stack), _mixed(pool, stack), _unlisted(pool), _uncounted(pool, stack))


def _none(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if pool.buys_gpus:
        return
    marks = ", ".join(_marks(pool))
    if pool.kind is PoolKind.NODE_POOL:
        said = f"and its requirements admit no type with an NVIDIA GPU that is known here{_meant(pool)}"
    else:
        said = f"and may buy no type with an NVIDIA GPU: {', '.join(named_types(pool, stack))}"
    yield Problem(f"is marked as a GPU pool ({marks}) {said}")


def _meant(pool: Pool) -> str:
    """Return which model is likely to be meant where a pool requires one that nobody has."""
    asked = (item for item in need(pool.requirements) if item.key == labels.INSTANCE_GPU_NAME and item.operator == "In")
    wrong = [name for item in asked for name in item.values if name not in by_gpu_name()]
    near = [name for each in wrong if (name := _nearest(each, by_gpu_name()))]
    return f"; the nearest to {wrong[0]} is {near[0]}" if near else ""


def _mixed(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if not pool.buys_gpus:
        return
    if pool.kind is PoolKind.NODE_POOL:
        mixed = others_named(need(pool.requirements))
    else:
        mixed = others(named_types(pool, stack))
    if mixed:
        yield Problem(f"buys GPUs and mixes {', '.join(mixed)} in, where there is no NVIDIA GPU", fix=_SEPARATE)


_SEPARATE: Final = "give the types without GPUs a pool of their own"


def _unlisted(pool: Pool) -> Iterator[Outcome]:
    for name in pool.unlisted:
        near = _nearest(name, CATALOGUE if "." in name else families())
        meant = f"; the nearest is {near}" if near else ""
        yield Problem(f"buys {name}, of which nothing is known here, so that no rule can judge it{meant}")


def _nearest(name: str, known: Iterable[str]) -> str | None:
    # Only a name that nobody knows pays for the comparison.
    import difflib  # noqa: PLC0415

    found = difflib.get_close_matches(name, list(known), cutoff=0.5)
    return found[0] if found else None


def _uncounted(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    """Judge types of which EC2 counts no GPU, so that Karpenter never buys one for a pod that asks for one."""
    types = pool.gpu_types
    if pool.kind is not PoolKind.NODE_POOL or not types or pool.unlisted or any(item.gpu_count for item in types):
        return
    if any(_counts(overlay.view["spec"], pool) for overlay in stack.of_type(tokens.NODE_OVERLAY)):
        return
    names = ", ".join(item.name for item in types)
    if stack.options.manifests_only:
        yield Undecided("NodeOverlay", f"EC2 counts no GPU in {names}, and no NodeOverlay is among the manifests")
        return
    yield Problem(
        f"buys {names} only, in which EC2 counts 0 GPUs: without a NodeOverlay Karpenter makes no node for a pod that "
        f"asks for {resources.GPU}",
        fix=f"add a NodeOverlay for these types with capacity {resources.GPU}: 1, or buy types with a whole GPU",
    )


def _counts(overlay: View, pool: Pool) -> bool:
    counted = overlay["capacity"][resources.GPU].quantity() or 0
    wanted = read_requirements(overlay["requirements"].items())
    return counted > 0 and all(_may_fit(item, pool) for item in wanted)


def _may_fit(wanted: Requirement, pool: Pool) -> bool:
    """Return whether an overlay's condition holds for a type of the pool, as far as types can tell."""
    tellable = {labels.INSTANCE_TYPE: lambda item: item.name, labels.INSTANCE_FAMILY: lambda item: item.family}
    read = tellable.get(wanted.key)
    return not read or any(wanted.admits(read(item)) for item in pool.gpu_types)


_TEMPLATE = examples.launch_template()

RULE: Final = Rule(
    id="NODE008",
    title="Every pool buys GPUs we know",
    severity=Severity.HIGH,
    why=(
        "A pool with a GPU's taint and a typing error in its instance types makes no GPU node, or one that every rule "
        "here would pass because it knows nothing of it. A CPU type among GPU types may be the one that is bought."
    ),
    fix="name instance types with NVIDIA GPUs, or require karpenter.k8s.aws/instance-gpu-name",
    lessons=("N08",),
    looks_at=Subjects("GPU pools, and pools marked as such", GPU_POOLS.types, lambda stack: stack.pools, _concerns),
    check=_check,
    failing=Example((_TEMPLATE, examples.node_group(_TEMPLATE, instanceTypes=["g5.2xlarge", "m5.2xlarge"]))),
    passing=Example((_TEMPLATE, examples.node_group(_TEMPLATE))),
)
