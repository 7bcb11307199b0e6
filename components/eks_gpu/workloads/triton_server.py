"""Triton server: whatever models a repository on the model cache holds, inside the cluster.

Needs
    GPU software, a bound claim on a model cache in the same namespace with the repository on it, and pools of the GPU
    models asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi

from eks_gpu.facts import declarations, images, servers
from eks_gpu.settings import workloads as settings
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads import pod_parts
from eks_gpu.workloads.model_server import ModelServer, ModelServerArgs
from eks_gpu.workloads.pod_parts import CACHE_PATH, SCRATCH_PATH
from eks_gpu.workloads.server_manifest import Program

_APPLICATION: Final = "triton"
_COMMAND: Final = "tritonserver"
_EXIT_TIMEOUT_SECONDS: Final = 60
"""How long Triton lets requests end when it is told to go: within the pod's grace period."""


@dataclass(frozen=True, kw_only=True)
class TritonServerArgs(ModelServerArgs):
    """What a Triton server is built from."""

    settings: settings.Triton
    """Choices of the ``workloads.triton`` block."""


class TritonServer(ModelServer):
    """Servers of a repository of models."""

    def __init__(self, name: str, args: TritonServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the servers of the repository that the settings name."""
        super().__init__(name, args, args.settings, triton(args.settings, args.cache), opts)


def triton(server: settings.Triton, cache: CacheClaim) -> Program:
    """Return Triton as a program: it loads every model of its repository before it is ready, and only reads there."""
    return Program(
        application=_APPLICATION,
        endpoints=servers.TRITON,
        command=(_COMMAND,),
        arguments=triton_arguments(server),
        environment=pod_parts.variables({"HOME": SCRATCH_PATH}),
        other_ports={"grpc": servers.TRITON_GRPC_PORT, "metrics": servers.TRITON_METRICS_PORT},
        annotations=_reason(server),
        cache_read_only=True,
        model_bytes=round(server.model_size_gb * images.GB),
        read_bytes_per_second=cache.read_bytes_per_second,
    )


def triton_arguments(server: settings.Triton) -> list[str]:
    """Return the arguments of ``tritonserver``. It ends if a model cannot be loaded, rather than serve fewer."""
    return [
        f"--model-repository={CACHE_PATH}/{server.model_repository}",
        f"--http-port={servers.TRITON.http_port}",
        f"--grpc-port={servers.TRITON_GRPC_PORT}",
        f"--metrics-port={servers.TRITON_METRICS_PORT}",
        "--exit-on-error=true",
        f"--exit-timeout-secs={_EXIT_TIMEOUT_SECONDS}",
    ]


def _reason(server: settings.Triton) -> dict[str, str]:
    return {} if server.full_image_reason is None else {declarations.FULL_IMAGE_REASON: server.full_image_reason}
