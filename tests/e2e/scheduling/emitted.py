"""What our components emit, recorded: as manifests for the API server, and as the planning module reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final

from eks_gpu.cli.judge import as_resource
from eks_gpu.cluster.system_nodes import SystemNodes, SystemNodesArgs
from eks_gpu.facts import namespaces, resources, storage
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.nodes import node_class_spec, node_pool_spec
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.recording import RecordedResource, record
from eks_gpu.recording.answers import REGION
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.stack_file import load
from eks_gpu.settings.system_nodes import SystemNodes as SystemNodesBlock
from eks_gpu.settings.workloads import Workloads
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads.model_server import ModelServerArgs
from eks_gpu.workloads.serving import serve
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from sandbox.checkout import ROOT
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet
from tests.support.clusters import SUBNETS, cluster
from tests.support.manifests import manifest

Manifest = dict[str, Any]
"""An object in Kubernetes' spelling."""

Block = Mapping[str, object]
"""Settings of one pool as a stack file has them."""

SYSTEM: Final = "system"
"""Name of the group of CPU nodes."""

_DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
_PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
_NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
_SUFFIX: Final = "-node-group"


@dataclass(frozen=True)
class Pools:
    """Node pools as :class:`GpuNodePool` emits them, with nothing changed."""

    recorded: tuple[RecordedResource, ...]

    def altered(self, specs: Mapping[str, Mapping[str, Any]]) -> Pools:
        """Return the pools with other values in the template's spec of some, by the pool's name."""
        return Pools(tuple(_altered(each, specs.get(each.inputs["metadata"]["name"], {})) for each in self.recorded))

    @property
    def node_classes(self) -> list[Manifest]:
        """The EC2NodeClasses, with ids such as EC2 gives them."""
        return [manifest(each) for each in self.recorded if each.inputs["kind"] == node_class_spec.KIND]

    @property
    def node_pools(self) -> list[Manifest]:
        """The NodePools."""
        return [_manifest(each) for each in self.recorded if each.inputs["kind"] == node_pool_spec.KIND]

    @cached_property
    def planned(self) -> Mapping[str, Pool]:
        """The same pools as the planning module reads them, by name, in the order in which Karpenter tries them.

        Their subnets are not among what is recorded; the tests' own cluster has them.
        """
        names = {each.urn: each.inputs["metadata"]["name"] for each in self.recorded}
        read = Stack(map(as_resource, self.recorded)).pools
        found = {names[pool.urn]: replace(pool, zones=frozenset(SUBNETS)) for pool in read}
        weights = {each["metadata"]["name"]: each["spec"]["weight"] for each in self.node_pools}
        order = sorted(found, key=lambda name: (weights[name], name), reverse=True)
        return {name: found[name] for name in order}


def pools(blocks: Mapping[str, Block]) -> Pools:
    """Record the component for each block of ``node_pools``, by the pool's name."""

    def program() -> None:
        place, karpenter = cluster(), KarpenterConnection(node_role_name="karpenter-node")
        for name, block in blocks.items():
            settings = NodePool.model_validate(block)
            GpuNodePool(name, GpuNodePoolArgs(settings=settings, cluster=place, karpenter=karpenter))

    wanted = {node_class_spec.KIND, node_pool_spec.KIND}
    return Pools(tuple(each for each in record(program).resources if each.inputs.get("kind") in wanted))


def placeholders(name: str, block: Block) -> list[Manifest]:
    """Record the component for a pool with ``warm_nodes``, and return what keeps them ready, the priority first."""

    def program() -> None:
        karpenter = KarpenterConnection(node_role_name="karpenter-node")
        settings = NodePool.model_validate(block)
        GpuNodePool(name, GpuNodePoolArgs(settings=settings, cluster=cluster(), karpenter=karpenter))

    recording = record(program)
    deployment = _manifest(recording.one(_DEPLOYMENT))
    return [dict(recording.one(_PRIORITY_CLASS).inputs), {**deployment, "metadata": {"name": f"{name}-warm"}}]


@dataclass(frozen=True)
class Groups:
    """Managed node groups as our components emit them."""

    recorded: tuple[RecordedResource, ...]

    @property
    def shapes(self) -> tuple[NodeGroupShape, ...]:
        """What their nodes are like, by what EKS is told of them."""
        return tuple(_shape(each) for each in self.recorded if each.type == _NODE_GROUP)

    @cached_property
    def planned(self) -> Mapping[str, Pool]:
        """Those with GPUs as the planning module reads them, by name."""
        read = Stack(map(as_resource, self.recorded)).pools
        found = (replace(pool, zones=frozenset(SUBNETS)) for pool in read if pool.buys_gpus)
        return {pool.name.removesuffix(_SUFFIX): pool for pool in found}


def groups(blocks: Mapping[str, Block]) -> Groups:
    """Record a component for each block of ``node_groups``, and for ``system``, which has the block of its own name."""

    def program() -> None:
        place = cluster()
        for name, block in blocks.items():
            if name == SYSTEM:
                SystemNodes(name, SystemNodesArgs(settings=SystemNodesBlock.model_validate(block), cluster=place))
            else:
                GpuNodeGroup(name, GpuNodeGroupArgs(settings=NodeGroup.model_validate(block), cluster=place))

    return Groups(record(program).resources if blocks else ())


@cache
def stack_pools(stack: str) -> Mapping[str, Block]:
    """Return the ``node_pools`` block of one of the stack files."""
    platform = load(ROOT / "stacks" / f"Pulumi.{stack}.yaml").platform
    return {name: pool.model_dump() for name, pool in platform.node_pools.items()}


def servers(chosen: Mapping[str, object], *, namespace: str, claim: str) -> list[Manifest]:
    """Record the model servers that a ``workloads`` block names, and return their Deployments; they mount ``claim``."""
    software = GpuSoftware(
        ready=(),
        gpu_resource=resources.GPU,
        shared=False,
        runtime_class_name=None,
        owns_exporter=False,
        namespace=namespaces.NVIDIA,
    )

    def program() -> None:
        cache = CacheClaim(claim_name=claim, read_bytes_per_second=storage.EFS_ELASTIC_CLIENT_BYTES_PER_SECOND)
        place = ModelServerArgs(cluster=cluster(), namespace=namespace, gpu_software=software, cache=cache)
        serve(Workloads.model_validate(chosen), place)

    return [_manifest(each) for each in record(program).resources if each.type == _DEPLOYMENT]


def pod_templates(manifests: Iterable[Manifest]) -> dict[str, PodTemplate]:
    """Return the pods that manifests carry as the planning module reads them, by the name of their object."""
    return {pod.name: pod for pod in seen(manifests).pods}


def seen(manifests: Iterable[Manifest]) -> Stack:
    """Return objects as the policies see them."""
    return Stack(map(_resource, manifests))


def _altered(recorded: RecordedResource, spec: Mapping[str, Any]) -> RecordedResource:
    if recorded.inputs["kind"] != node_pool_spec.KIND or not spec:
        return recorded
    inputs = deepcopy(dict(recorded.inputs))
    inputs["spec"]["template"]["spec"].update(spec)
    return replace(recorded, inputs=inputs)


def _shape(recorded: RecordedResource) -> NodeGroupShape:
    told = recorded.inputs
    return NodeGroupShape(
        cluster=told["clusterName"],
        name=recorded.name.removesuffix(_SUFFIX),
        region=REGION,
        subnets=tuple(Subnet(zone, f"10.0.{n}.0/24") for n, zone in enumerate(SUBNETS)),
        instance_types=tuple(told["instanceTypes"]),
        size=told["scalingConfig"]["desiredSize"],
        ami_type=told["amiType"],
        capacity_type=told["capacityType"],
        labels=told["labels"],
        taints=tuple(told.get("taints", ())),
    )


def _resource(manifest: Manifest) -> Resource:
    api, name = manifest["apiVersion"], manifest["metadata"]["name"]
    group = api if "/" in api else f"core/{api}"
    kind = manifest["kind"]
    return Resource(urn=f"urn:{kind}:{name}", type=f"kubernetes:{group}:{kind}", name=name, props=manifest)


def _manifest(recorded: RecordedResource) -> Manifest:
    return {key: recorded.inputs[key] for key in ("apiVersion", "kind", "metadata", "spec")}
