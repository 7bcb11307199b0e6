"""Pod templates, whatever kind of object carries them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import labels as keys
from eks_gpu.planning.pod_template import (
    Container,
    Mount,
    PodTemplate,
    PodVolume,
    Preference,
    Toleration,
    WorkloadKind,
)
from eks_gpu.planning.reading import View, attempt, need
from eks_gpu.planning.requirements import Requirement, from_labels, read_requirements, read_terms
from eks_gpu.planning.trials import NOTEBOOK
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.carriers import templates
from eks_gpu_policies.readers.device_claims import claims_a_gpu
from eks_gpu_policies.resource import Resource

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
_NAMES: Final = frozenset({keys.EKS_NODE_GROUP, keys.KARPENTER_NODEPOOL})
"""Labels whose value is a pool's own name."""
_JOB: Final = "Job"
SHORT_JOB_SECONDS: Final = 3600
_RESTARTS: Final = "Always"
"""Restart policy of an init container that is a sidecar."""


def read_pods(resource: Resource, program: Program | None = None) -> Iterator[PodTemplate]:
    """Yield every pod template that a resource carries; claims on devices are looked up in the program."""
    whole = program or Program(())
    for spec, metadata in templates(resource):
        yield _pod(resource, spec, metadata, whole)


def _pod(owner: Resource, spec: View, metadata: View, program: Program) -> PodTemplate:
    labels = attempt(metadata["labels"].text_map)
    containers = attempt(lambda: _containers(spec["containers"], spec, program))
    init = attempt(lambda: _containers(spec["initContainers"], spec, program))
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
        overhead=attempt(spec["overhead"].text_map),
        pod_requests=attempt(lambda: _as_a_whole(spec["resources"])),
        volumes=attempt(lambda: _volumes(spec["volumes"])),
        tolerations=attempt(lambda: _tolerations(spec["tolerations"])),
        selector=attempt(lambda: _selector(spec["nodeSelector"])),
        affinity=attempt(lambda: _affinity(spec)),
        preferred=attempt(lambda: _preferred(spec)),
        runtime_class=attempt(spec["runtimeClassName"].text),
        spec=spec,
    )


def _containers(place: View, pod: View, program: Program) -> tuple[Container, ...]:
    return tuple(_container(item, pod, program) for item in place.items())


def _container(place: View, pod: View, program: Program) -> Container:
    resources = place["resources"]
    return Container(
        name=place["name"].text() or "",
        image=attempt(lambda: place["image"].text() or ""),
        requests=attempt(resources["requests"].text_map),
        limits=attempt(resources["limits"].text_map),
        mounts=attempt(lambda: _mounts(place["volumeMounts"])),
        claims_devices=claims_a_gpu(place, pod, program),
        restarts=attempt(lambda: place["restartPolicy"].text() == _RESTARTS),
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


def _selector(place: View) -> tuple[Requirement, ...]:
    """Read a node selector. Who selects a pool by a name that Pulumi is to choose selects one that has a name."""
    unnamed = [key for key, value in place.entries() if key in _NAMES and value.data is UNKNOWN]
    known = {key: text for key, value in place.entries() if key not in unnamed and (text := value.text()) is not None}
    return (*from_labels(known), *(Requirement(key, "Exists") for key in unnamed))


def _affinity(spec: View) -> tuple[tuple[Requirement, ...], ...]:
    required = spec.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return read_terms(required["nodeSelectorTerms"])


def _preferred(spec: View) -> tuple[Preference, ...]:
    terms = spec.at("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution").items()
    return tuple(
        Preference(term["weight"].integer() or 1, read_requirements(term.at("preference", "matchExpressions").items()))
        for term in terms
    )


def _as_a_whole(resources: View) -> dict[str, str]:
    return {**resources["limits"].text_map(), **resources["requests"].text_map()}


def _kind(owner: Resource, owner_kind: str, labels: Mapping[str, str], spec: View) -> WorkloadKind:
    """Return what the pods are for: by their label, or the owner's, else by the kind of owner and by their image."""
    said = labels.get(keys.WORKLOAD) or owner.view.at("metadata", "labels", keys.WORKLOAD).text()
    if said in keys.WORKLOADS:
        return WorkloadKind(said)
    if owner_kind in _TRAINING_OWNERS or (owner_kind == _JOB and not _is_short(owner.view["spec"], spec)):
        return WorkloadKind.TRAINING
    if owner_kind not in _INFERENCE_OWNERS:
        return WorkloadKind.OTHER
    return WorkloadKind.DEVELOPMENT if _is_a_notebook(spec) else WorkloadKind.INFERENCE


def _is_a_notebook(spec: View) -> bool:
    """Return whether a container's image is known to be one that somebody works in."""
    images = attempt(lambda: [item["image"].text() or "" for item in spec["containers"].items()])
    return isinstance(images, list) and any(NOTEBOOK.search(image) for image in images)


def _is_short(job: View, pod: View) -> bool:
    seconds = job["activeDeadlineSeconds"].number() or pod["activeDeadlineSeconds"].number()
    return seconds is not None and seconds <= SHORT_JOB_SECONDS
