"""vLLM server: one language model behind an OpenAI-compatible API, inside the cluster.

Builds
    Deployment           the servers, on GPU nodes of the models asked for
    Service              a ClusterIP, reachable from inside the cluster only
    PodDisruptionBudget  with two replicas or more: one goes at a time

Needs
    GPU software, a bound claim on a model cache in the same namespace, and pools of the GPU models asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import labels, servers, storage
from eks_gpu.foundation.arguments import Problem, missing, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.planning.start_up import StartUpBudget, start_up_budget, volume_bytes_per_second
from eks_gpu.settings import workloads as settings
from eks_gpu.settings.gpu_pool import RootVolume
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads import pod_parts
from eks_gpu.workloads.pod_parts import CACHE_PATH, HTTP, SCRATCH_PATH, Part

_WORKLOAD: Final = "inference"
_APPLICATION: Final = "vllm"
_CONTAINER: Final = "vllm"
_DRAIN_SECONDS: Final = 15
"""A pod that is to go keeps serving that long, until no proxy sends it requests any more."""
_GRACE_SECONDS: Final = 90
"""For requests under way. Spot instances give two minutes in all."""
_WAIT_MARGIN_SECONDS: Final = 60
"""Pulumi waits a little longer than Kubernetes, so that it is Kubernetes' reason that people read."""


@dataclass(frozen=True, kw_only=True)
class VllmServerArgs:
    """What a vLLM server is built from."""

    settings: settings.Vllm
    """Choices of the ``workloads.vllm`` block."""

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

    after: Sequence[pulumi.Resource] = ()
    """What must exist before: the namespace, the pools."""


class VllmServer(Component):
    """Servers of one language model."""

    url: pulumi.Output[str]
    """Base URL inside the cluster."""

    deployment: k8s.apps.v1.Deployment
    """The servers."""

    def __init__(self, name: str, args: VllmServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the servers, then their one address, then how many may be away at once."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts)
        self.deployment = self._deployment(args)
        service = self._service(args)
        self._disruption_budget(args)
        self.url = pulumi.Output.format("http://{0}.{1}:{2}", name, args.namespace, servers.VLLM.http_port)
        self.register_outputs({"url": self.url, "service": service.id})

    def _deployment(self, args: VllmServerArgs) -> k8s.apps.v1.Deployment:
        budget = vllm_start_up(args.settings, args.cache, args.volume_throughput_mibps)
        wait = budget.deadline_seconds() + _WAIT_MARGIN_SECONDS
        rounds = 1 if args.settings.may_surge else args.settings.replicas
        return k8s.apps.v1.Deployment(
            self.child_name("deployment"),
            metadata=self._metadata(args),
            **deployment(self._name, args, budget),
            opts=self.child_opts(
                provider=args.cluster.provider,
                depends_on=(*args.gpu_software.ready, *args.cache.ready, *args.after),
                custom_timeouts=pulumi.CustomTimeouts(create=f"{wait}s", update=f"{wait * rounds}s"),
            ),
        )

    def _service(self, args: VllmServerArgs) -> k8s.core.v1.Service:
        return k8s.core.v1.Service(
            self.child_name("service"),
            metadata=self._metadata(args),
            **service(selector(self._name)),
            opts=self.child_opts(provider=args.cluster.provider, depends_on=[self.deployment]),
        )

    def _disruption_budget(self, args: VllmServerArgs) -> k8s.policy.v1.PodDisruptionBudget | None:
        if args.settings.replicas == 1:
            # A budget for one pod either says nothing or blocks every drain.
            return None
        return k8s.policy.v1.PodDisruptionBudget(
            self.child_name("disruption-budget"),
            metadata=self._metadata(args),
            spec={"max_unavailable": 1, "selector": {"match_labels": selector(self._name)}},
            opts=self.child_opts(provider=args.cluster.provider, depends_on=args.after),
        )

    def _metadata(self, args: VllmServerArgs) -> dict[str, Any]:
        return {"name": self._name, "namespace": args.namespace, "labels": pod_labels(self._name)}


def vllm_start_up(server: settings.Vllm, cache: CacheClaim, volume_throughput_mibps: int) -> StartUpBudget:
    """Return how long a start takes at most: offline from the cache, else from the hub through it."""
    read = cache.read_bytes_per_second
    return start_up_budget(
        model_bytes=server.weights_bytes,
        read_bytes_per_second=read if server.offline else min(read, storage.HUB_BYTES_PER_SECOND),
        image_bytes=server.image_bytes,
        volume_bytes_per_second=volume_bytes_per_second(volume_throughput_mibps),
    )


def selector(name: str) -> dict[str, str]:
    """Return the labels by which a server's pods are found."""
    return {labels.APP_NAME: _APPLICATION, labels.APP_INSTANCE: name}


def pod_labels(name: str) -> dict[str, str]:
    """Return the labels of a server's pods: those that find them, and what kind of work they do."""
    return {**selector(name), labels.WORKLOAD: _WORKLOAD}


def deployment(name: str, args: VllmServerArgs, budget: StartUpBudget) -> Part:
    """Return everything of the Deployment but its metadata."""
    server = args.settings
    return {
        "spec": {
            "replicas": server.replicas,
            "progressDeadlineSeconds": budget.deadline_seconds(),
            "selector": {"matchLabels": selector(name)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling_update(server)},
            "template": {
                "metadata": {"labels": pod_labels(name), "annotations": declared_sizes(server)},
                "spec": pod_spec(name, args, budget),
            },
        }
    }


def rolling_update(server: settings.Vllm) -> Part:
    """Return how pods are exchanged. A surge needs GPUs that nobody holds; without them one pod goes first."""
    return {"maxSurge": 1, "maxUnavailable": 0} if server.may_surge else {"maxSurge": 0, "maxUnavailable": 1}


def declared_sizes(server: settings.Vllm) -> dict[str, str]:
    """Return the annotations that state what a start has to move; rules judge the start-up probe by them."""
    return {labels.MODEL_BYTES: str(server.weights_bytes), labels.IMAGE_BYTES: str(server.image_bytes)}


def pod_spec(name: str, args: VllmServerArgs, budget: StartUpBudget) -> Part:
    """Return the spec of one server's pod."""
    server = args.settings
    volumes = pod_parts.server_volumes(
        args.cache, shared_memory_gib=server.shared_memory_gib, cache_read_only=server.offline
    )
    spec: Part = {
        "affinity": pod_parts.node_affinity(server.gpu_types),
        "tolerations": pod_parts.tolerations(server.gpu_types),
        "topologySpreadConstraints": pod_parts.spread_over_zones(selector(name)),
        "securityContext": pod_parts.pod_security(),
        "automountServiceAccountToken": False,
        # A Service called "vllm" would otherwise set VLLM_PORT to a URL, and the server would not start.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "volumes": list(volumes.volumes),
        "containers": [
            {
                "name": _CONTAINER,
                "image": server.image_reference,
                "imagePullPolicy": "IfNotPresent",
                "command": list(servers.VLLM_COMMAND),
                "args": vllm_arguments(server),
                "env": environment(server),
                "ports": [{"name": HTTP, "containerPort": servers.VLLM.http_port, "protocol": "TCP"}],
                "resources": pod_parts.gpu_resources(
                    args.gpu_software.gpu_resource,
                    server.gpus,
                    cpu=server.cpu_per_gpu * server.gpus,
                    memory_gib=server.memory_gib,
                ),
                "volumeMounts": list(volumes.mounts),
                "securityContext": pod_parts.container_security(),
                "lifecycle": {"preStop": {"sleep": {"seconds": _DRAIN_SECONDS}}},
                **pod_parts.probes(servers.VLLM, budget.probe()),
            }
        ],
    }
    if args.gpu_software.runtime_class_name is not None:
        spec["runtimeClassName"] = args.gpu_software.runtime_class_name
    return spec


def vllm_arguments(server: settings.Vllm) -> list[str]:
    """Return the arguments of ``vllm serve``: the model first, and one GPU for each part of its tensors."""
    arguments = [
        server.model,
        "--port",
        str(servers.VLLM.http_port),
        "--tensor-parallel-size",
        str(server.gpus),
        "--gpu-memory-utilization",
        str(settings.GPU_MEMORY_SHARE),
    ]
    if server.max_model_len is not None:
        arguments += ["--max-model-len", str(server.max_model_len)]
    return arguments


def environment(server: settings.Vllm) -> list[Part]:
    """Return the server's environment: models on the cache, everything else that it writes in scratch space."""
    values = {
        "HF_HOME": f"{CACHE_PATH}/huggingface",
        "HF_MODULES_CACHE": f"{SCRATCH_PATH}/hf-modules",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HOME": SCRATCH_PATH,
        # The image has no entry for our user id, and PyTorch asks for the user's name to name a folder.
        "USER": _APPLICATION,
        "VLLM_CACHE_ROOT": f"{SCRATCH_PATH}/vllm",
        "TORCHINDUCTOR_CACHE_DIR": f"{SCRATCH_PATH}/torchinductor",
        "TRITON_CACHE_DIR": f"{SCRATCH_PATH}/triton",
        "VLLM_NO_USAGE_STATS": "1",
    }
    if server.offline:
        values["HF_HUB_OFFLINE"] = "1"
    secrets = [] if server.hf_token_secret is None else [_hub_token(server.hf_token_secret)]
    return [*pod_parts.variables(values), *secrets]


def service(pods: Mapping[str, str]) -> Part:
    """Return everything of the Service but its metadata. Nothing outside the cluster reaches it."""
    return {
        "spec": {
            "type": "ClusterIP",
            "selector": dict(pods),
            "ports": [{"name": HTTP, "port": servers.VLLM.http_port, "targetPort": HTTP, "protocol": "TCP"}],
        }
    }


def _hub_token(secret: str) -> Part:
    return pod_parts.from_secret("HF_TOKEN", secret, servers.HF_TOKEN_KEY)


def _problems(args: VllmServerArgs) -> Iterator[Problem]:
    yield from missing(args, "namespace")
    if args.gpu_software.shared and args.settings.gpus > 1:
        yield Problem(
            "settings.gpus",
            f"{args.settings.gpus} shares of GPUs are not {args.settings.gpus} GPUs, and the device plugin refuses "
            "them; ask for 1, or do not share GPUs",
        )
    if not math.isfinite(args.cache.read_bytes_per_second) or args.cache.read_bytes_per_second <= 0:
        yield Problem(
            "cache.read_bytes_per_second",
            f"{args.cache.read_bytes_per_second} is no speed; give the bytes that one server can read in a second",
        )
