"""SHARE002: production does not time-slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_CONFIG_VERSION
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pod_template import PodTemplate, WorkloadKind, asks_gpu
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.sharing import (
    SHARING_CHARTS,
    PluginConfigs,
    loose_files,
    named_files,
    plugin_configs,
    time_sliced,
)
from eks_gpu_policies.readers.splits import BOTTLEROCKET_SLICES, bottlerocket_shares
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import (
    Example,
    Level,
    Levels,
    Outcome,
    Problem,
    Rule,
    Severity,
    Subjects,
    Undecided,
    clauses,
    undecided,
)
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import POOL_TYPES

_Subject = Resource | Pool


def _sources(stack: Stack) -> Iterator[_Subject]:
    yield from stack.of_type(*sorted(tokens.HELM))
    yield from stack.pools
    yield from loose_files(stack)


def _concerned(source: _Subject, stack: Stack) -> bool:
    if isinstance(source, Pool):
        shared = bottlerocket_shares(source, stack)
        return shared is not None and shared[0] == BOTTLEROCKET_SLICES and stack.is_gpu_pool(source)
    if tokens.whole(source.type) in tokens.HELM:
        return charts.name(source) in SHARING_CHARTS
    return any(map(time_sliced, named_files(source).values()))


def _check(source: _Subject, stack: Stack) -> Iterator[Outcome]:
    if isinstance(source, Pool):
        shared = bottlerocket_shares(source, stack)
        yield from () if shared is None else _sliced(source, {resources.GPU: shared[1].replicas}, stack)
    elif tokens.whole(source.type) in tokens.HELM:
        yield from _release(source, stack)
    else:
        yield Undecided("data", "it time-slices GPUs, and which nodes get it is not said here")


def _release(release: Resource, stack: Stack) -> Iterator[Outcome]:
    configs = plugin_configs(release, stack)
    if not any(time_sliced(config) for config in configs.files.values()):
        return
    yield from (undecided(what) for what in stack.unclear_pools)
    if not stack.gpu_pools and not stack.unclear_pools:
        yield Undecided("GPU pools", "time-slicing is configured and no pool that it may reach is in the stack")
    yield from clauses(*(_pool(pool, configs, stack) for pool in stack.gpu_pools))


def _pool(pool: Pool, configs: PluginConfigs, stack: Stack) -> Iterator[Outcome]:
    config = configs.of_pool(pool)
    yield from () if config is None else _sliced(pool, time_sliced(config), stack)


def _sliced(pool: Pool, sliced: Mapping[str, int], stack: Stack) -> Iterator[Outcome]:
    reason = _inference(pool, stack) if sliced else None
    if reason is not None:
        shares = ", ".join(f"{replicas} pods on one {name}" for name, replicas in sliced.items())
        yield Problem(f"time-slices the GPUs of {pool.name} ({shares}), {reason}; {_instead(pool, sliced)}")


def _inference(pool: Pool, stack: Stack) -> str | None:
    """Return why a pool is taken to serve inference, or None when it is not."""
    workload = need(pool.labels).get(labels.WORKLOAD)
    if workload == WorkloadKind.INFERENCE:
        return "which serves inference"
    pods = [pod for pod in stack.pods if asks_gpu(pod) is True and stack.may_land(pod, pool)]
    serving = [pod for pod in pods if attempt(_serves, pod) is True]
    if serving:
        return f"on which {serving[0].name} may serve"
    if workload is None and not pods:
        return (
            "and nothing says that it does not serve: no GPU pod of the stack lands there, nor does the pool carry "
            f"the label {labels.WORKLOAD} ({WorkloadKind.DEVELOPMENT}, {WorkloadKind.TRAINING})"
        )
    return None


def _serves(pod: PodTemplate) -> bool:
    return need(pod.kind) is WorkloadKind.INFERENCE


def _instead(pool: Pool, sliced: Iterable[str]) -> str:
    if all(name.startswith(resources.MIG_PREFIX) for name in sliced):
        return "give each server a slice of its own"
    if all(item.mig_capable for item in pool.gpu_types) and pool.gpu_types:
        return "its GPUs can be partitioned by MIG instead"
    return f"its GPUs have no MIG: {mig.WITHOUT_MIG}"


def _example(pool_config: str) -> Resource:
    config = f"version: {DEVICE_PLUGIN_CONFIG_VERSION}\n{pool_config}"
    return examples.release(
        "device-plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"config": {"map": {"default": config}}},
    )


_SLICED: Final = f"sharing:\n  timeSlicing:\n    resources:\n      - name: {resources.GPU}\n        replicas: 4\n"

RULE: Final = Rule(
    id="SHARE002",
    title="Production does not time-slice",
    severity=Severity.CRITICAL,
    why=(
        "Time-sliced pods share one GPU's memory with nothing between them: one server that allocates too much, or "
        "crashes the GPU, takes its neighbours' answers with it, and latency doubles with each neighbour."
    ),
    fix="partition by MIG where the GPU has it; else give each server a whole GPU, or limit its share by MPS",
    lessons=("G04",),
    levels=Levels(dev=Level.DISABLED, staging=Level.ADVISORY, prod=Level.MANDATORY),
    looks_at=Subjects[_Subject](
        "sharing configurations", POOL_TYPES | tokens.HELM | {tokens.CONFIG_MAP}, _sources, _concerned
    ),
    check=_check,
    failing=Example((_example(_SLICED), examples.node_pool())),
    passing=Example((_example(""), examples.node_pool())),
)
