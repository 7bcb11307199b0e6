"""SOFT006: versions work together.

Judged are releases that nobody should install, Karpenter and the GPU Operator against the cluster's Kubernetes, the
cluster's Kubernetes itself, the DRA driver, the driver that a GPU family needs, and the CUDA that an image names. What
is newer than the tables is not evaluated. NVIDIA's monthly images are not judged by their CUDA: they bring a driver's
user part along that runs on older ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import compatibility as facts
from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.readers.cluster import kubernetes_version
from eks_gpu_policies.readers.drivers import branch_of_image
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack, Whole

_NUMBERS: Final = re.compile(r"v?(\d+(?:\.\d+)*)")
_CUDA: Final = re.compile(r"cuda[-_:]?(\d{2})(?:[._]\d)?|[-_.]cu(\d{2})\d(?!\d)")


def _concerned(_whole: Whole, stack: Stack) -> bool:
    return bool(stack.of_type(*sorted(tokens.HELM | tokens.CLUSTERS)))


def _check(_whole: Whole, stack: Stack) -> Iterator[Outcome]:
    releases = stack.of_type(*sorted(tokens.HELM))
    # A component that the engine has expanded stands beside the cluster that it made.
    clusters = [each for each in stack.of_type(*sorted(tokens.CLUSTERS)) if not stack.contains(each, *tokens.CLUSTERS)]
    yield from clauses(
        *(_cluster(cluster) for cluster in clusters),
        *(_release(release, stack) for release in releases),
        *(_driver(pool, stack) for pool in stack.gpu_pools),
    )


def _numbers(text: str | None) -> facts.Version | None:
    match = _NUMBERS.match(text or "")
    return tuple(int(part) for part in match[1].split(".")) if match else None


def _spelled(version: facts.Version) -> str:
    return ".".join(map(str, version))


# --- the cluster -----------------------------------------------------------------------------------------------------


def _cluster(cluster: Resource) -> Iterator[Outcome]:
    place = cluster.view["version"]
    version = _numbers(place.text())
    if version is None or len(version) < len(facts.OLDEST_KUBERNETES):
        return
    if version < facts.OLDEST_KUBERNETES:
        yield Problem(
            f"runs Kubernetes {_spelled(version)}, older than {_spelled(facts.OLDEST_KUBERNETES)}, the oldest that "
            "today's GPU software is made for",
            urn=cluster.urn,
            fix=f"upgrade the cluster, one minor version at a time, to {_spelled(facts.OLDEST_KUBERNETES)} or newer",
        )
    elif version[:2] > facts.NEWEST_KUBERNETES:
        yield Undecided("version", f"Kubernetes {_spelled(version)} is newer than what was checked")


# --- charts ----------------------------------------------------------------------------------------------------------


def _release(release: Resource, stack: Stack) -> Iterator[Outcome]:
    chart = charts.name(release)
    if chart not in _JUDGED:
        return
    version = _numbers(release.view["version"].text())
    if version is not None:
        yield from clauses(_broken(chart, version, release), _with_cluster(chart, version, release, stack))
    elif chart in facts.DRA_DRIVER_CHARTS:
        yield from _with_cluster(chart, (), release, stack)


_JUDGED: Final = frozenset(
    {GPU_OPERATOR.name, NVIDIA_DEVICE_PLUGIN.name, *facts.KARPENTER_CHARTS, *facts.DRA_DRIVER_CHARTS}
)


def _broken(chart: str, version: facts.Version, release: Resource) -> Iterator[Outcome]:
    for each in facts.BROKEN:
        if each.chart == chart and each.first <= version <= each.last:
            yield Problem(
                f"installs {chart} {_spelled(version)}: {each.because}",
                urn=release.urn,
                fix=f"install {each.instead} or newer",
            )


def _with_cluster(chart: str, version: facts.Version, release: Resource, stack: Stack) -> Iterator[Outcome]:
    if chart == NVIDIA_DEVICE_PLUGIN.name:
        return
    kubernetes = kubernetes_version(stack)
    if chart in facts.KARPENTER_CHARTS:
        yield from _karpenter(version, kubernetes, release)
    elif chart in facts.DRA_DRIVER_CHARTS:
        yield from _dra(kubernetes, release)
    else:
        yield from _operator(version, kubernetes, release)


def _karpenter(version: facts.Version, kubernetes: facts.Minor, release: Resource) -> Iterator[Outcome]:
    least = facts.KARPENTER_AT_LEAST.get(kubernetes)
    if least is None:
        yield Undecided("version", f"which Karpenter Kubernetes {_spelled(kubernetes)} needs")
    elif version < least[: len(version)]:
        yield Problem(
            f"installs Karpenter {_spelled(version)} on Kubernetes {_spelled(kubernetes)}, which needs "
            f"{_spelled(least)} or newer: it stops buying nodes when the API that it was built for goes",
            urn=release.urn,
            fix=f"upgrade Karpenter and its CRDs to {_spelled(least)} or newer, before the cluster",
        )


def _dra(kubernetes: facts.Minor, release: Resource) -> Iterator[Outcome]:
    if kubernetes < facts.DRA_SINCE:
        yield Problem(
            f"installs the DRA driver on Kubernetes {_spelled(kubernetes)}, where claims of devices are not served; "
            f"they are from {_spelled(facts.DRA_SINCE)} on",
            urn=release.urn,
            fix="use the device plugin there, or upgrade the cluster",
        )


def _operator(version: facts.Version, kubernetes: facts.Minor, release: Resource) -> Iterator[Outcome]:
    line = version[:2]
    known = facts.OPERATOR_ON.get(line)
    if known is None:
        if len(line) < len(kubernetes) or line > max(facts.OPERATOR_ON):
            yield Undecided("version", f"which Kubernetes the GPU Operator {_spelled(line)} runs on")
        else:
            yield Problem(f"installs the GPU Operator {_spelled(version)}, which NVIDIA has given up", urn=release.urn)
    elif not known[0] <= kubernetes <= known[1]:
        yield Problem(
            f"installs the GPU Operator {_spelled(version)} on Kubernetes {_spelled(kubernetes)}; it was made for "
            f"{_spelled(known[0])} to {_spelled(known[1])}",
            urn=release.urn,
            fix=f"install {_fitting(kubernetes)}",
        )


def _fitting(kubernetes: facts.Minor) -> str:
    lines = [line for line, (first, last) in facts.OPERATOR_ON.items() if first <= kubernetes <= last]
    return f"a release {_spelled(max(lines))}" if lines else "the release that lists this version of Kubernetes"


# --- drivers ---------------------------------------------------------------------------------------------------------


def _driver(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    branch, source = _branch(pool, stack)
    if isinstance(branch, NotKnown):
        if any(kind.family in facts.DRIVER_AT_LEAST for kind in pool.gpu_types):
            yield undecided(branch)
        return
    families = {kind.family for kind in pool.gpu_types if facts.DRIVER_AT_LEAST.get(kind.family, 0) > branch}
    for family in sorted(families):
        yield Problem(
            f"buys {family}, whose GPUs need NVIDIA's driver {facts.DRIVER_AT_LEAST[family]}; {source} has {branch}",
            urn=pool.urn,
            fix="boot a newer release of the image, or take another instance family",
        )
    if branch < max(facts.CUDA_NEEDS_DRIVER.values()):
        yield from _cuda(pool, branch, source, stack)


def _branch(pool: Pool, stack: Stack) -> tuple[int | NotKnown, str]:
    """Return the branch of a pool's driver, and what brings it: the operator, where it may, else the image."""
    for daemon in stack.daemon_reach.of_role(Role.DRIVER):
        if daemon.doubt is None and not need(attempt(daemon.opted_out, pool)):
            version = attempt(stack.by_urn[daemon.urn].view.at("values", "driver", "version").text)
            source = f"the operator {daemon.owner}"
            if isinstance(version, NotKnown):
                return version, source
            numbers = _numbers(version)
            if numbers is not None:
                return numbers[0], source
    return attempt(branch_of_image, pool), "its image"


def _cuda(pool: Pool, branch: int, source: str, stack: Stack) -> Iterator[Outcome]:
    for pod in stack.lodgers(pool):
        for container in need(pod.containers):
            match = _CUDA.search(need(container.image))
            major = int(match[1] or match[2]) if match else 0
            least = facts.CUDA_NEEDS_DRIVER.get(major, 0)
            if least > branch:
                yield Problem(
                    f"runs {container.name} with CUDA {major}, which needs NVIDIA's driver {least}; on {pool.name} "
                    f"{source} has {branch}",
                    urn=pod.urn,
                    fix=f"build the image on an older CUDA, or bring the driver to {least}",
                )


_CLUSTER: Final = examples.resource("aws:eks/cluster:Cluster", "ml", {"version": "1.35"})

RULE: Final = Rule(
    id="SOFT006",
    title="Versions work together",
    severity=Severity.HIGH,
    why=(
        "Karpenter, the GPU Operator and NVIDIA's driver are each made for a range of versions of what is beneath "
        "them. Outside of it nodes are no longer bought, operands crash, or programs find no GPU; and some releases "
        "break every pod that uses RDMA."
    ),
    fix="take versions that are known to work together; our components take theirs from eks_gpu.facts.versions",
    lessons=("G07", "G03"),
    looks_at=Subjects[Whole](
        "clusters, charts, GPU pools and images",
        tokens.HELM | tokens.CLUSTERS,
        lambda stack: (stack.whole,),
        _concerned,
    ),
    check=_check,
    failing=Example((_CLUSTER, examples.release("gpu-operator", GPU_OPERATOR.name, "v26.3.1"))),
    passing=Example((_CLUSTER, examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version))),
)
