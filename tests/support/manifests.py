"""What a recording holds for the API server, as the provider would send it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import RecordedResource, Recording

Manifest = dict[str, Any]
"""An object in Kubernetes' spelling."""

_NOT_OBJECTS = ("pulumi:providers:", "kubernetes:helm.sh/")
_PATCH = "Patch"
_AUTO_NAME = "0a1b2c3d"
"""In the place of what the provider appends to a name that it makes up."""

_ID = "fs-0a"
_SELECTED = {"subnetSelectorTerms": "subnet-0a", "securityGroupSelectorTerms": "sg-0a"}
"""Ids such as AWS gives them; a recording knows stand-ins at most."""


def manifests(recording: Recording) -> list[Manifest]:
    """Return every Kubernetes object of a recording, namespaces first; Helm releases are not objects."""
    found = [manifest(each) for each in recording.resources if _is_object(each)]
    return sorted(found, key=lambda each: each["kind"] != "Namespace")


def manifest(resource: RecordedResource) -> Manifest:
    """Return a recorded object with a name, and with ids where a recording cannot know them.

    A patch is the fields it sets of the object that it is for.
    """
    known: Manifest = _known(resource.inputs)
    kind = known["kind"]
    if resource.type.endswith(_PATCH):
        kind = kind.removesuffix(_PATCH)
    return {**known, "kind": kind, "metadata": {"name": f"{resource.name}-{_AUTO_NAME}", **known["metadata"]}}


def namespaces(objects: list[Manifest]) -> Iterator[str]:
    """Yield the namespaces that objects are in, each once."""
    yield from dict.fromkeys(each["metadata"]["namespace"] for each in objects if "namespace" in each["metadata"])


def _is_object(resource: RecordedResource) -> bool:
    return resource.custom and resource.type.startswith("kubernetes:") and not resource.type.startswith(_NOT_OBJECTS)


def _known(value: Any) -> Any:  # noqa: ANN401 - inputs are JSON-like
    if value is UNKNOWN:
        return _ID
    if isinstance(value, dict):
        return {key: _selected(key, one) if key in _SELECTED else _known(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_known(one) for one in value]
    return value


def _selected(selector: str, terms: list[Manifest]) -> list[Manifest]:
    return [{**term, "id": _SELECTED[selector]} for term in terms]
