"""The servers that the settings name."""

from __future__ import annotations

from dataclasses import fields

import pulumi

from eks_gpu.settings import workloads as settings
from eks_gpu.workloads.model_server import ModelServerArgs
from eks_gpu.workloads.triton_server import TritonServer, TritonServerArgs
from eks_gpu.workloads.vllm_server import VllmServer, VllmServerArgs


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
