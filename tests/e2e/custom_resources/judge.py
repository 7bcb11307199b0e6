"""The API server as a judge: whether it would take an object, found out by dry run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Self

from sandbox.kubernetes.api import Api, RefusedError, connect
from tests.support.cluster import Cluster, eventually
from tests.support.definitions import define
from tests.support.manifests import Manifest

_PLACE: Final = {"Namespace", "PriorityClass", "RuntimeClass", "ServiceAccount"}
"""Kinds that must be there before an object that names one of them is judged."""

_OWNERS: Final = {"Deployment", "DaemonSet", "Job"}
"""Kinds that make pods of a template."""


@dataclass
class Judge:
    """An API server with the charts' definitions."""

    api: Api
    _made: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    @contextmanager
    def of(cls, cluster: Cluster) -> Iterator[Self]:
        """Define what the charts define, and wait until the server serves it."""
        with connect(cluster.plane) as api:
            define(api)
            yield cls(api)

    def refusals(self, objects: Collection[Manifest]) -> list[str]:
        """Return what the server has against objects, each judged as new, in the places that are among them."""
        for each in objects:
            if each["kind"] in _PLACE:
                self._make(each)
        said = ((each, self.refusal(each)) for each in objects)
        return [f"{each['kind']} {each['metadata']['name']}: {why}" for each, why in said if why]

    def refusal(self, each: Manifest) -> str:
        """Return why the server refuses an object; nothing if it takes it."""
        try:
            self.api.apply(each, dry_run=True)
        except RefusedError as error:
            return error.message
        return ""

    def refusals_of_pods(self, objects: Collection[Manifest]) -> list[str]:
        """Return what the server has against the pods of workloads, which it judges only when they are made."""
        owners = [each for each in objects if each["kind"] in _OWNERS]
        said = ((each["metadata"]["name"], self._refusal_of_pod(each)) for each in owners)
        return [f"pod of {name}: {why}" for name, why in said if why]

    def _refusal_of_pod(self, owner: Manifest) -> str:
        template, place = owner["spec"]["template"], owner["metadata"]["namespace"]
        eventually(lambda: self.api.get("v1", "ServiceAccount", "default", place), f"the account of {place}")
        name = {"name": owner["metadata"]["name"], "namespace": place}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], **name}}
        return self.refusal({**pod, "spec": template["spec"]})

    def _make(self, each: Manifest) -> None:
        key = (each["kind"], each["metadata"]["name"])
        if key not in self._made:
            self.api.apply(each)
            self._made.add(key)
