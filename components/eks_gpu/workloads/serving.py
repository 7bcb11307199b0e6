"""The place where models are served, and the servers that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import pulumi

from eks_gpu.facts.namespaces import INFERENCE
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.settings import workloads as settings
from eks_gpu.settings.model_cache import ModelCache as ModelCacheSettings
from eks_gpu.storage.model_cache import ModelCache, ModelCacheArgs
from eks_gpu.workloads.model_server import ModelServerArgs
from eks_gpu.workloads.triton_server import TritonServer, TritonServerArgs
from eks_gpu.workloads.vllm_server import VllmServer, VllmServerArgs


def prepare(  # noqa: PLR0913 - what a place needs, keyword-only
    cache: ModelCacheSettings,
    cluster: ClusterConnection,
    gpu_software: GpuSoftware,
    *,
    pools: Sequence[pulumi.Resource],
    protected: bool = False,
    opts: pulumi.ResourceOptions | None = None,
) -> ModelServerArgs:
    """Return the place where model servers run: a namespace under the strictest Pod Security, with a bound cache.

    Servers come after ``pools``, whose GPUs they need. ``protected`` refuses to delete the cache.
    """
    inside = pulumi.ResourceOptions(provider=cluster.provider, depends_on=list(cluster.ready))
    wanted = NamespaceArgs(namespace=INFERENCE, pod_security=PodSecurity.RESTRICTED)
    namespace = Namespace("inference-namespace", wanted, inside)
    kept = ModelCacheArgs(settings=cache, cluster=cluster, namespace=INFERENCE, protect=protected, after=[namespace])
    return ModelServerArgs(
        cluster=cluster,
        namespace=INFERENCE,
        gpu_software=gpu_software,
        cache=ModelCache("model-cache", kept, opts).claim,
        after=[namespace, *pools],
    )


def serve(
    chosen: settings.Workloads, place: ModelServerArgs, opts: pulumi.ResourceOptions | None = None
) -> dict[str, pulumi.Output[str]]:
    """Build the servers that the ``workloads`` block names, all in one place, and return their URLs by name."""
    shared = {field.name: getattr(place, field.name) for field in fields(ModelServerArgs)}
    urls: dict[str, pulumi.Output[str]] = {}
    if chosen.vllm is not None:
        urls["vllm"] = VllmServer("vllm", VllmServerArgs(settings=chosen.vllm, **shared), opts).url
    if chosen.triton is not None:
        urls["triton"] = TritonServer("triton", TritonServerArgs(settings=chosen.triton, **shared), opts).url
    return urls
