"""Where pod templates lie in the objects that carry them.

Anywhere: a mapping whose ``containers`` lists named mappings is the spec of a pod, at any depth of any Kubernetes
object. So one search serves Deployments, JobSets, Ray clusters and kinds that nobody has invented yet. Three kinds
describe pods in words of their own, and are translated: Argo's workflows, KServe's InferenceServices and Kubeflow's
TrainJobs. What the last two leave to a runtime elsewhere is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource

Template = tuple[View, View]
"""The place of a pod's spec with that of its metadata."""

_NOT_CARRIERS: Final = (
    "kubernetes:helm.sh/",
    "kubernetes:apiextensions.k8s.io/",
    "kubernetes:admissionregistration.k8s.io/",
    "kubernetes:kyverno.io/",
    "kubernetes:policies.kyverno.io/",
    "kubernetes:templates.gatekeeper.sh/",
    "kubernetes:constraints.gatekeeper.sh/",
    "kubernetes:karpenter",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:Secret",
)
"""Objects that talk about pods rather than carry one: schemas, admission policies, charts (read by their values)."""

_ALWAYS: Final = frozenset(
    {
        "Pod",
        "PodTemplate",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
        "CronJob",
        "JobSet",
        "LeaderWorkerSet",
        "PyTorchJob",
        "MPIJob",
        "RayCluster",
        "RayJob",
        "RayService",
        "Rollout",
        "ServingRuntime",
        "ClusterServingRuntime",
        "LLMInferenceService",
    }
)
"""Kinds that always carry a pod template: where none is to be seen, it hides in something that is not known."""

_DEPTH: Final = 40
"""Deeper than any object nests; properties from a program may be nested without end."""

_WORKFLOWS: Final = "kubernetes:argoproj.io/"
_SERVICES: Final = "kubernetes:serving.kserve.io/"
_TRAIN_JOBS: Final = "kubernetes:trainer.kubeflow.org/"


def templates(resource: Resource) -> Iterator[Template]:
    """Yield every pod template that a resource carries."""
    if not tokens.is_kubernetes(resource.type) or resource.type.startswith(_NOT_CARRIERS):
        return
    if resource.type.startswith(_TRAIN_JOBS) and tokens.kind(resource.type) == "TrainJob":
        yield from _trainer(resource.view)
        return
    found = tuple(_specs(resource.view))
    if resource.type.startswith(_WORKFLOWS):
        found += tuple(_steps(resource.view["spec"]))
    if resource.type.startswith(_SERVICES):
        found += tuple(_predictors(resource.view))
    if not found and tokens.kind(resource.type) in _ALWAYS:
        found = tuple(_hidden(resource.view["spec"]))
    yield from found


def _specs(root: View) -> Iterator[Template]:
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


def _is_pod_spec(place: View) -> bool:
    containers = place.data.get("containers") if isinstance(place.data, Mapping) else None
    if containers is UNKNOWN:
        return True
    return (
        isinstance(containers, list | tuple)
        and bool(containers)
        and all(item is UNKNOWN or (isinstance(item, Mapping) and "name" in item) for item in containers)
    )


def _hidden(place: View) -> Iterator[Template]:
    """Yield the first place that is not known, on the way from an object's spec to its containers."""
    while place.data is not UNKNOWN:
        below = [place[key] for key in _ON_THE_WAY if isinstance(place.data, Mapping) and key in place.data]
        if not below:
            return
        place = below[0]
    yield place, place


_ON_THE_WAY: Final = ("jobTemplate", "template", "spec", "containers")


# --- Argo: a step has one container of its own, and sidecars ---------------------------------------------------------


def _steps(spec: View) -> Iterator[Template]:
    for place in (spec, spec["workflowSpec"]):
        steps = attempt(place["templates"].items)
        if isinstance(steps, NotKnown):
            yield place["templates"], place
            return
        for step in steps:
            for key in _STEPS:
                if isinstance(step[key].data, Mapping):
                    yield _step(place, step, key), step["metadata"]


_STEPS: Final = ("container", "script")
_FOR_EVERY_STEP: Final = ("nodeSelector", "tolerations", "affinity")


def _step(workflow: View, step: View, key: str) -> View:
    """Return a step as the spec of a pod: its container with its sidecars, and what the workflow says of all pods."""
    data = _plain(step)
    for shared in _FOR_EVERY_STEP:
        if shared not in data and workflow[shared].data is not None:
            data[shared] = workflow[shared].data
    data["volumes"] = [
        *(item.data for place in (workflow["volumes"], step["volumes"]) for item in _items(place)),
        *(_claimed(claim) for claim in _items(workflow["volumeClaimTemplates"])),
    ]
    data["containers"] = [{"name": key, **_plain(step[key])}, *(item.data for item in _items(step["sidecars"]))]
    return View(data, step.source, step.path)


def _claimed(claim: View) -> dict[str, object]:
    name = claim.at("metadata", "name").data
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def _items(place: View) -> tuple[View, ...]:
    items = attempt(place.items)
    return () if isinstance(items, NotKnown) else items


# --- KServe: a predictor names a model and leaves the container to a runtime ----------------------------------------


def _predictors(root: View) -> Iterator[Template]:
    for part in _PARTS:
        place = root.at("spec", part)
        if place.data is UNKNOWN:
            yield place, root["metadata"]
            return
        for key in _MODEL_SERVERS if isinstance(place.data, Mapping) else ():
            if place[key].data is not None:
                yield _left_to_runtime(place, _CONTAINER, place[key], place[key]["resources"]), root["metadata"]


_PARTS: Final = ("predictor", "transformer", "explainer")
_CONTAINER: Final = "kserve-container"
_MODEL_SERVERS: Final = ("model", "huggingface", "triton", "pytorch", "tensorflow", "onnx", "lightgbm", "xgboost")
"""What a predictor may be: ``model``, or one of the frameworks by name, as before 0.8."""


# --- Kubeflow Trainer: a job names an image, a command and resources, and leaves the rest to a runtime --------------


def _trainer(root: View) -> Iterator[Template]:
    spec = root["spec"]
    trainer = spec["trainer"]
    if trainer.data is UNKNOWN or spec.data is UNKNOWN:
        yield trainer, root["metadata"]
    elif isinstance(trainer.data, Mapping):
        pod, changed = _overrides(spec)
        container = View({**changed, **_plain(trainer)}, trainer.source, trainer.path)
        yield (
            _left_to_runtime(View(pod, spec.source, spec.path), _NODE, container, trainer["resourcesPerNode"]),
            root["metadata"],
        )


_NODE: Final = "node"
"""The job of a runtime that trains, and the container in it."""


def _overrides(spec: View) -> tuple[dict[str, object], dict[str, object]]:
    """Return what a job changes in the pods that train and in their container.

    ``podTemplateOverrides``, and ``podSpecOverrides`` before version 2.1.
    """
    changed: dict[str, object] = {}
    container: dict[str, object] = {}
    for item in (*_items(spec["podTemplateOverrides"]), *_items(spec["podSpecOverrides"])):
        targets = [attempt(target["name"].text) for target in _items(item["targetJobs"])]
        if targets and _NODE not in targets:
            continue
        pod = item["spec"] if item["spec"].data is not None else item
        changed.update({key: pod[key].data for key in _OF_PODS if pod[key].data is not None})
        for one in _items(pod["containers"]):
            if attempt(one["name"].text) == _NODE:
                container.update(_plain(one))
    return changed, container


_OF_PODS: Final = ("nodeSelector", "tolerations", "affinity", "volumes", "initContainers", "serviceAccountName")


def _left_to_runtime(place: View, name: str, container: View, resources: View) -> View:
    """Return a pod of which only some is said here: whatever is missing may be set by its runtime."""
    said = resources.data
    whole = {"resources": {"requests": {}, "limits": {}, "claims": [], **said}} if isinstance(said, Mapping) else {}
    data = {**dict.fromkeys(_BY_RUNTIME_OF_PODS, UNKNOWN), **_plain(place)}
    data["containers"] = [
        {"name": name, **dict.fromkeys(_BY_RUNTIME_OF_CONTAINERS, UNKNOWN), **_plain(container), **whole}
    ]
    return View(data, place.source, place.path)


_BY_RUNTIME_OF_PODS: Final = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "volumes",
    "runtimeClassName",
    "hostIPC",
    "terminationGracePeriodSeconds",
)
_BY_RUNTIME_OF_CONTAINERS: Final = (
    "image",
    "command",
    "args",
    "env",
    "envFrom",
    "resources",
    "volumeMounts",
    "startupProbe",
    "readinessProbe",
    "livenessProbe",
    "lifecycle",
)
"""What a runtime may say of a pod or container that the object itself does not. Its init containers are not among it:
they fetch models, and ask for no GPU."""


def _plain(place: View) -> dict[str, object]:
    return {key: item.data for key, item in place.entries()} if isinstance(place.data, Mapping) else {}
