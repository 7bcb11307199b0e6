"""SOFT007: GPU charts wait, in order, and their hooks run.

Timeout and atomicity are one condition: an awaited release that gives up before a GPU image is pulled is only half
installed, unless it is atomic. Whether a release reaches the node groups is asked of those that the stack has; one of
them is enough, because the first nodes are all that its controllers need. Nodes of an ``eks.Cluster``'s own are there
before anything that uses a provider made of its outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.chart_defaults.nvidia import CHARTS
from eks_gpu.facts.gpu_software import CLUSTER_POLICY_API, CLUSTER_POLICY_KIND, CLUSTER_POLICY_READY
from eks_gpu.facts.labels import HELM_HOOK, WAIT_FOR
from eks_gpu.facts.versions import EFA_DEVICE_PLUGIN, GPU_OPERATOR
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.cluster import in_cluster_component
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_GPU_CHARTS: Final = frozenset({chart.chart for chart in CHARTS} | {EFA_DEVICE_PLUGIN.name})
_LONG_ENOUGH: Final = 900
"""Seconds: a node that has to come first, and an image of many gigabytes."""
_DEFAULT_TIMEOUT: Final = 300
_JOB: Final = "kubernetes:batch/v1:Job"
_SUFFERED_HOOKS: Final = frozenset({"pre-delete", "pre-upgrade"})
_GROUPS: Final = (tokens.NODE_GROUP, tokens.MANAGED_NODE_GROUP, tokens.AUTO_SCALING_GROUP)


def _concerned(resource: Resource, _stack: Stack) -> bool:
    if tokens.whole(resource.type) in tokens.HELM:
        return bool(resource.props) and charts.name(resource) in _GPU_CHARTS
    return resource.view.at("metadata", "annotations", HELM_HOOK).exists


def _check(resource: Resource, stack: Stack) -> Iterator[Outcome]:
    if stack.options.manifests_only:
        return
    if tokens.whole(resource.type) in tokens.HELM:
        yield from clauses(_awaited(resource, stack), _ordered(resource, stack), _hooks_off(resource))
    else:
        yield from _hook(resource)


def _awaited(release: Resource, stack: Stack) -> Iterator[Outcome]:
    view = release.view
    if view["skipAwait"].boolean():
        if release.urn not in stack.gated:
            yield Problem(
                f"installs {charts.name(release)} without waiting for it, and nothing else waits: what comes next "
                "finds nodes whose GPUs are not offered yet",
                fix="take skipAwait away, or let a CustomResourcePatch with the annotation "
                f"{WAIT_FOR}: {CLUSTER_POLICY_READY} depend on the release, as GpuOperator does",
            )
        return
    timeout = view["timeout"].number()
    seconds = _DEFAULT_TIMEOUT if timeout is None else timeout
    if tokens.whole(release.type) == tokens.HELM_RELEASE and seconds < _LONG_ENOUGH and not view["atomic"].boolean():
        said = "by default" if timeout is None else "as told"
        yield Problem(
            f"gives {charts.name(release)} {seconds:g} s ({said}) and is not atomic: a GPU image takes longer to pull, "
            "and the release stays failed, half installed",
            fix=f"set timeout: {_LONG_ENOUGH} or more, or atomic: true, as our HelmChart does",
        )


def _ordered(release: Resource, stack: Stack) -> Iterator[Outcome]:
    groups = stack.of_type(*_GROUPS)
    if any(in_cluster_component(group, stack) for group in groups):
        return
    if groups and stack.graph.before(release.urn).isdisjoint(group.urn for group in groups):
        yield Problem(
            f"installs {charts.name(release)} without depending on a node group of the stack: that there are nodes to "
            "run it is luck",
            fix=f"let {release.name} depend on {groups[0].name}",
        )


def _hooks_off(release: Resource) -> Iterator[Outcome]:
    if charts.name(release) == GPU_OPERATOR.name and release.view["disableWebhooks"].boolean():
        yield Problem(
            "installs the GPU Operator with its hooks disabled: they upgrade its CRDs, and a new operator then meets "
            "old ones",
            fix="take disableWebhooks away",
        )


def _hook(job: Resource) -> Iterator[Outcome]:
    said = job.view.at("metadata", "annotations", HELM_HOOK).text() or ""
    suffered = sorted(_SUFFERED_HOOKS & {word.strip() for word in said.split(",")})
    if suffered:
        yield Problem(
            f"is a hook of Helm ({', '.join(suffered)}) and an ordinary resource here: it runs now, at installation, "
            "and what it cleans away or prepares for is what has just been installed",
            fix="install the chart by kubernetes.helm.v3.Release, which runs hooks when they are due, or leave the "
            "Job out",
        )


_SETTINGS: Final = {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
_RELEASE: Final = examples.release(
    "gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=_SETTINGS, skipAwait=True
)
_GATE: Final = examples.resource(
    f"kubernetes:{CLUSTER_POLICY_API}:{CLUSTER_POLICY_KIND}Patch",
    "ready",
    {"metadata": {"name": "cluster-policy", "annotations": {WAIT_FOR: CLUSTER_POLICY_READY}}},
    after=(_RELEASE,),
)

RULE: Final = Rule(
    id="SOFT007",
    title="GPU charts wait, in order, hooks run",
    severity=Severity.MEDIUM,
    why=(
        "A chart that nobody waits for, or that gives up before its images are pulled, leaves a green deployment "
        "without GPUs. One that is installed before there are nodes works or fails by luck. Hooks that run at the "
        "wrong time delete the custom resources that the next step needs."
    ),
    fix=(
        "wait for the release, or for the object that says it is ready; give it 900 s and let it depend on a node "
        "group, as DevicePlugin and GpuOperator do"
    ),
    lessons=("G06", "G02"),
    levels=PRODUCTION_ONLY,
    looks_at=Subjects[Resource](
        "GPU charts, and Jobs that are hooks of Helm",
        tokens.HELM | {_JOB},
        lambda stack: stack.of_type(*sorted(tokens.HELM), _JOB),
        _concerned,
    ),
    check=_check,
    failing=Example((_RELEASE,)),
    passing=Example((_RELEASE, _GATE)),
)
