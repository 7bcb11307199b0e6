"""The manifests of a model server, as plain data: what runs, on which nodes, and how long it may take to start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from eks_gpu.facts import declarations, labels
from eks_gpu.facts.servers import Endpoints
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.planning.start_up import StartUpBudget, start_up_budget, volume_bytes_per_second
from eks_gpu.settings.model_server import Server
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads import pod_parts
from eks_gpu.workloads.pod_parts import HTTP, Part

_WORKLOAD: Final = "inference"
_DRAIN_SECONDS: Final = 15
"""A pod that is to go keeps serving that long, until no proxy sends it requests any more."""
_GRACE_SECONDS: Final = 90
"""For requests under way. Spot instances give two minutes in all."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What runs in a server's container, and how it is started and asked."""

    application: str
    """What kind of server it is; a label of its pods and the name of its container."""

    endpoints: Endpoints
    """Where it answers."""

    command: Sequence[str]
    """Program, in place of the image's own entry point."""

    arguments: Sequence[str]
    """Its arguments."""

    environment: Sequence[Part]
    """Its environment variables."""

    model_bytes: int
    """What it reads before it can serve."""

    read_bytes_per_second: float
    """Speed at which a first start gets at that."""

    cache_read_only: bool
    """Whether it only reads models, and somebody else brings them."""

    other_ports: Mapping[str, int] = field(default_factory=dict)
    """Ports beside that for HTTP, by name."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations of its pods."""


@dataclass(frozen=True, kw_only=True)
class ServerPlan:
    """Everything that decides a server's manifests."""

    name: str
    """Name of its Deployment and Service."""

    server: Server
    """What people chose."""

    program: Program
    """What runs."""

    gpu_software: GpuSoftware
    """How its pods ask for GPUs."""

    cache: CacheClaim
    """Where its models are."""

    volume_throughput_mibps: int
    """Speed in MiB/s at which a node writes the image down."""

    @cached_property
    def budget(self) -> StartUpBudget:
        """How long a start takes at most, the first one included."""
        return start_up_budget(
            model_bytes=self.program.model_bytes,
            read_bytes_per_second=self.program.read_bytes_per_second,
            image_bytes=self.server.image_bytes,
            volume_bytes_per_second=volume_bytes_per_second(self.volume_throughput_mibps),
        )

    @property
    def gpu_resource(self) -> str:
        """Name by which its pods ask for what they get of a GPU."""
        if self.server.mig_profile is not None:
            return self.gpu_software.partition(self.server.mig_profile)
        return self.gpu_software.resource_on(self.server.node_gpu_types)

    @property
    def selector(self) -> dict[str, str]:
        """The labels by which its pods are found."""
        return {labels.APP_NAME: self.program.application, labels.APP_INSTANCE: self.name}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its pods: those that find them, and what kind of work they do."""
        return {**self.selector, labels.WORKLOAD: _WORKLOAD}

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of its pods. They state what a start has to move; rules judge the startup probe by them."""
        return {
            declarations.MODEL_BYTES: str(self.program.model_bytes),
            declarations.IMAGE_BYTES: str(self.server.image_bytes),
            **self.program.annotations,
        }

    @property
    def ports(self) -> dict[str, int]:
        """Its ports by name, that for HTTP first."""
        return {HTTP: self.program.endpoints.http_port, **self.program.other_ports}


def deployment_spec(plan: ServerPlan) -> Part:
    """Return the spec of the Deployment."""
    return {
        "replicas": plan.server.replicas,
        "progressDeadlineSeconds": plan.budget.deadline_seconds(),
        "selector": {"matchLabels": plan.selector},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling_update(plan.server)},
        "template": {"metadata": {"labels": plan.labels, "annotations": plan.annotations}, "spec": pod_spec(plan)},
    }


def rolling_update(server: Server) -> Part:
    """Return how pods are exchanged. A surge needs GPUs that nobody holds; without them one pod goes first."""
    return {"maxSurge": 1, "maxUnavailable": 0} if server.may_surge else {"maxSurge": 0, "maxUnavailable": 1}


def pod_spec(plan: ServerPlan) -> Part:
    """Return the spec of one server's pod."""
    volumes = pod_parts.server_volumes(
        plan.cache,
        shared_memory_gib=plan.server.shared_memory_gib,
        cache_read_only=plan.program.cache_read_only,
    )
    runtime_class = plan.gpu_software.runtime_class_name
    return {
        **({"runtimeClassName": runtime_class} if runtime_class is not None else {}),
        "affinity": pod_parts.node_affinity(plan.server.node_gpu_types),
        "tolerations": pod_parts.tolerations(plan.server.node_gpu_types),
        **_spread(plan),
        "securityContext": pod_parts.pod_security(),
        "automountServiceAccountToken": False,
        # A Service called "vllm" would otherwise set VLLM_PORT to a URL, and the server would not start.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "volumes": list(volumes.volumes),
        "containers": [container(plan, volumes.mounts)],
    }


def _spread(plan: ServerPlan) -> Part:
    """Return the wish of several servers to be in several zones.

    A single one has nobody to be apart from, and the wish would cost it: Karpenter settles on a zone first, any of
    those that would do, and on the cheapest offer in it afterwards, which in a zone without spot is on-demand (seen
    with Karpenter 1.14.1).
    """
    if plan.server.replicas == 1:
        return {}
    return {"topologySpreadConstraints": pod_parts.spread_over_zones(plan.selector)}


def container(plan: ServerPlan, mounts: Sequence[Part]) -> Part:
    """Return the one container of a server's pod."""
    server, program = plan.server, plan.program
    return {
        "name": program.application,
        "image": server.image_reference,
        "imagePullPolicy": "IfNotPresent",
        "command": list(program.command),
        "args": list(program.arguments),
        "env": list(program.environment),
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in plan.ports.items()],
        "resources": pod_parts.gpu_resources(
            plan.gpu_resource,
            server.gpus,
            cpu=server.cpu_per_gpu * server.gpus,
            memory_gib=server.memory_gib,
        ),
        "volumeMounts": list(mounts),
        "securityContext": pod_parts.container_security(),
        "lifecycle": {"preStop": {"sleep": {"seconds": _DRAIN_SECONDS}}},
        **pod_parts.probes(program.endpoints, plan.budget.probe()),
    }


def service_spec(plan: ServerPlan) -> Part:
    """Return the spec of the Service. Nothing outside the cluster reaches it."""
    return {
        "type": "ClusterIP",
        "selector": plan.selector,
        "ports": [
            {"name": name, "port": port, "targetPort": name, "protocol": "TCP"} for name, port in plan.ports.items()
        ],
    }


def disruption_budget_spec(plan: ServerPlan) -> Part:
    """Return the spec of the PodDisruptionBudget: one pod goes at a time.

    A pod that is not ready serves nobody, so it may always go: otherwise servers that are all still loading, or that
    crash, would hold every drain of their nodes until Karpenter's grace period is over.
    """
    return {
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": plan.selector},
    }
