"""COST004: GPU quotas are enforced.

Kubernetes counts an extended resource under ``requests.<name>`` alone. It accepts ``limits.<name>`` and the bare name
as well, and then counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import resources
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.namespaces import by_namespace, namespace_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import (
    EVERYWHERE,
    Example,
    Outcome,
    Problem,
    Rule,
    Severity,
    Subjects,
    Undecided,
    clauses,
)
from eks_gpu_policies.stack import Stack

_LIMITS: Final = "limits."
_VENDOR: Final = resources.GPU.partition("/")[0] + "/"


@dataclass(frozen=True)
class _Quota:
    """A quota with what else is in its namespace."""

    urn: str
    name: str
    hard: View
    scoped: bool | NotKnown
    """Whether it counts only some of the pods."""
    counted: frozenset[str] | NotKnown
    """What all quotas of the namespace together count."""
    pods: tuple[PodTemplate, ...] | NotKnown
    elsewhere: tuple[tuple[NotKnown, PodTemplate], ...]
    """Pods of which nobody can tell whether they are in the namespace."""


def _quotas(stack: Stack) -> Iterator[_Quota]:
    quotas = stack.of_type(tokens.RESOURCE_QUOTA)
    if not quotas:
        return
    pods = by_namespace(stack.pods, stack)
    elsewhere = tuple((place, pod) for place, found in pods.items() if isinstance(place, NotKnown) for pod in found)
    homes = {quota.urn: attempt(namespace_of, quota, stack) for quota in quotas}
    counted: dict[str | NotKnown, frozenset[str]] = {}
    for quota in quotas:
        home = homes[quota.urn]
        counted[home] = counted.get(home, frozenset()) | frozenset(_keys(quota))
    for quota in quotas:
        home = homes[quota.urn]
        spec = quota.view["spec"]
        yield _Quota(
            quota.urn,
            quota.name,
            spec["hard"],
            attempt(_is_scoped, spec),
            home if isinstance(home, NotKnown) else counted[home],
            home if isinstance(home, NotKnown) else pods.get(home, ()),
            elsewhere,
        )


def _is_scoped(spec: View) -> bool:
    return spec["scopes"].exists or spec["scopeSelector"].exists


def _keys(quota: Resource) -> tuple[str, ...]:
    found = attempt(lambda: tuple(key for key, _ in quota.view.at("spec", "hard").entries()))
    return () if isinstance(found, NotKnown) else found


def _is_on_gpus(quota: _Quota, _stack: Stack) -> bool:
    return any(resources.is_gpu(_resource(key)) or key.startswith(_VENDOR) for key, _ in quota.hard.entries())


def _resource(key: str) -> str:
    """Return the resource that a quota's key is about."""
    prefix = resources.quota("")
    return key.removeprefix(_LIMITS) if key.startswith(_LIMITS) else key.removeprefix(prefix)


def _check(quota: _Quota, _stack: Stack) -> Iterator[Outcome]:
    hard = dict(quota.hard.entries())
    yield from clauses(
        *(_limit(key, hard) for key in hard if key.startswith(_LIMITS) and "/" in key),
        (_bare(key) for key in hard if key.startswith(_VENDOR)),
        _uncounted(quota, hard),
    )


def _limit(key: str, hard: Mapping[str, View]) -> Iterator[Outcome]:
    name = _resource(key)
    counted = resources.quota(name)
    most = hard[key].text() or ""
    said = f"limits {name} to {most} by {key}, which Kubernetes accepts and never enforces"
    if counted not in hard:
        yield Problem(said, fix=_fix(name))
    elif quantity(hard[counted].text() or "") != quantity(most):
        enforced = hard[counted].text()
        yield Problem(f"{said}; what it does enforce is another figure, {enforced} by {counted}", fix=_fix(name))


def _bare(key: str) -> Outcome:
    return Problem(f"has the key {key}, which Kubernetes accepts and never enforces", fix=_fix(key))


def _fix(name: str) -> str:
    return f"count {resources.quota(name)}"


def _uncounted(quota: _Quota, hard: Mapping[str, View]) -> Iterator[Outcome]:
    """Yield a problem for what pods beside the quota ask and no quota counts."""
    enforced = [key for key in hard if key.startswith(resources.quota(_VENDOR))]
    if not enforced or need(quota.scoped):
        return
    users: dict[str, list[str]] = {}
    counted = need(quota.counted)
    for pod in need(quota.pods):
        for name in _uncounted_names(pod, counted):
            users.setdefault(name, []).append(pod.name)
    for name, pods in users.items():
        more = f" and {len(pods) - 1} more" if len(pods) > 1 else ""
        yield Problem(
            f"counts {', '.join(enforced)}, but {pods[0]}{more} in its namespace asks {name}, which no quota counts",
            fix=_fix(name),
        )
    for place, pod in quota.elsewhere:
        asked = attempt(_uncounted_names, pod, counted)
        if isinstance(asked, tuple) and asked:
            yield Undecided(place.path, f"whether {pod.name} is in the quota's namespace is {place.reason}")


def _uncounted_names(pod: PodTemplate, counted: frozenset[str]) -> tuple[str, ...]:
    asked = {name: None for container in pod.all_containers for name in container.gpu_resources}
    return tuple(name for name in asked if resources.quota(name) not in counted)


def _quota(**hard: str) -> Resource:
    props = {"metadata": {"name": "gpus", "namespace": "team-a"}, "spec": {"hard": hard}}
    return examples.resource(tokens.RESOURCE_QUOTA, "gpus", props)


RULE: Final = Rule(
    id="COST004",
    title="GPU quotas are enforced",
    severity=Severity.HIGH,
    why=(
        "Kubernetes accepts limits.nvidia.com/gpu in a ResourceQuota and never counts it: the team that is allowed "
        "sixteen GPUs takes a hundred, and the quota shows none used. Shares and MIG slices are resources of their "
        "own, which a quota on whole GPUs does not see."
    ),
    fix="count requests.<resource> for every GPU resource that the namespace's pods ask",
    lessons=("W13",),
    levels=EVERYWHERE,
    looks_at=Subjects[_Quota]("quotas on GPUs", frozenset({tokens.RESOURCE_QUOTA}), _quotas, _is_on_gpus),
    check=_check,
    failing=Example((_quota(**{f"{_LIMITS}{resources.GPU}": "16"}),)),
    passing=Example((_quota(**{resources.quota(resources.GPU): "16"}),)),
)
