"""Pod templates: a mapping whose ``containers`` lists named mappings, at any depth of any Kubernetes object.

So one reader serves Deployments, Jobs, JobSets, Ray clusters and kinds that nobody has invented yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels as keys
from eks_gpu.planning.pod_template import (
    Container,
    Mount,
    PodTemplate,
    PodVolume,
    Toleration,
    WorkloadKind,
)
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.requirements import Requirement, from_labels, read_requirements
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource

_NOT_CARRIERS: Final = (
    "kubernetes:helm.sh/",
    "kubernetes:apiextensions.k8s.io/",
    "kubernetes:admissionregistration.k8s.io/",
    "kubernetes:kyverno.io/",
    "kubernetes:policies.kyverno.io/",
    "kubernetes:templates.gatekeeper.sh/",
    "kubernetes:karpenter",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:Secret",
)
"""Objects that talk about pods rather than carry one: schemas, admission policies, charts (read by their values)."""

_DEPTH: Final = 40
"""Deeper than any object nests; properties from a program may be nested without end."""

_TRAINING_OWNERS: Final = frozenset({"PyTorchJob", "MPIJob", "TrainJob", "JobSet"})
_INFERENCE_OWNERS: Final = frozenset(
    {
        "Deployment",
        "StatefulSet",
        "LeaderWorkerSet",
        "InferenceService",
        "LLMInferenceService",
        "ServingRuntime",
        "ClusterServingRuntime",
        "RayService",
        "Rollout",
    }
)
_JOB: Final = "Job"
_CARRIERS: Final = (
    _TRAINING_OWNERS
    | _INFERENCE_OWNERS
    | {
        _JOB,
        "Pod",
        "PodTemplate",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "CronJob",
        "RayCluster",
        "RayJob",
    }
)
"""Kinds that always carry a pod template: where none is to be seen, it hides in something that is not known."""

_SHORT_JOB_SECONDS: Final = 3600


def read_pods(resource: Resource) -> Iterator[PodTemplate]:
    """Yield every pod template that a resource carries."""
    if not tokens.is_kubernetes(resource.type) or resource.type.startswith(_NOT_CARRIERS):
        return
    found = tuple(_specs(resource.view))
    if resource.type.startswith(_WORKFLOWS):
        found += tuple(_steps(resource.view["spec"]))
    if not found and tokens.kind(resource.type) in _CARRIERS:
        found = tuple(_hidden(resource.view["spec"]))
    for spec, metadata in found:
        yield _pod(resource, spec, metadata)


def _specs(root: View) -> Iterator[tuple[View, View]]:
    """Yield the place of each pod's spec with that of its metadata, which is beside it."""
    pending = [(root, root, 0)]
    while pending:
        place, above, depth = pending.pop()
        if depth > _DEPTH or place.data is UNKNOWN:
            continue
        if isinstance(place.data, Mapping):
            if _is_pod_spec(place):
                yield place, above["metadata"]
                continue
            pending.extend((child, place, depth + 1) for _, child in place.entries())
        elif isinstance(place.data, list | tuple):
            pending.extend((child, above, depth + 1) for child in place.items())


def _steps(spec: View) -> Iterator[tuple[View, View]]:
    """Yield the pods of an Argo workflow: each step has one container, under a name of its own."""
    for place in (spec, spec["workflowSpec"]):
        templates = attempt(place["templates"].items)
        if isinstance(templates, NotKnown):
            yield place["templates"], place
            return
        for step in templates:
            for key in _STEPS:
                if isinstance(step[key].data, Mapping):
                    yield _with_one_container(step, key), step["metadata"]


def _with_one_container(step: View, key: str) -> View:
    content, container = dict(step.entries()), dict(step[key].entries())
    data: dict[str, object] = {name: place.data for name, place in content.items()}
    data["containers"] = [{"name": key, **{name: place.data for name, place in container.items()}}]
    return View(data, step.source, step.path)


_WORKFLOWS: Final = "kubernetes:argoproj.io/"
_STEPS: Final = ("container", "script")


def _hidden(place: View) -> Iterator[tuple[View, View]]:
    """Yield the first place that is not known, on the way from an object's spec to its containers."""
    while place.data is not UNKNOWN:
        below = [place[key] for key in _ON_THE_WAY if isinstance(place.data, Mapping) and key in place.data]
        if not below:
            return
        place = below[0]
    yield place, place


_ON_THE_WAY: Final = ("jobTemplate", "template", "spec", "containers")


def _is_pod_spec(place: View) -> bool:
    containers = place.data.get("containers") if isinstance(place.data, Mapping) else None
    if containers is UNKNOWN:
        return True
    return (
        isinstance(containers, list | tuple)
        and bool(containers)
        and all(item is UNKNOWN or (isinstance(item, Mapping) and "name" in item) for item in containers)
    )


def _pod(owner: Resource, spec: View, metadata: View) -> PodTemplate:
    labels = attempt(metadata["labels"].text_map)
    containers = attempt(lambda: _containers(spec["containers"]))
    init = attempt(lambda: _containers(spec["initContainers"]))
    owner_kind = tokens.kind(owner.type)
    return PodTemplate(
        urn=owner.urn,
        name=owner.name,
        owner_kind=owner_kind,
        path=spec.path,
        kind=attempt(lambda: _kind(owner, owner_kind, need(labels), spec)),
        labels=labels,
        annotations=attempt(metadata["annotations"].text_map),
        containers=containers,
        init_containers=init,
        volumes=attempt(lambda: _volumes(spec["volumes"])),
        tolerations=attempt(lambda: _tolerations(spec["tolerations"])),
        selector=attempt(lambda: from_labels(spec["nodeSelector"].text_map())),
        affinity=attempt(lambda: _affinity(spec)),
        runtime_class=attempt(spec["runtimeClassName"].text),
        spec=spec,
    )


def _containers(place: View) -> tuple[Container, ...]:
    return tuple(_container(item) for item in place.items())


def _container(place: View) -> Container:
    resources = place["resources"]
    return Container(
        name=place["name"].text() or "",
        image=attempt(lambda: place["image"].text() or ""),
        requests=attempt(resources["requests"].text_map),
        limits=attempt(resources["limits"].text_map),
        mounts=attempt(lambda: _mounts(place["volumeMounts"])),
        claims_devices=bool(resources["claims"].items()),
        place=place,
    )


def _mounts(place: View) -> tuple[Mount, ...]:
    return tuple(
        Mount(item["name"].text() or "", item["mountPath"].text() or "", item["readOnly"].boolean() is True)
        for item in place.items()
    )


def _volumes(place: View) -> tuple[PodVolume, ...]:
    return tuple(PodVolume(item["name"].text() or "", item) for item in place.items())


def _tolerations(place: View) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(
            key=item["key"].text(),
            operator=item["operator"].text() or "Equal",
            value=item["value"].text() or "",
            effect=item["effect"].text(),
        )
        for item in place.items()
    )


def _affinity(spec: View) -> tuple[tuple[Requirement, ...], ...]:
    required = spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return tuple(read_requirements(term["matchExpressions"].items()) for term in required["nodeSelectorTerms"].items())


def _kind(owner: Resource, owner_kind: str, labels: Mapping[str, str], spec: View) -> WorkloadKind:
    """Return what the pods are for: by their label, or the owner's, else by the kind of owner."""
    said = labels.get(keys.WORKLOAD) or owner.view.at("metadata", "labels", keys.WORKLOAD).text()
    if said in keys.WORKLOADS:
        return WorkloadKind(said)
    if owner_kind in _TRAINING_OWNERS or (owner_kind == _JOB and not _is_short(owner.view["spec"], spec)):
        return WorkloadKind.TRAINING
    return WorkloadKind.INFERENCE if owner_kind in _INFERENCE_OWNERS else WorkloadKind.OTHER


def _is_short(job: View, pod: View) -> bool:
    seconds = job["activeDeadlineSeconds"].number() or pod["activeDeadlineSeconds"].number()
    return seconds is not None and seconds <= _SHORT_JOB_SECONDS
