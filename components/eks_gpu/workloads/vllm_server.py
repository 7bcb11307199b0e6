"""vLLM server: one language model behind an OpenAI-compatible API, inside the cluster.

Needs
    GPU software, a bound claim on a model cache in the same namespace, and pools of the GPU models asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi

from eks_gpu.facts import servers, storage
from eks_gpu.settings import workloads as settings
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads import pod_parts
from eks_gpu.workloads.model_server import ModelServer, ModelServerArgs
from eks_gpu.workloads.pod_parts import CACHE_PATH, SCRATCH_PATH, Part
from eks_gpu.workloads.server_manifest import Program

_APPLICATION: Final = "vllm"


@dataclass(frozen=True, kw_only=True)
class VllmServerArgs(ModelServerArgs):
    """What a vLLM server is built from."""

    settings: settings.Vllm
    """Choices of the ``workloads.vllm`` block."""


class VllmServer(ModelServer):
    """Servers of one language model."""

    def __init__(self, name: str, args: VllmServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the servers of the model that the settings name."""
        super().__init__(name, args, args.settings, vllm(args.settings, args.cache), opts)


def vllm(server: settings.Vllm, cache: CacheClaim) -> Program:
    """Return vLLM as a program: it reads its model from the cache, or through the cache from the hub."""
    read = cache.read_bytes_per_second
    return Program(
        application=_APPLICATION,
        endpoints=servers.VLLM,
        command=servers.VLLM_COMMAND,
        arguments=vllm_arguments(server),
        environment=environment(server),
        cache_read_only=server.offline,
        model_bytes=server.weights_bytes,
        read_bytes_per_second=read if server.offline else min(read, storage.HUB_BYTES_PER_SECOND),
    )


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


def _hub_token(secret: str) -> Part:
    return pod_parts.from_secret("HF_TOKEN", secret, servers.HF_TOKEN_KEY)
