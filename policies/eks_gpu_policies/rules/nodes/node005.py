"""NODE005: GPU pools carry the same true labels.

The labels meant are the four that this project's pools carry and those that the configuration demands, never those of
Kubernetes or Karpenter. Where nobody demands ``gpu-type``, its words are its author's: another spelling of the same
model, an instance family or a word that names no model is not called untrue. EKS Auto Mode runs NVIDIA's software
itself, which looks for no label of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.karpenter import is_auto_mode
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided
from eks_gpu_policies.stack import Stack, Whole
from eks_gpu_policies.subjects import GPU_POOLS

_SHARED: Final = (labels.ACCELERATOR, labels.GPU_PRESENT, labels.GPU_TYPE, labels.WORKLOAD)
"""What pools of one stack have together or not at all."""
_PARTITIONED: Final = labels.gpu_type("", partitioned=True)
_SPELLING: Final = re.compile(r"^(?:nvidia|tesla)[-_ ]|[-_ ]?\d+gi?b$|[-_ ](?:pcie|sxm\d?)$")
_MODEL: Final = re.compile(r"(?:^|[-_ ])(?:[a-z]{1,2}\d{1,3}[a-z]{0,2}|rtx)(?=$|[-_ ])")


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    carried = {pool.urn: attempt(_labels, pool) for pool in stack.gpu_pools}
    selected = _selected(stack)
    first: dict[str, str] = {}
    for pool in stack.gpu_pools:
        own = carried[pool.urn]
        for key in () if isinstance(own, NotKnown) else own:
            first.setdefault(key, f"the pool {pool.name} has")
    wanted = {key: first.get(key) or selected.get(key) for key in _SHARED}
    for pool in stack.gpu_pools:
        own = carried[pool.urn]
        if isinstance(own, NotKnown):
            yield Undecided(f"{own.path} of {pool.name}", own.reason)
        else:
            yield from _pool(pool, own, {key: who for key, who in wanted.items() if who}, stack)
    for what in stack.unclear_pools:
        yield Undecided(f"{what.path} of {stack.by_urn[what.source].name}", what.reason)


def _labels(pool: Pool) -> Mapping[str, str | None]:
    """Return the labels of a pool's nodes; Karpenter also sets those that the pool requires."""
    required = () if isinstance(pool.requirements, NotKnown) else pool.requirements
    named = {item.key: item.values[0] if len(item.values) == 1 else None for item in required if item.operator == "In"}
    return {**named, **need(pool.labels)}


def _selected(stack: Stack) -> dict[str, str]:
    """Return the labels that GPU pods require of nodes, with who does."""
    found: dict[str, str] = {}
    for pod in stack.pods:
        keys = attempt(_required_keys, pod)
        for key in () if isinstance(keys, NotKnown) else keys:
            found.setdefault(key, f"the pods of {pod.name} require")
    return found


def _required_keys(pod: PodTemplate) -> tuple[str, ...]:
    if not pod.asks_gpu:
        return ()
    terms = (need(pod.selector), *need(pod.affinity))
    return tuple(item.key for term in terms for item in term if item.operator in {"In", "Exists"})


def _pool(pool: Pool, carried: Mapping[str, str | None], wanted: Mapping[str, str], stack: Stack) -> Iterator[Outcome]:
    required = stack.options.required_pool_labels
    missing = sorted(required - carried.keys())
    if missing:
        yield Problem(f"lacks {_named(missing)}, which every GPU pool must carry (requiredPoolLabels)", urn=pool.urn)
    auto = {labels.GPU_PRESENT} if is_auto_mode(stack.by_urn[pool.urn].view) else frozenset[str]()
    for key in sorted(wanted.keys() - carried.keys() - required - auto):
        yield Problem(f"lacks the label {key}, which {wanted[key]}", urn=pool.urn)
    yield from _model(pool, carried.get(labels.GPU_TYPE), exact=labels.GPU_TYPE in required)


def _named(keys: list[str]) -> str:
    return f"the label{'' if len(keys) == 1 else 's'} {', '.join(keys)}"


def _model(pool: Pool, said: str | None, *, exact: bool) -> Iterator[Outcome]:
    """Judge whether ``gpu-type`` says what the pool's types have."""
    if said is None or pool.unlisted or not pool.gpu_types:
        return
    names = sorted({item.gpu_name for item in pool.gpu_types})
    told = said.removesuffix(_PARTITIONED)
    if names == [told] or (not exact and _may_be_meant(told, pool)):
        return
    yield Problem(
        f"says {labels.GPU_TYPE}={said}, and its instance types have {', '.join(names)}", urn=pool.urn, fix=_SAY
    )


_SAY: Final = (
    "say the model as Karpenter names it (t4, a10g, l4, a100, h100), with -mig where its GPUs are partitioned, and "
    "give each model a pool of its own"
)


def _may_be_meant(said: str, pool: Pool) -> bool:
    """Return whether a word of somebody's own is true of every type, or speaks of no model."""
    word = said.lower()
    if any(word in {item.family, item.name} for item in pool.gpu_types):
        return True
    plain = _SPELLING.sub("", _SPELLING.sub("", word))
    return all(item.gpu_name == plain for item in pool.gpu_types) or _MODEL.search(word) is None


def _concerns(_whole: Whole, stack: Stack) -> bool:
    return bool(stack.gpu_pools or stack.unclear_pools)


_TEMPLATE = examples.launch_template()
_SOUND = examples.node_group(_TEMPLATE)

RULE: Final = Rule(
    id="NODE005",
    title="GPU pools carry the same true labels",
    severity=Severity.MEDIUM,
    why=(
        "Pods, DaemonSets, dashboards and cost reports find GPU nodes by labels. A pool that lacks one that the others "
        "have is left out in silence, and a false gpu-type puts a model onto a GPU that is too small for it."
    ),
    fix="give all GPU pools the same labels, as GpuNodeGroup and GpuNodePool do from gpu-type and workload",
    lessons=("N04",),
    looks_at=Subjects[Whole]("GPU pools together", GPU_POOLS.types, lambda stack: (stack.whole,), _concerns),
    check=_check,
    failing=Example((_TEMPLATE, examples.node_group(_TEMPLATE, labels=labels.pool_labels("t4", "inference")))),
    passing=Example((_TEMPLATE, _SOUND)),
)
