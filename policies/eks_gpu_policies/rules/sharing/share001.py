"""SHARE001: the sharing configuration says what it means.

A file without a version is taken as v1 by the plugin (v0.20.0, api/config/v1/config.go), so that is advice. NVIDIA's
own examples for the operator carry ``migStrategy: none``: the operator's ``mig.strategy`` wins, which matters only to
nodes with partitions, or where the file asks for another strategy of partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import discovery, labels, mig, resources
from eks_gpu.facts.gpu_software import DEVICE_PLUGIN_CONFIG_VERSION, DEVICE_PLUGIN_DEFAULT_CONFIG
from eks_gpu.facts.sharing_config import MPS
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.sharing.advertised import Shares
from eks_gpu.planning.sharing.plugin_config import defects, unpinned
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.program import once
from eks_gpu_policies.readers.mig_files import layout_of
from eks_gpu_policies.readers.sharing import (
    SHARING_CHARTS,
    PluginConfigs,
    choice_of,
    discovers,
    loose_files,
    map_of,
    named_files,
    plugin_configs,
    said_strategy,
    several_asked,
)
from eks_gpu_policies.readers.splits import bottlerocket_shares
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import POOL_TYPES

_Subject = Resource | Pool
_NOT_A_STRATEGY: Final = "none"


def _sources(stack: Stack) -> Iterator[_Subject]:
    """Yield what runs the plugin: releases, else Bottlerocket's own settings; and files of it, whoever reads them."""
    releases = [item for item in stack.of_type(*sorted(tokens.HELM)) if attempt(_runs_the_plugin, item) is not False]
    yield from releases or stack.pools
    maps = [found for item in releases if isinstance(found := attempt(map_of, item, stack), Resource)]
    yield from {found.urn: found for found in (*maps, *loose_files(stack))}.values()


def _concerned(source: _Subject, stack: Stack) -> bool:
    if isinstance(source, Pool):
        return bottlerocket_shares(source, stack) is not None and stack.is_gpu_pool(source)
    return tokens.whole(source.type) not in tokens.HELM or _runs_the_plugin(source)


def _runs_the_plugin(release: Resource) -> bool:
    return charts.name(release) in SHARING_CHARTS


def _check(source: _Subject, stack: Stack) -> Iterator[Outcome]:
    if isinstance(source, Pool):
        yield from clauses(*(_greedy(pod, stack) for pod in stack.lodgers(source) if stack.landing(pod)[0] is source))
    elif tokens.whole(source.type) in tokens.HELM:
        yield from clauses(_release(source, stack), _of_all(stack) if source is _first(stack) else ())
    else:
        yield from _files(named_files(source))


def _first(stack: Stack) -> Resource:
    """Return the release that speaks for all, of what is the same whichever release one asks."""
    return charts.releases(stack, *sorted(SHARING_CHARTS))[0]


def _of_all(stack: Stack) -> Iterator[Outcome]:
    yield from clauses(
        *(_greedy(pod, stack) for pod in _askers(stack)),
        *(_named_in_vain(pool) for pool in _choosing(stack) if _nobody_has_files(stack)),
    )


def _release(source: Resource, stack: Stack) -> Iterator[Outcome]:
    configs = plugin_configs(source, stack)
    yield from clauses(
        _files(configs.files) if configs.inline else (),
        _default(source, configs, stack),
        *(_named_by(pool, configs) for pool in _choosing(stack) if configs.files),
        *(_mps(source, name, file, configs, stack) for name, file in configs.files.items()),
        *(_strategy(source, name, file, configs, stack) for name, file in configs.files.items()),
    )


def _files(files: Mapping[str, View]) -> Iterator[Outcome]:
    for name, file in files.items():
        for defect in defects(file):
            yield Problem(f"the configuration {name} {defect}")
        if unpinned(file):
            yield Problem(
                f"the configuration {name} does not say version: {DEVICE_PLUGIN_CONFIG_VERSION}, which the plugin then "
                "guesses",
                advisory=True,
            )


def _default(release: Resource, configs: PluginConfigs, stack: Stack) -> Iterator[Outcome]:
    chosen = configs.named.text()
    if not configs.files:
        return
    if chosen:
        if chosen not in configs.files:
            yield Problem(f"makes {chosen} the default, which is none of its configurations: {_names(configs)}")
        return
    if len(configs.files) == 1 or DEVICE_PLUGIN_DEFAULT_CONFIG in configs.files:
        if configs.default is not None or _is_chosen(stack):
            return
    elif _all_choose(stack):
        return
    operator = charts.name(release) == GPU_OPERATOR.name
    effect = "get an empty one: whole GPUs" if operator else "get none, and the plugin does not start there"
    yield Problem(
        f"names the configurations {_names(configs)} and no default: nodes without the label "
        f"{labels.DEVICE_PLUGIN_CONFIG} {effect}",
        advisory=operator and _is_chosen(stack),
    )


def _names(configs: PluginConfigs) -> str:
    return ", ".join(sorted(configs.files))


@once
def _is_chosen(stack: Stack) -> bool:
    return any(choice_of(pool) is not None for pool in stack.gpu_pools)


@once
def _all_choose(stack: Stack) -> bool:
    return bool(stack.gpu_pools) and all(choice_of(pool) is not None for pool in stack.gpu_pools)


@once
def _choosing(stack: Stack) -> tuple[Pool, ...]:
    """Return the GPU pools that name a configuration, or may do so."""
    return tuple(pool for pool in stack.gpu_pools if attempt(choice_of, pool) is not None)


def _named_by(pool: Pool, configs: PluginConfigs) -> Iterator[Outcome]:
    name = choice_of(pool)
    if name in configs.files:
        return
    yield Problem(
        f"names the configuration {name} by its label {labels.DEVICE_PLUGIN_CONFIG}, which is not among "
        f"{_names(configs)}: the plugin does not start there",
        urn=pool.urn,
        fix="correct the label, or add the configuration",
    )


def _named_in_vain(pool: Pool) -> Iterator[Outcome]:
    name = choice_of(pool)
    yield Problem(
        f"names the configuration {name} by its label {labels.DEVICE_PLUGIN_CONFIG}, and the plugin is given no "
        "configurations: the label does nothing, and its GPUs stay whole",
        urn=pool.urn,
        fix=f"give the chart a configuration {name}, or remove the label",
    )


@once
def _nobody_has_files(stack: Stack) -> bool:
    """Return whether the plugin is known to be given no configurations: by no release, and by nobody afterwards."""
    found = [attempt(plugin_configs, item, stack) for item in charts.releases(stack, *sorted(SHARING_CHARTS))]
    given = any(isinstance(configs, NotKnown) or configs.files for configs in found)
    return not given and not stack.of_type(tokens.CLUSTER_POLICY)


def _mps(release: Resource, name: str, file: View, configs: PluginConfigs, stack: Stack) -> Iterator[Outcome]:
    if not file.at("sharing", MPS, "resources").items():
        return
    if not discovers(release, stack) and not _capable(_getting(name, configs, stack)):
        yield Problem(
            f"the configuration {name} shares by {MPS} and GPU feature discovery is off: {MPS}'s daemon runs only on "
            f"nodes that it labels {discovery.MPS_CAPABLE}=true",
            fix="set gfd.enabled to true in the chart's values",
        )
    if said_strategy(release, file) == mig.MIXED:
        yield Problem(
            f"the configuration {name} shares by {MPS}, which the plugin refuses beside MIG strategy {mig.MIXED}"
        )


def _capable(pools: tuple[Pool, ...]) -> bool:
    """Return whether every pool that gets a configuration carries the label of MPS by itself."""
    return bool(pools) and all(need(pool.labels).get(discovery.MPS_CAPABLE) == "true" for pool in pools)


def _getting(name: str, configs: PluginConfigs, stack: Stack) -> tuple[Pool, ...]:
    return tuple(pool for pool in stack.gpu_pools if (choice_of(pool) or configs.default) == name)


def _strategy(release: Resource, name: str, file: View, configs: PluginConfigs, stack: Stack) -> Iterator[Outcome]:
    said = file.at("flags", "migStrategy").text()
    if said is None or charts.name(release) != GPU_OPERATOR.name:
        return
    wins = said_strategy(release, file)
    if said == wins or (said == _NOT_A_STRATEGY and not any(map(layout_of, _getting(name, configs, stack)))):
        return
    yield Problem(
        f"the configuration {name} says flags.migStrategy: {said}, but the operator's mig.strategy ({wins}) wins",
        fix="set mig.strategy in the operator's values, and remove the flag",
    )


@once
def _askers(stack: Stack) -> tuple[PodTemplate, ...]:
    return tuple(pod for pod in stack.pods if isinstance(attempt(several_asked, pod), tuple))


def _greedy(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    asked = several_asked(pod)
    pools = stack.landing(pod)
    splits = [pool.split for pool in pools]
    if asked is None or not splits:
        return
    name, pieces = asked
    if all(isinstance(split, Shares) and split.resource == name for split in splits):
        yield Problem(
            f"asks {pieces} {name}, of which {pools[0].name} makes several of one GPU: it is refused, or "
            "gets no more than one share",
            urn=pod.urn,
            fix="ask for one; take a pool with whole GPUs for more",
        )


def _example(config: str) -> Resource:
    return examples.release(
        "device-plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"config": {"map": {"default": f"version: {DEVICE_PLUGIN_CONFIG_VERSION}\n{config}"}}},
    )


_SLICED: Final = "sharing:\n  timeSlicing:\n    {}:\n      - name: {}\n        replicas: 4\n"

RULE: Final = Rule(
    id="SHARE001",
    title="Sharing config says what it means",
    severity=Severity.HIGH,
    why=(
        "The device plugin ignores keys that it does not know: a misspelt sharing configuration shares nothing, and "
        "nobody is told. What it does refuse, such as one replica or a configuration that is not there, keeps it from "
        "starting, and the node's GPUs are never advertised."
    ),
    fix="write the file as NVIDIA documents it, with a default; DevicePlugin and GpuOperator write it from settings",
    lessons=("G03",),
    levels=EVERYWHERE,
    looks_at=Subjects[_Subject](
        "sharing configurations", POOL_TYPES | tokens.HELM | {tokens.CONFIG_MAP}, _sources, _concerned
    ),
    check=_check,
    failing=Example((_example(_SLICED.format("resource", resources.GPU)), examples.node_pool())),
    passing=Example((_example(_SLICED.format("resources", resources.GPU)), examples.node_pool())),
)
