"""What every model server is made of: pods that start slowly, one address, and a limit to disruption.

Builds
    Deployment           the servers, on GPU nodes of the models asked for
    Service              a ClusterIP, reachable from inside the cluster only
    PodDisruptionBudget  with two replicas or more: one goes at a time
    DaemonSet            on request: nodes pull the image before a server needs it
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import labels
from eks_gpu.foundation.arguments import Problem, missing, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.settings.gpu_pool import RootVolume
from eks_gpu.settings.model_server import Server
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads import image_prefetch
from eks_gpu.workloads.server_manifest import (
    Program,
    ServerPlan,
    deployment_spec,
    disruption_budget_spec,
    service_spec,
)

_WAIT_MARGIN_SECONDS: Final = 60
"""Pulumi waits a little longer than Kubernetes, so that it is Kubernetes' reason that people read."""


@dataclass(frozen=True, kw_only=True)
class ModelServerArgs:
    """Where a model server runs, and what it needs there."""

    cluster: ClusterConnection
    """Where it runs."""

    namespace: pulumi.Input[str]
    """Namespace, which exists already and holds the cache's claim."""

    gpu_software: GpuSoftware
    """What makes GPUs visible to its pods."""

    cache: CacheClaim
    """Where models are kept, so that a restart downloads nothing."""

    volume_throughput_mibps: int = RootVolume().throughput_mibps
    """Throughput of the nodes' image volume in MiB/s, on which a rollout waits. The default volume's unless given."""

    previously: tuple[str, ...] = ()
    """Former names of the component, oldest first. Its objects, and with them its URL, keep the first."""

    after: Sequence[pulumi.Resource] = ()
    """What must exist before: the namespace, the pools."""


class ModelServer(Component):
    """Servers of models. The base of those that there are: it says how, they say what."""

    url: pulumi.Output[str]
    """Base URL inside the cluster."""

    deployment: k8s.apps.v1.Deployment
    """The servers."""

    def __init__(
        self,
        name: str,
        args: ModelServerArgs,
        server: Server,
        program: Program,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Define the servers, then their one address, then how many may be away at once."""
        refuse(_problems(server, args), component=name)
        super().__init__(name, opts, args.previously)
        self._args = args
        self._plan = ServerPlan(
            name=self._first_name,
            server=server,
            program=program,
            gpu_software=args.gpu_software,
            cache=args.cache,
            volume_throughput_mibps=args.volume_throughput_mibps,
        )
        self.deployment = self._deployment()
        self._service()
        self._disruption_budget()
        self._image_prefetch()
        port = program.endpoints.http_port
        self.url = pulumi.Output.format("http://{0}.{1}:{2}", self._first_name, args.namespace, port)
        self.register_outputs({"url": self.url})

    def _deployment(self) -> k8s.apps.v1.Deployment:
        return k8s.apps.v1.Deployment(
            self.child_name("deployment"),
            **self._manifest(deployment_spec(self._plan)),
            opts=self.child_opts(
                provider=self._args.cluster.provider,
                depends_on=(*self._args.gpu_software.ready, *self._args.cache.ready, *self._args.after),
                custom_timeouts=patience(self._plan),
            ),
        )

    def _service(self) -> k8s.core.v1.Service:
        return k8s.core.v1.Service(
            self.child_name("service"),
            **self._manifest(service_spec(self._plan)),
            opts=self.child_opts(provider=self._args.cluster.provider, depends_on=[self.deployment]),
        )

    def _disruption_budget(self) -> k8s.policy.v1.PodDisruptionBudget | None:
        if self._plan.server.replicas == 1:
            # A budget for one pod either says nothing or blocks every drain.
            return None
        return k8s.policy.v1.PodDisruptionBudget(
            self.child_name("disruption-budget"),
            **self._manifest(disruption_budget_spec(self._plan)),
            opts=self.child_opts(provider=self._args.cluster.provider, depends_on=self._args.after),
        )

    def _image_prefetch(self) -> k8s.apps.v1.DaemonSet | None:
        if not self._plan.server.prefetch:
            return None
        manifest = self._manifest(image_prefetch.daemon_set_spec(self._plan))
        # It has a name of its own, and a deployment does not wait until every node has pulled.
        manifest["metadata"] = {
            **manifest["metadata"],
            "name": f"{self._first_name}-{image_prefetch.APPLICATION}",
            "labels": manifest["spec"]["selector"]["matchLabels"],
            "annotations": {labels.SKIP_AWAIT: "true"},
        }
        return k8s.apps.v1.DaemonSet(
            self.child_name(image_prefetch.APPLICATION),
            **manifest,
            opts=self.child_opts(provider=self._args.cluster.provider, depends_on=self._args.after),
        )

    def _manifest(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return ``metadata`` and ``spec`` of one of its objects, which all have its name."""
        metadata = {"name": self._first_name, "namespace": self._args.namespace, "labels": self._plan.labels}
        return {"metadata": metadata, "spec": spec}


def patience(plan: ServerPlan) -> pulumi.CustomTimeouts:
    """Return how long Pulumi waits for the servers: one start at first, one after another where none may surge."""
    start = plan.budget.deadline_seconds() + _WAIT_MARGIN_SECONDS
    rounds = 1 if plan.server.may_surge else plan.server.replicas
    return pulumi.CustomTimeouts(create=f"{start}s", update=f"{start * rounds}s")


def _problems(server: Server, args: ModelServerArgs) -> Iterator[Problem]:
    yield from missing(args, "namespace")
    if server.gpus > 1 and args.gpu_software.shared_on(server.node_gpu_types):
        yield Problem(
            "settings.gpus",
            f"{server.gpus} shares of GPUs are not {server.gpus} GPUs, and the device plugin refuses them; "
            "ask for 1, or do not share GPUs",
        )
    speed = args.cache.read_bytes_per_second
    if not math.isfinite(speed) or speed <= 0:
        yield Problem(
            "cache.read_bytes_per_second",
            f"{speed} is no speed; give the bytes that one server can read in a second",
        )
