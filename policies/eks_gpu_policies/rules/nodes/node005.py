"""NODE005: GPU pools carry the same true labels.

The labels meant are the four that this project's pools carry and those that the configuration demands, never those of
Kubernetes or Karpenter. Where nobody demands ``gpu-type``, its words are its author's: another spelling of the same
model, an instance family or a word that names no model is not called untrue. EKS Auto Mode runs NVIDIA's software
itself, which looks for no label of theirs. The AL2023 images label their nodes nvidia.com/gpu.present from Kubernetes
1.35 on, which is in time for node groups; Karpenter must know it before. A pool that may buy GPUs only because nothing
forbids it is to exclude them: NODE004 says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.discovery import NODEADM_LABELS_FROM as LABELS_FROM
from eks_gpu.facts.instances import InstanceType, families
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind, family_of
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.cluster import kubernetes_version
from eks_gpu_policies.readers.karpenter import is_auto_mode
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack, Whole
from eks_gpu_policies.subjects import GPU_POOLS

_SHARED: Final = (labels.ACCELERATOR, labels.GPU_PRESENT, labels.GPU_TYPE, labels.WORKLOAD)
"""What pools of one stack have together or not at all."""
_PARTITIONED: Final = labels.gpu_type("", partitioned=True)
_PROFILE: Final = re.compile(r"\d+g\.\d+gb")
_WORD: Final = re.compile(r"[a-z0-9]+")
_UNSAID: Final = frozenset({"pro", "server"})
"""Words of a model's name that people leave out."""
_MEMORY: Final = re.compile(r"(\d+)gi?b?")
_ROUNDING: Final = 0.15
"""How far a GPU's memory is from what it is sold as: 24 GB of an L4 are 22.4 GiB."""
_MODEL: Final = re.compile(r"[a-z]{1,2}\d{1,3}[a-z]{0,2}|rtx")


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    pools = [pool for pool in stack.gpu_pools if not pool.by_omission]
    carried = {pool.urn: attempt(_labels, pool) for pool in pools}
    selected = _selected(stack)
    first: dict[str, str] = {}
    for pool in pools:
        own = carried[pool.urn]
        for key in () if isinstance(own, NotKnown) else own:
            first.setdefault(key, f"the pool {pool.name} has")
    wanted = {key: who for key in _SHARED if (who := first.get(key) or selected.get(key))}
    marking = _images_mark_nodes(stack)
    for pool in pools:
        own = carried[pool.urn]
        if isinstance(own, NotKnown):
            yield Undecided(f"{own.path} of {pool.name}", own.reason)
        else:
            yield from clauses(_required(pool, own, stack), _missed(pool, own, wanted, stack, marking=marking))
    for what in stack.unclear_pools:
        yield Undecided(f"{what.path} of {stack.by_urn[what.source].name}", what.reason)


def _labels(pool: Pool) -> Mapping[str, str | None]:
    """Return the labels of a pool's nodes; Karpenter also sets those that the pool requires."""
    required = () if isinstance(pool.requirements, NotKnown) else pool.requirements
    named = {
        item.key: item.values[0] if len(item.values) == 1 else None
        for item in required
        if item.operator in {"In", "Exists"}
    }
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


def _required(pool: Pool, carried: Mapping[str, str | None], stack: Stack) -> Iterator[Outcome]:
    required = stack.options.required_pool_labels
    missing = sorted(required - carried.keys())
    if missing:
        yield Problem(f"lacks {_named(missing)}, which every GPU pool must carry (requiredPoolLabels)", urn=pool.urn)
    yield from _model(pool, carried.get(labels.GPU_TYPE), exact=labels.GPU_TYPE in required)


def _missed(
    pool: Pool, carried: Mapping[str, str | None], wanted: Mapping[str, str], stack: Stack, *, marking: bool
) -> Iterator[Outcome]:
    lacking: dict[str, list[str]] = {}
    for key in sorted(wanted.keys() - carried.keys() - stack.options.required_pool_labels):
        if key != labels.GPU_PRESENT or not _needs_no_mark(pool, stack, marking=marking):
            lacking.setdefault(wanted[key], []).append(key)
    for who, keys in lacking.items():
        yield Problem(f"lacks {_named(keys)}, which {who}", urn=pool.urn)


def _images_mark_nodes(stack: Stack) -> bool:
    """Return whether images for the cluster's Kubernetes mark GPU nodes as such, where they are AL2023's."""
    version = attempt(kubernetes_version, stack)
    return not isinstance(version, NotKnown) and version >= LABELS_FROM


def _needs_no_mark(pool: Pool, stack: Stack, *, marking: bool) -> bool:
    """Return whether a pool's nodes mark themselves as GPU nodes in time, or are found without."""
    if is_auto_mode(stack.by_urn[pool.urn].view):
        return True
    return marking and pool.kind is not PoolKind.NODE_POOL and family_of(pool) is AmiFamily.AL2023


def _named(keys: list[str]) -> str:
    return f"the label{'' if len(keys) == 1 else 's'} {', '.join(keys)}"


def _model(pool: Pool, said: str | None, *, exact: bool) -> Iterator[Outcome]:
    """Judge whether ``gpu-type`` says what the pool's types have."""
    if said is None or pool.unlisted:
        return
    names = sorted({item.gpu_name for item in pool.gpu_types})
    told = said.removesuffix(_PARTITIONED)
    if names == [told] or (not exact and _may_be_meant(told, pool)):
        return
    models = sorted({f"{item.gpu_name} ({item.gpu_memory_mib / 1024:.0f} GiB)" for item in pool.gpu_types})
    yield Problem(
        f"says {labels.GPU_TYPE}={said}, and its instance types have {', '.join(models)}", urn=pool.urn, fix=_SAY
    )


_SAY: Final = (
    "say the model as Karpenter names it (t4, a10g, l4, a100, h100), with -mig where its GPUs are partitioned, and "
    "give each model a pool of its own"
)


def _may_be_meant(said: str, pool: Pool) -> bool:
    """Return whether a word of somebody's own is true of every type, or speaks of no model."""
    plain = _PROFILE.sub("", said.lower())
    if all(_names_family(plain, item) for item in pool.gpu_types):
        return True
    words = frozenset(_WORD.findall(plain))
    if not any(map(_MODEL.fullmatch, words)):
        return True
    return all(_names_model(words, item) for item in pool.gpu_types)


def _names_family(said: str, item: InstanceType) -> bool:
    """Return whether an instance type, its family or, where there is none of that name, a generation is named: p4."""
    return said in {item.family, item.name} or (said not in families() and item.family.startswith(said))


def _names_model(words: frozenset[str], item: InstanceType) -> bool:
    """Return whether words name the model of a type, and its memory where they speak of one."""
    sold = [int(match[1]) for match in map(_MEMORY.fullmatch, words) if match is not None]
    fits = all(abs(item.gpu_memory_mib / 1024 - gib) <= _ROUNDING * gib for gib in sold)
    return fits and words >= set(_WORD.findall(item.gpu_name)) - _UNSAID


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
