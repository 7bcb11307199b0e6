"""In which namespace a Kubernetes object is, so that those of one can be told from those of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

_DEFAULT: Final = "default"


def namespace_of(resource: Resource, program: Program) -> str:
    """Return what tells an object's namespace from others: its name, or the URN of the resource that makes it.

    Raises ``NotKnownError`` when neither is known. An object that names none is in ``default``.
    """
    place = resource.view.at("metadata", "namespace")
    name = attempt(place.text)
    if not isinstance(name, NotKnown):
        return name or _DEFAULT
    origins = program.computed_from(resource, "metadata", tokens.NAMESPACE)
    if len(origins) == 1:
        own = attempt(origins[0].kubernetes_name)
        return own if isinstance(own, str) else origins[0].urn
    raise NotKnownError(name)


def by_namespace(pods: Iterable[PodTemplate], program: Program) -> Mapping[str | NotKnown, tuple[PodTemplate, ...]]:
    """Return the pods of each namespace; those in one that is not known are under what is not known about it."""
    found: dict[str | NotKnown, list[PodTemplate]] = {}
    for pod in pods:
        found.setdefault(attempt(namespace_of, program.by_urn[pod.urn], program), []).append(pod)
    return {namespace: tuple(there) for namespace, there in found.items()}
