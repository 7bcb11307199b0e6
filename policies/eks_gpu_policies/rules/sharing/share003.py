"""SHARE003: a share has memory enough.

How large a model is, pods declare, or its name tells. That MPS is the default of every node is a mistake where it
reaches pools that are not alike; where one pool has all the GPUs, as in NVIDIA's own example, it is advice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import declarations, labels, resources
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_CONFIG_VERSION
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.sharing_config import MPS
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.model_source import bytes_to_read
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnownError, attempt, need
from eks_gpu.planning.sharing.advertised import Shares
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.sharing import SHARING_CHARTS, PluginConfigs, plugin_configs
from eks_gpu_policies.readers.splits import bottlerocket_shares
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import POOL_TYPES

_MIB: Final = 2**20
_MIB_PER_GIB: Final = 1024


def _shares(pool: Pool, stack: Stack) -> bool:
    """Return whether a pool's GPUs are shared, as far as the stack says; without a plugin, only Bottlerocket does."""
    if not stack.is_gpu_pool(pool):
        return False
    if not _releases(stack) and bottlerocket_shares(pool, stack) is None:
        unclear = charts.unclear(stack)
        if unclear:
            raise NotKnownError(unclear[0])
        return False
    return isinstance(need(pool.split), Shares)


def _releases(stack: Stack) -> tuple[Resource, ...]:
    return charts.releases(stack, *sorted(SHARING_CHARTS))


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(_size(pool, stack), _default(pool, stack))


def _size(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    split = need(pool.split)
    if not isinstance(split, Shares) or not pool.gpu_types:
        return
    smallest = min(pool.gpu_types, key=_memory)
    share = _memory(smallest) // split.replicas
    made = (
        f"makes {split.replicas} shares of each {smallest.gpu_name} with {_memory(smallest)} MiB: {share} MiB a share"
    )
    needed, pod = max(((_needed(pod), pod.name) for pod in stack.lodgers(pool)), default=(0, ""))
    if needed > share:
        yield Problem(f"{made}, and {pod} declares or names a model of {needed} MiB")
    elif share < stack.options.smallest_share_mib:
        yield Problem(f"{made}, less than {stack.options.smallest_share_mib} MiB")


def _memory(kind: InstanceType) -> int:
    return kind.gpu_memory_mib


def _needed(pod: PodTemplate) -> int:
    """Return how many MiB of a GPU a pod is known to need; 0 when it says nothing."""
    needed = [attempt(_declared, pod), *(attempt(_model, pod, container) for container in need(pod.containers))]
    return max((value for value in needed if isinstance(value, int)), default=0)


def _declared(pod: PodTemplate) -> int:
    said = quantity(need(pod.annotations).get(declarations.GPU_MEMORY_GIB, ""))
    return 0 if said is None else int(said * _MIB_PER_GIB)


def _model(pod: PodTemplate, container: Container) -> int:
    """Return how large a container's model is, spread over the shares that it asks."""
    amounts = [quantity(need(container.limits).get(name, "")) for name in container.gpu_resources]
    pieces = sum(amount for amount in amounts if amount is not None)
    size = bytes_to_read(pod, container) if pieces > 0 else None
    return 0 if size is None else int(size / pieces / _MIB)


def _default(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if labels.DEVICE_PLUGIN_CONFIG in need(pool.labels):
        return
    for release in _releases(stack):
        configs = plugin_configs(release, stack)
        config = None if configs.default is None else configs.files.get(configs.default)
        if config is None or not config.at("sharing", MPS, "resources").items():
            continue
        others = len(stack.gpu_pools) > 1 and not _alone(pool, configs, stack)
        yield Problem(
            f"shares its GPUs by {MPS} because that is the default of every node ({configs.default} of {release.name})",
            advisory=not others,
            fix=(
                f"make whole GPUs the default, and name the shared configuration by the label "
                f"{labels.DEVICE_PLUGIN_CONFIG} on the pools that are meant"
            ),
        )


def _alone(pool: Pool, configs: PluginConfigs, stack: Stack) -> bool:
    """Return whether every other GPU pool names a configuration of its own."""
    others = (other for other in stack.gpu_pools if other.urn != pool.urn)
    return all(labels.DEVICE_PLUGIN_CONFIG in need(other.labels) for other in others) and bool(configs.files)


def _release(replicas: int) -> Resource:
    shared = f"timeSlicing:\n    resources:\n      - name: {resources.GPU}\n        replicas: {replicas}\n"
    config = f"version: {DEVICE_PLUGIN_CONFIG_VERSION}\nsharing:\n  {shared}"
    return examples.release(
        "device-plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"config": {"map": {"default": config}}},
    )


_POOL = examples.node_pool(types=("g4dn.xlarge",))

RULE: Final = Rule(
    id="SHARE003",
    title="A share has memory enough",
    severity=Severity.MEDIUM,
    why=(
        "Shares divide a GPU's memory, and nothing but MPS's limit enforces it: ten shares of a T4 are 1.6 GB each, "
        "of which CUDA itself takes a third. The pods start, and run out of memory under load."
    ),
    fix="make fewer shares, take a GPU with more memory, or give the pool's pods whole GPUs",
    lessons=("G03", "G04"),
    levels=PRODUCTION_ONLY,
    looks_at=Subjects[Pool]("pools that share GPUs", POOL_TYPES | tokens.HELM, lambda stack: stack.pools, _shares),
    check=_check,
    failing=Example((_release(10), _POOL)),
    passing=Example((_release(3), _POOL)),
)
