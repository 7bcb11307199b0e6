"""Device plugins: the GPUs and fabric adapters of a node are known once the plugin's pod is ready there.

Stands in for the plugins of NVIDIA and of AWS, the driver, and the kubelet that they tell. Counts are those of the
catalogue, shared as the plugin's configuration says, or partitioned as the node's label does. It does not prove that a
driver loads, that a GPU is healthy, that a container sees it, or that a MIG manager has partitioned anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from eks_gpu.facts import ami, gpu_software, labels, mig, resources, versions
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_groups import AMI_ANNOTATION
from sandbox.kubernetes.node_side.world import (
    NODE_CLASSES,
    World,
    annotations_of,
    is_daemon,
    is_going,
    labels_of,
    log,
    name_of,
)
from sandbox.kubernetes.nodes import is_ready
from sandbox.kubernetes.rest import Object

_NVIDIA_PODS: Final = (
    (labels.APP_NAME, versions.NVIDIA_DEVICE_PLUGIN.name),
    (labels.APP, gpu_software.OPERATOR_DEVICE_PLUGIN),
)
_EFA_PODS: Final = ((labels.NAME, gpu_software.EFA_DEVICE_PLUGIN),)
_DEFAULT_CONFIG_VARIABLE: Final = "DEFAULT_CONFIG"
"""By which the chart tells the plugin's pod the configuration of nodes that name none (k8s-device-plugin v0.20.0)."""
_MIG_STRATEGY_VARIABLE: Final = "MIG_STRATEGY"
_GONE: Final = "0"
"""What a kubelet says of a resource whose plugin it has lost."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """Under which name, and how often, a plugin advertises each GPU."""

    resource: str = resources.GPU
    replicas: int = 1


EXCLUSIVE: Final = Sharing()


@dataclass
class Gpus:
    """Lets nodes advertise what the plugins on them would."""

    configs: dict[tuple[str, str], Sharing | None] = field(default_factory=dict)
    """How GPUs are shared, by the plugin's pod and the name of the configuration: a plugin reads it once, and fails if
    it cannot (None)."""

    def step(self, world: World) -> None:
        """Bring the status of each node in line with the plugins that are ready there."""
        plugins = list(_ready_plugins(world))
        uids = {pod["metadata"]["uid"] for _, pod in plugins}
        self.configs = {key: value for key, value in self.configs.items() if key[0] in uids}
        for node in world.of(rest.NODES):
            if is_ready(node):
                here = [(kind, pod) for kind, pod in plugins if pod["spec"].get("nodeName") == node["metadata"]["name"]]
                self._advertise(world, node, here)

    def _advertise(self, world: World, node: Object, plugins: list[tuple[str, Object]]) -> None:
        instance = CATALOGUE.get(labels_of(node).get(labels.INSTANCE_TYPE, ""))
        wanted: dict[str, str] = {}
        if instance is not None and _has_driver(node):
            for kind, pod in plugins:
                if kind == resources.EFA:
                    wanted |= _counted(resources.EFA, instance.efa_interfaces)
                elif (sharing := self._sharing(world, node, pod)) is not None:
                    layout = labels_of(node).get(labels.MIG_CONFIG, "")
                    parts = partitions(instance, layout, _variable(pod, _MIG_STRATEGY_VARIABLE))
                    wanted |= parts or advertised(instance, sharing)
            if _brings_plugin(world, node):
                wanted |= advertised(instance, EXCLUSIVE)
        changes = status_changes(node["status"], wanted)
        if changes:
            name = node["metadata"]["name"]
            log.info("node %s advertises %s", name, ", ".join(f"{key}: {value}" for key, value in changes.items()))
            lists = {"capacity": changes, "allocatable": changes}
            world.api.patch(rest.NODES, name, {"status": lists}, status=True)

    def _sharing(self, world: World, node: Object, pod: Object) -> Sharing | None:
        """Return how the plugin's pod shares the GPUs of its node."""
        name = labels_of(node).get(labels.DEVICE_PLUGIN_CONFIG) or _variable(pod, _DEFAULT_CONFIG_VARIABLE)
        key = (pod["metadata"]["uid"], name)
        if key not in self.configs:
            self.configs[key] = _read_config(world, pod, name or gpu_software.DEVICE_PLUGIN_DEFAULT_CONFIG)
        return self.configs[key]


def sharing(text: str) -> Sharing:
    """Return what a configuration file of the plugin says of whole GPUs.

    Raises:
        ValueError: it is not a configuration.

    """
    try:
        config = yaml.safe_load(text) or {}
        shared = config.get("sharing") or {}
        slicing = shared.get("mps") or shared.get("timeSlicing") or {}
        entry = next((each for each in slicing.get("resources") or () if each["name"] == resources.GPU), None)
        if entry is None:
            return EXCLUSIVE
        name = resources.GPU_SHARED if slicing.get("renameByDefault") else resources.GPU
        return Sharing(entry.get("rename") or name, int(entry["replicas"]))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a configuration of the device plugin: {error}") from None


def advertised(instance: InstanceType, sharing: Sharing) -> dict[str, str]:
    """Return what a plugin advertises of the GPUs of a type."""
    return _counted(sharing.resource, instance.gpu_count * sharing.replicas)


def partitions(instance: InstanceType, layout: str, strategy: str) -> dict[str, str]:
    """Return what a plugin advertises of GPUs that the MIG manager partitions as a layout; nothing if it does not."""
    gpu = mig.MODELS.get(instance.gpu_model)
    parts = gpu.layout(layout) if gpu is not None else None
    if not parts or strategy not in {mig.MIXED, mig.SINGLE}:
        return {}
    if strategy == mig.SINGLE:
        return _counted(resources.GPU, sum(parts.values()) * instance.gpu_count)
    return {resources.mig(profile): str(count * instance.gpu_count) for profile, count in parts.items()}


def status_changes(status: Mapping[str, Any], wanted: Mapping[str, str]) -> dict[str, str]:
    """Return what must be written into both lists of a node's status; what no plugin offers any more becomes 0."""
    known: Mapping[str, str] = status.get("allocatable") or {}
    offered = {name for name in known if resources.is_gpu(name) or name == resources.EFA}
    all_ = {**dict.fromkeys(offered, _GONE), **wanted}
    return {name: value for name, value in all_.items() if known.get(name) != value}


def _variable(pod: Object, name: str) -> str:
    """Return an environment variable of any of a pod's containers; empty if none has it."""
    variables = (each for part in pod["spec"]["containers"] for each in part.get("env", ()))
    return next((each["value"] for each in variables if each["name"] == name and each.get("value")), "")


def _counted(name: str, count: int) -> dict[str, str]:
    return {name: str(count)} if count else {}


def _ready_plugins(world: World) -> Iterator[tuple[str, Object]]:
    """Yield the resource that a plugin is for, and its pod."""
    for pod in world.of(rest.PODS):
        its = labels_of(pod).items()
        for resource, known in ((resources.GPU, _NVIDIA_PODS), (resources.EFA, _EFA_PODS)):
            if any(label in its for label in known) and is_daemon(pod) and is_ready(pod) and not is_going(pod):
                yield resource, pod


def _has_driver(node: Object) -> bool:
    """Tell whether a node's image has NVIDIA's driver; Karpenter takes that variant for GPU types by itself."""
    known = ami.AMI_TYPES.get(annotations_of(node).get(AMI_ANNOTATION, ""))
    return known is None or known.nvidia


def _brings_plugin(world: World, node: Object) -> bool:
    """Tell whether the node's image has the plugin built in, as Bottlerocket's for NVIDIA GPUs has."""
    known = ami.AMI_TYPES.get(annotations_of(node).get(AMI_ANNOTATION, ""))
    if known is not None:
        return known.family.brings_device_plugin
    node_class = world.of(NODE_CLASSES).by_name().get(labels_of(node).get(labels.EC2_NODE_CLASS, ""))
    terms = node_class["spec"].get("amiSelectorTerms", ()) if node_class else ()
    bringing = tuple(f"{family.alias}@" for family in AmiFamily if family.brings_device_plugin)
    return any(term.get("alias", "").startswith(bringing) for term in terms)


def _read_config(world: World, pod: Object, name: str) -> Sharing | None:
    """Return what a named configuration in the ConfigMap that a pod mounts says; GPUs are exclusive without one."""
    namespace = pod["metadata"]["namespace"]
    for volume in pod["spec"].get("volumes", ()):
        mounted = (volume.get("configMap") or {}).get("name")
        found = world.api.get(rest.CONFIG_MAPS, mounted, namespace) if mounted else None
        text = ((found or {}).get("data") or {}).get(name)
        if text:
            try:
                return sharing(text)
            except ValueError as error:
                log.warning("pod %s fails over %s of ConfigMap %s: %s", name_of(pod), name, mounted, error)
                return None
    return EXCLUSIVE
