"""What a killed engine left in the cluster and nobody recorded: half-installed Helm releases, and unknown objects.

The engine notes what it begins, and what came of it when it ends; killed in between, it leaves an object whose random
name nobody knows any more, or a release that Helm calls pending for ever and refuses to touch. On a cluster of your own
`helm rollback` or `helm uninstall`, and `kubectl delete`, do by hand what is done here for the sandbox's.
"""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from sandbox import stacks
from sandbox.checkout import Checkout
from sandbox.kubernetes import api
from sandbox.kubernetes.api import Api, Manifest
from sandbox.kubernetes.control_plane import ControlPlane

PULUMI: Final = "pulumi-kubernetes"
"""How the names of the provider's field managers begin."""

_RELEASE: Final = "Release"
_RELEASES: Final = "owner=helm"
_INTERRUPTED: Final = frozenset({"pending-upgrade", "pending-rollback"})
"""Revisions that never came to be; the one before is what runs (Helm 3, pkg/release/status.go)."""
_BROKEN: Final = frozenset({"pending-install", "uninstalling"})
"""Releases that are neither there nor gone."""
_GONE_SECONDS: Final = 60.0
"""How long finalizers may take, those of nodes that are drained among them."""


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
    releases = frozenset(id_ for kind, id_ in found if kind == _RELEASE)
    return Recorded(frozenset(found), releases)


@dataclass(frozen=True, slots=True)
class Release:
    """One revision of a Helm release, as Helm keeps it: in a Secret."""

    namespace: str
    name: str
    revision: int
    status: str
    secret: Manifest

    @property
    def known_as(self) -> str:
        """The provider's id of it."""
        return f"{self.namespace}/{self.name}"

    def objects(self) -> list[Manifest]:
        """Return what it consists of, in the order in which Helm made it."""
        packed = base64.b64decode(base64.b64decode(self.secret["data"]["release"]))
        text: str = json.loads(gzip.decompress(packed))["manifest"]
        return [each for each in yaml.safe_load_all(text) if each]


def clear(plane: ControlPlane, known: Recorded) -> list[str]:
    """Remove what no stack knows of, and return a line for each thing that was removed.

    Objects go before releases: what a controller has to take apart must not outlive the controller.
    """
    with api.connect(plane) as cluster:
        removed = [_delete(cluster, each) for each in _unknown_objects(cluster, known)]
        _wait_until_gone(cluster, [each for each, _ in removed])
        return [*(line for _, line in removed), *_repair_releases(cluster, known)]


def find(plane: ControlPlane, known: Recorded) -> list[str]:
    """Return what `clear` would remove, a line for each thing."""
    with api.connect(plane) as cluster:
        objects = [f"{each['kind']} {_id(each)}" for each in _unknown_objects(cluster, known)]
        latest = {each.known_as: each for each in sorted(_releases(cluster), key=lambda each: each.revision)}
        sound = known.releases - {each.known_as for each in latest.values() if each.status in _BROKEN | _INTERRUPTED}
        return [*objects, *(f"Helm release {each}" for each in latest if each not in sound)]


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
    return first is not None and first["operation"] == "Apply" and str(first.get("manager", "")).startswith(PULUMI)


def _id(each: Manifest) -> str:
    metadata = each["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def _delete(cluster: Api, each: Manifest) -> tuple[Manifest, str]:
    metadata = each["metadata"]
    cluster.delete(each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace", ""))
    return each, f"{each['kind']} {_id(each)} (left by an interrupted run)"


def _wait_until_gone(cluster: Api, objects: Sequence[Manifest]) -> None:
    deadline = time.monotonic() + _GONE_SECONDS
    for each in objects:
        metadata = each["metadata"]
        while time.monotonic() < deadline:
            if cluster.get(each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace", "")) is None:
                break
            time.sleep(0.2)


def _repair_releases(cluster: Api, known: Recorded) -> Iterator[str]:
    revisions = sorted(_releases(cluster), key=lambda each: each.revision)
    latest = {each.known_as: each for each in revisions}
    for release in latest.values():
        if release.known_as not in known.releases or release.status in _BROKEN:
            _uninstall(cluster, release, [each for each in revisions if each.known_as == release.known_as])
            yield f"Helm release {release.known_as} ({release.status}, left by an interrupted run)"
        elif release.status in _INTERRUPTED:
            _delete(cluster, release.secret)
            yield f"revision {release.revision} of Helm release {release.known_as} ({release.status})"


def _uninstall(cluster: Api, release: Release, revisions: Sequence[Release]) -> None:
    """Do what `helm uninstall` does: delete the objects, the last made first, then forget the revisions."""
    namespaced = {(kind.api_version, kind.kind): kind.namespaced for kind in cluster.kinds()}
    objects = []
    for each in reversed(release.objects()):
        key = (each["apiVersion"], each["kind"])
        if key not in namespaced:
            continue
        if namespaced[key]:
            each["metadata"].setdefault("namespace", release.namespace)
        objects.append(_delete(cluster, each)[0])
    _wait_until_gone(cluster, objects)
    for revision in revisions:
        _delete(cluster, revision.secret)


def _releases(cluster: Api) -> Iterator[Release]:
    for secret in cluster.list("v1", "Secret", selector=_RELEASES):
        metadata = secret["metadata"]
        labels = metadata["labels"]
        yield Release(metadata["namespace"], labels["name"], int(labels["version"]), labels["status"], secret)
