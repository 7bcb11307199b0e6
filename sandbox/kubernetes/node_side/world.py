"""The cluster as the node side sees it: the objects of a few kinds, kept up to date by watches."""

from __future__ import annotations

import http.client
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sandbox.kubernetes import rest
from sandbox.kubernetes.rest import ApiError, Kind, Object, Rest

CLUSTER_POLICIES: Final = Kind("nvidia.com/v1", "clusterpolicies")
NODE_CLASSES: Final = Kind("karpenter.k8s.aws/v1", "ec2nodeclasses")
NODE_CLAIMS: Final = Kind("karpenter.sh/v1", "nodeclaims")

BUILT_IN: Final = (rest.NODES, rest.PODS, rest.CLAIMS, rest.VOLUMES, rest.STORAGE_CLASSES)
CUSTOM: Final = (CLUSTER_POLICIES, NODE_CLASSES, NODE_CLAIMS)
"""Kinds whose definitions charts bring, and take away."""

_AGAIN_SECONDS: Final = 0.5
_LATER: Final = frozenset(
    {http.client.GONE, http.client.TOO_MANY_REQUESTS, http.client.SERVICE_UNAVAILABLE, http.client.FORBIDDEN}
)
"""What the API server answers to a request that is to be made again: it starts, or has forgotten that version. Rights
it knows of a moment after it can be asked."""
log = logging.getLogger("node-side")


class Cache:
    """All objects of one kind."""

    def __init__(self, api: Rest, kind: Kind, changed: threading.Event) -> None:
        """Know nothing yet; ``changed`` is set whenever something happens."""
        self.kind = kind
        self.synced = threading.Event()
        self._api = api
        self._changed = changed
        self._lock = threading.Lock()
        self._objects: dict[str, Object] = {}

    def start(self) -> None:
        """Keep it up to date until the process ends."""
        threading.Thread(target=self._follow, name=self.kind.plural, daemon=True).start()

    def __iter__(self) -> Iterator[Object]:
        """Yield the objects that there were when it was asked."""
        with self._lock:
            return iter(list(self._objects.values()))

    def by_name(self) -> Mapping[str, Object]:
        """Return objects that belong to no namespace, by their names."""
        return {each["metadata"]["name"]: each for each in self}

    def _follow(self) -> None:
        while True:
            try:
                version = self._list()
                self._watch(version)
            except ApiError as error:
                if error.code == http.client.NOT_FOUND:  # its definition is not there, or not any more
                    self._replace({})
                elif error.code not in _LATER:
                    log.warning("%s: %s", self.kind.plural, error)
            except (OSError, http.client.HTTPException, ValueError):
                log.debug("%s: the API server does not answer", self.kind.plural)
            time.sleep(_AGAIN_SECONDS)

    def _list(self) -> str:
        found = self._api.list(self.kind)
        self._replace({each["metadata"]["uid"]: _slim(each) for each in found["items"]})
        return str(found["metadata"]["resourceVersion"])

    def _replace(self, objects: dict[str, Object]) -> None:
        with self._lock:
            different = self._objects.keys() != objects.keys() or any(
                self._objects[uid]["metadata"]["resourceVersion"] != each["metadata"]["resourceVersion"]
                for uid, each in objects.items()
            )
            self._objects = objects
        if different or not self.synced.is_set():
            self.synced.set()
            self._changed.set()

    def _watch(self, version: str) -> None:
        for event, each in self._api.watch(self.kind, version):
            uid = each["metadata"]["uid"]
            with self._lock:
                if event == "DELETED":
                    self._objects.pop(uid, None)
                else:
                    self._objects[uid] = _slim(each)
            self._changed.set()


def _slim(each: Object) -> Object:
    """Leave out who wrote which field: half of the object, and nobody here asks."""
    each["metadata"].pop("managedFields", None)
    return each


@dataclass
class World:
    """What there is, and the way to change it."""

    api: Rest
    changed: threading.Event = field(default_factory=threading.Event)
    _caches: dict[Kind, Cache] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Watch every kind that a duty asks for."""
        for kind in (*BUILT_IN, *CUSTOM):
            self._caches[kind] = Cache(self.api, kind, self.changed)

    def start(self) -> None:
        """Begin to watch."""
        for cache in self._caches.values():
            cache.start()

    def of(self, kind: Kind) -> Cache:
        """Return the objects of a kind."""
        return self._caches[kind]

    @property
    def complete(self) -> bool:
        """Tell whether everything has been seen once."""
        return all(cache.synced.is_set() for cache in self._caches.values())


class Duty(Protocol):
    """Something that is done again and again; each time it brings about what is to be, as far as it can."""

    def step(self, world: World) -> None:
        """Do what is to be done now."""


def name_of(each: Object) -> str:
    """Return ``namespace/name``, or the name of what has no namespace."""
    metadata: Mapping[str, Any] = each["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def labels_of(each: Object) -> Mapping[str, str]:
    """Return the labels of an object."""
    found: Mapping[str, str] = each["metadata"].get("labels") or {}
    return found


def annotations_of(each: Object) -> Mapping[str, str]:
    """Return the annotations of an object."""
    found: Mapping[str, str] = each["metadata"].get("annotations") or {}
    return found


def is_going(each: Object) -> bool:
    """Tell whether an object is being deleted."""
    return "deletionTimestamp" in each["metadata"]


def is_daemon(pod: Object) -> bool:
    """Tell whether a pod is one of a DaemonSet."""
    return any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", ()))
