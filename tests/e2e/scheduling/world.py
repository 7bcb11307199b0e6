"""A cluster in which one case at a time happens: what is put in, what becomes of the pods, and how it is emptied."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from sandbox.kubernetes.node_groups import new_node
from sandbox.kubernetes.nodes import is_ready
from sandbox.kubernetes.rest import CLAIMS, NODES, PODS, VOLUMES, ApiError, Kind, Object, Rest
from tests.e2e.scheduling.emitted import Groups, Manifest, Pools

NAMESPACE: Final = "default"
"""Where the pods of a case are. It is there already, and need not be removed: that takes seconds."""

NODE_POOLS: Final = Kind("karpenter.sh/v1", "nodepools")
NODE_CLAIMS: Final = Kind("karpenter.sh/v1", "nodeclaims")
NODE_CLASSES: Final = Kind("karpenter.k8s.aws/v1", "ec2nodeclasses")
EVENTS: Final = Kind("v1", "events")
DAEMON_SETS: Final = Kind("apps/v1", "daemonsets")

_KINDS: Final[Mapping[str, Kind]] = {
    "Pod": PODS,
    "Deployment": Kind("apps/v1", "deployments"),
    "DaemonSet": DAEMON_SETS,
    "PriorityClass": Kind("scheduling.k8s.io/v1", "priorityclasses"),
    "PersistentVolume": VOLUMES,
    "PersistentVolumeClaim": CLAIMS,
}
_CLUSTER_WIDE: Final = frozenset({"PersistentVolume", "PriorityClass"})
_PHASES: Final = {"PersistentVolume": "Available", "PersistentVolumeClaim": "Bound"}
"""Which phase is waited for."""

_KARPENTER: Final = "karpenter"
_INTERVAL_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 60.0
"""How long anything may take that takes a few seconds on an idle machine."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A pod runs."""

    pool: str
    instance_type: str
    zone: str
    capacity: str
    node: str

    def __str__(self) -> str:
        """Return it as a line of a report."""
        return f"{self.instance_type} of pool {self.pool or '(none)'}, {self.capacity}, in {self.zone}"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A pod stays pending, and Karpenter has said why it buys nothing for it."""

    because: str

    def __str__(self) -> str:
        """Return it as a line of a report."""
        return f"pending: {self.because}"


@dataclass(frozen=True)
class Undecided:
    """Nobody has said anything of a pod yet."""

    def __str__(self) -> str:
        """Return it as a line of a report."""
        return "pending, and nothing was said of it"


Fate = Placed | Refused | Undecided


class World:
    """The objects of a case in a cluster."""

    def __init__(self, rest: Rest) -> None:
        """Reach a cluster whose Karpenter runs."""
        self.rest = rest
        self._made = {"Pod"}
        self._pods: dict[str, Manifest] = {}
        self._priorities: list[str] = []

    def install(self, pools: Pools) -> None:
        """Put pools in and wait until Karpenter would buy from them."""
        for node_class in pools.node_classes:
            self.rest.create(NODE_CLASSES, node_class)
        for pool in pools.node_pools:
            self.rest.create(NODE_POOLS, pool)
        self.until(lambda: len(pools.node_pools) == self._ready_pools(), "all node pools are ready")

    def join(self, groups: Groups) -> None:
        """Let the nodes of managed groups join, and wait until their GPUs are known."""
        for shape in groups.shapes:
            for _, subnet in zip(range(shape.size), cycle(shape.subnets), strict=False):
                self.rest.create(NODES, new_node(shape, subnet))
        self.until(lambda: all(is_ready(each) and _has_its_gpus(each) for each in self.nodes()), "all nodes are ready")

    def create(self, *manifests: Manifest) -> None:
        """Put objects in; return when their claims are bound, for Karpenter looks at no pod before that (S02)."""
        for manifest in manifests:
            kind = manifest["kind"]
            self._made.add(kind)
            if kind == "Pod":
                self._pods[manifest["metadata"]["name"]] = manifest
            if kind == "PriorityClass":  # Kubernetes has some of its own
                self._priorities.append(manifest["metadata"]["name"])
            self.rest.create(_KINDS[kind], manifest, "" if kind in _CLUSTER_WIDE else NAMESPACE)
            if (
                kind in _PHASES
            ):  # a claim that comes before the volume is known is looked at again a quarter minute later
                self.until(partial(self._in_phase, manifest), f"{kind} {manifest['metadata']['name']} is bound")

    def remove(self, *pods: str) -> None:
        """Remove pods for good."""
        for name in pods:
            self._pods.pop(name)
            self.rest.delete(PODS, name, NAMESPACE)

    def fates(self) -> dict[str, Fate]:
        """Return what has become of each pod by its name so far.

        Pods that are gone are made again, as their owner would. It happens: Karpenter takes the taint `unregistered`
        off a node, the scheduler binds a pod, and the node controller, which has not heard yet, evicts it.
        """
        for name in self._pods.keys() - {pod["metadata"]["name"] for pod in self.pods()}:
            self.rest.create(PODS, self._pods[name], NAMESPACE)
        nodes = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in self.nodes()}
        reasons = {
            event["involvedObject"]["uid"]: event["message"]
            for event in self.rest.list(EVENTS, NAMESPACE, fieldSelector="reason=FailedScheduling")["items"]
            if event["source"].get("component") == _KARPENTER
        }
        return {pod["metadata"]["name"]: _fate(pod, nodes, reasons) for pod in self.pods()}

    def pods(self) -> list[Object]:
        """Return the pods of the case."""
        found: list[Object] = self.rest.list(PODS, NAMESPACE)["items"]
        return found

    def nodes(self) -> list[Object]:
        """Return all nodes."""
        found: list[Object] = self.rest.list(NODES)["items"]
        return found

    def reached(self, daemon_set: str) -> set[str]:
        """Return the pools on whose nodes a pod of a DaemonSet runs."""
        fates = self.fates().items()
        return {fate.pool for pod, fate in fates if isinstance(fate, Placed) and pod.startswith(f"{daemon_set}-")}

    def node_names(self, pool: str) -> set[str]:
        """Return the nodes of a pool."""
        found = self.rest.list(NODES, labelSelector=f"{labels.KARPENTER_NODEPOOL}={pool}")["items"]
        return {each["metadata"]["name"] for each in found}

    def until(self, true: Callable[[], bool], what: str, patience: float = _PATIENCE_SECONDS) -> None:
        """Wait until something is the case; fail with the state of the world when it takes too long."""
        end = time.monotonic() + patience
        while True:
            asked = time.monotonic()
            if true():
                return
            now = time.monotonic()
            if now > end:
                raise AssertionError(f"after {patience:.0f} s it is not so that {what}:\n{self.report()}")
            time.sleep(max(_INTERVAL_SECONDS, now - asked))  # a question that takes long is not asked all the time

    def report(self) -> str:
        """Return pods, nodes and what is not ready as text."""
        pods = [f"  pod {name}: {fate}" for name, fate in sorted(self.fates().items())]
        nodes = [f"  node {_line(each)}" for each in self.nodes()]
        classes = [f"  node class {_unready(each)}" for each in self.rest.list(NODE_CLASSES)["items"]]
        pools = [f"  node pool {_unready(each)}" for each in self.rest.list(NODE_POOLS)["items"]]
        return "\n".join((*pods, *nodes, *classes, *pools)) or "  nothing"

    def clear(self) -> None:
        """Remove everything that cases and Karpenter have made, without waiting for grace periods and finalizers."""
        self._pods.clear()
        for kind in ("Deployment", "DaemonSet", "Pod", "PersistentVolumeClaim", "PersistentVolume"):
            if kind in self._made:
                self._remove(_KINDS[kind], "" if kind in _CLUSTER_WIDE else NAMESPACE)
        for each in (NODE_POOLS, NODE_CLASSES, NODE_CLAIMS, NODES):
            self._remove(each)
        for name in self._priorities:
            self.rest.delete(_KINDS["PriorityClass"], name)
        self._priorities.clear()
        self.rest.delete(EVENTS, "", NAMESPACE)

    def _remove(self, kind: Kind, namespace: str = "") -> None:
        def gone() -> bool:
            left = self.rest.list(kind, namespace)["items"]
            for each in left:
                self._unlock(kind, each, namespace)
            return not left

        self.rest.delete(kind, "", namespace, gracePeriodSeconds="0")
        self.until(gone, f"every one of the {kind.plural} is gone")

    def _unlock(self, kind: Kind, found: Object, namespace: str) -> None:
        metadata = found["metadata"]
        try:
            if metadata.get("finalizers"):
                self.rest.patch(kind, metadata["name"], {"metadata": {"finalizers": None}}, namespace)
            if "deletionTimestamp" not in metadata:
                self.rest.delete(kind, metadata["name"], namespace, gracePeriodSeconds="0")
        except ApiError as error:
            if error.code != 404:
                raise

    def _in_phase(self, manifest: Manifest) -> bool:
        kind = manifest["kind"]
        found = self.rest.get(_KINDS[kind], manifest["metadata"]["name"], "" if kind in _CLUSTER_WIDE else NAMESPACE)
        return found is not None and found.get("status", {}).get("phase") == _PHASES[kind]

    def _ready_pools(self) -> int:
        return sum(_is_true(pool, "Ready") for pool in self.rest.list(NODE_POOLS)["items"])


def _is_true(found: Object, condition: str) -> bool:
    conditions = found.get("status", {}).get("conditions", ())
    return any(each["type"] == condition and each["status"] == "True" for each in conditions)


def _fate(pod: Object, nodes: Mapping[str, Mapping[str, str]], reasons: Mapping[str, str]) -> Fate:
    place = pod["spec"].get("nodeName")
    if place is not None and pod["status"]["phase"] == "Running":
        found = nodes.get(place, {})
        return Placed(
            pool=found.get(labels.KARPENTER_NODEPOOL) or found.get(labels.EKS_NODE_GROUP, ""),
            instance_type=found.get(labels.INSTANCE_TYPE, ""),
            zone=found.get(labels.ZONE, ""),
            capacity=found.get(labels.CAPACITY_TYPE, ""),
            node=place,
        )
    reason = reasons.get(pod["metadata"]["uid"])
    return Refused(because=reason) if place is None and reason is not None else Undecided()


def _has_its_gpus(found: Object) -> bool:
    known = CATALOGUE.get(found["metadata"]["labels"][labels.INSTANCE_TYPE])
    return known is None or resources.GPU in found["status"].get("allocatable", {})


def _unready(found: Object) -> str:
    """Return the name of an object with the conditions that do not hold."""
    conditions = found.get("status", {}).get("conditions")
    if conditions is None:
        return f"{found['metadata']['name']}: nobody has looked at it"
    wanting = [f"{each['type']}: {each['reason']}" for each in conditions if each["status"] != "True"]
    return f"{found['metadata']['name']}: {', '.join(wanting) or 'ready'}"


def _line(one: Object) -> str:
    found = one["metadata"].get("labels", {})
    facts = (labels.KARPENTER_NODEPOOL, labels.INSTANCE_TYPE, labels.CAPACITY_TYPE, labels.ZONE)
    return " ".join((one["metadata"]["name"], *(found.get(key, "-") for key in facts)))
