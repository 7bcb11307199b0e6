"""What a killed engine left in the cluster and nobody recorded: half-installed Helm releases, and unknown objects.

The engine notes what it begins, and what came of it when it ends; killed in between, it leaves an object whose random
name nobody knows any more, or a release that Helm calls pending for ever and refuses to touch. On a cluster of your own
`helm rollback` or `helm uninstall`, and `kubectl delete`, do by hand what is done here for the sandbox's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sandbox import stacks
from sandbox.checkout import Checkout
from sandbox.kubernetes import api, releases
from sandbox.kubernetes.api import Api, Manifest
from sandbox.kubernetes.control_plane import ControlPlane

_RELEASE: Final = "Release"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the stacks of the sandbox know to be theirs."""

    objects: frozenset[tuple[str, str]]
    """``(kind, namespace/name)``, or ``(kind, name)`` where there is no namespace."""
    releases: frozenset[str]
    """``namespace/name``."""


def recorded(checkout: Checkout) -> Recorded:
    """Return what the stacks of a sandbox hold in Kubernetes, all of them."""
    found = [
        (str(resource["type"]).rpartition(":")[2], str(resource.get("id", "")))
        for resource in stacks.resources(checkout)
        if str(resource["type"]).startswith("kubernetes:") and resource.get("custom")
    ]
    return Recorded(frozenset(found), frozenset(id_ for kind, id_ in found if kind == _RELEASE))


def clear(plane: ControlPlane, known: Recorded) -> list[str]:
    """Remove what no stack knows of, repair what is half made, and return a line for each thing.

    Objects go before releases: what a controller has to take apart must not outlive the controller.
    """
    with api.connect(plane) as cluster:
        removed = [releases.delete(cluster, each) for each in _unknown_objects(cluster, known)]
        releases.wait_until_gone(cluster, removed)
        cut_off = releases.find(cluster, known.releases)
        for release in cut_off:
            releases.repair(cluster, release)
        return [*map(_line, removed), *map(str, cut_off)]


def find(plane: ControlPlane, known: Recorded) -> list[str]:
    """Return what `clear` would remove or repair, a line for each thing."""
    with api.connect(plane) as cluster:
        return [*map(_line, _unknown_objects(cluster, known)), *map(str, releases.find(cluster, known.releases))]


def _unknown_objects(cluster: Api, known: Recorded) -> Iterator[Manifest]:
    for kind in cluster.kinds():
        if "delete" not in kind.verbs:
            continue
        for each in cluster.list(kind.api_version, kind.kind):
            if _made_by_pulumi(each) and (kind.kind, _id(each)) not in known.objects:
                yield each


def _made_by_pulumi(each: Manifest) -> bool:
    """Tell whether Pulumi made an object, rather than changed some fields of one that was there.

    What its Helm makes bears the provider's name, too, but is not applied on the server's side as its objects are.
    """
    entries = [
        entry
        for entry in each["metadata"].get("managedFields", ())
        if "f:status" not in entry.get("fieldsV1", {}) and not entry.get("subresource")
    ]
    first = min(entries, key=lambda entry: entry.get("time", ""), default=None)
    return (
        first is not None
        and first["operation"] == "Apply"
        and str(first.get("manager", "")).startswith(releases.PULUMI)
    )


def _id(each: Manifest) -> str:
    metadata = each["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def _line(each: Manifest) -> str:
    return f"{each['kind']} {_id(each)} (left by an interrupted run)"
