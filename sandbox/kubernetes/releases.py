"""Helm releases that were cut off: which they are, and how each becomes whole again, or goes.

Helm notes what it does before it does it. Killed in between, it leaves a release that it calls pending for ever and
refuses to touch. What is done here is what `helm uninstall` and `helm rollback` do.
"""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from sandbox.kubernetes.api import Api, Manifest

PULUMI: Final = "pulumi-kubernetes"
"""How the names of the provider's field managers begin."""

_RECORDS: Final = "owner=helm"
_DEPLOYED: Final = "deployed"
"""The revision that runs. Later ones were being made, or had failed and were being undone (Helm 3, release/status.go);
a release without one was being installed or uninstalled."""
_GONE_SECONDS: Final = 60.0
"""How long finalizers may take, those of nodes that are drained among them."""


class _Loader(yaml.CSafeLoader):
    """Takes a lone ``=`` for the text that it is to Kubernetes; YAML 1.1 has a type of its own for it."""

    def as_text(self, node: yaml.ScalarNode) -> str:
        """Return what is written."""
        return str(node.value)


_Loader.add_constructor("tag:yaml.org,2002:value", _Loader.as_text)


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a release, as Helm records it: in a Secret."""

    namespace: str
    name: str
    number: int
    status: str
    secret: Manifest

    @property
    def known_as(self) -> str:
        """The provider's id of the release."""
        return f"{self.namespace}/{self.name}"

    def objects(self) -> list[Manifest]:
        """Return what it consists of, in the order in which Helm made it."""
        packed = base64.b64decode(base64.b64decode(self.secret["data"]["release"]))
        text: str = json.loads(gzip.decompress(packed))["manifest"]
        return [each for each in yaml.load_all(text, Loader=_Loader) if each]


@dataclass(frozen=True, slots=True)
class CutOff:
    """A release that Helm did not finish, or that nobody knows of."""

    revisions: Sequence[Revision]
    """All of it, the oldest first."""
    base: Revision | None
    """The revision to go back to; None if the release has to go."""

    def __str__(self) -> str:
        """Say what it is, and what becomes of it."""
        latest = self.revisions[-1]
        if self.base is None:
            return f"Helm release {latest.known_as} ({latest.status}, left by an interrupted run)"
        return (
            f"revision {latest.number} of Helm release {latest.known_as} ({latest.status}), "
            f"in favour of revision {self.base.number}"
        )


def find(cluster: Api, known: Collection[str]) -> list[CutOff]:
    """Return the releases that need repair; ``known`` are those that stacks know of (``namespace/name``)."""
    by_release: dict[str, list[Revision]] = {}
    for revision in sorted(_revisions(cluster), key=lambda each: each.number):
        by_release.setdefault(revision.known_as, []).append(revision)
    found = []
    for name, revisions in by_release.items():
        running = [each for each in revisions if each.status == _DEPLOYED] if name in known else []
        if not running or running[-1] is not revisions[-1]:
            found.append(CutOff(revisions, running[-1] if running else None))
    return found


def repair(cluster: Api, release: CutOff) -> None:
    """Make a release again what its last good revision says, or remove it if there is none."""
    if release.base is None:
        _uninstall(cluster, release.revisions)
        return
    for later in reversed(release.revisions):
        if later.number > release.base.number:
            _undo(cluster, later, release.base)
            delete(cluster, later.secret)


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch (RFC 7396) that makes ``after`` of ``before``; empty if they are equal."""
    change: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        was = before.get(key)
        if isinstance(was, dict) and isinstance(value, dict):
            if inner := difference(was, value):
                change[key] = inner
        elif key not in before or was != value:
            change[key] = value
    return change


def delete(cluster: Api, each: Manifest) -> Manifest:
    """Tell an object to go, and return it."""
    metadata = each["metadata"]
    cluster.delete(each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace", ""))
    return each


def wait_until_gone(cluster: Api, objects: Sequence[Manifest]) -> None:
    """Wait until objects that were told to go are gone, a minute at most."""
    deadline = time.monotonic() + _GONE_SECONDS
    for each in objects:
        while cluster.get(*_key(each)) is not None and time.monotonic() < deadline:
            time.sleep(0.2)


def _uninstall(cluster: Api, revisions: Sequence[Revision]) -> None:
    """Delete the objects, the last made first, then forget the revisions."""
    wait_until_gone(cluster, [delete(cluster, each) for each in reversed(_in_place(cluster, revisions[-1]))])
    for revision in revisions:
        delete(cluster, revision.secret)


def _undo(cluster: Api, later: Revision, base: Revision) -> None:
    """Make objects what an earlier revision says.

    Forgetting the later one would not do: what it added to an object is neither in the revision before nor in the one
    after, and Helm, which compares those two, would leave it there.
    """
    had = {_key(each): each for each in _in_place(cluster, later)}
    wanted = {_key(each): each for each in _in_place(cluster, base)}
    for key in reversed(had):
        if key not in wanted:
            delete(cluster, had[key])
    for key, each in wanted.items():
        if cluster.get(*key) is None:
            cluster.create(each)
        elif change := difference(had.get(key, each), each):
            api_version, kind, name, namespace = key
            metadata = {**change.get("metadata", {}), "name": name, "namespace": namespace or None}
            cluster.patch({**change, "apiVersion": api_version, "kind": kind, "metadata": metadata})


def _key(each: Manifest) -> tuple[str, str, str, str]:
    metadata = each["metadata"]
    return each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace", "")


def _in_place(cluster: Api, revision: Revision) -> list[Manifest]:
    """Return the objects of a revision, each with its namespace; those of kinds that are gone are gone, too."""
    namespaced = {(kind.api_version, kind.kind): kind.namespaced for kind in cluster.kinds()}
    found = [each for each in revision.objects() if (each["apiVersion"], each["kind"]) in namespaced]
    for each in found:
        if namespaced[each["apiVersion"], each["kind"]]:
            each["metadata"].setdefault("namespace", revision.namespace)
    return found


def _revisions(cluster: Api) -> Iterator[Revision]:
    for secret in cluster.list("v1", "Secret", selector=_RECORDS):
        metadata = secret["metadata"]
        # What somebody installs with Helm's own command is theirs.
        if any(str(entry.get("manager", "")).startswith(PULUMI) for entry in metadata.get("managedFields", ())):
            marks = metadata["labels"]
            yield Revision(metadata["namespace"], marks["name"], int(marks["version"]), marks["status"], secret)
