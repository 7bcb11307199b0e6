"""What model servers listen on and answer."""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = (
    "vllm-project/vllm docs/deployment/k8s.md and docs/serving (port 8000, /health, `vllm serve <model>`; the option "
    "--model is deprecated); triton-inference-server/server deploy/k8s-onprem (ports 8000, 8001, 8002, /v2/health)"
)
CHECKED = "2026-11-21"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where a server answers, all by HTTP on one port unless said otherwise."""

    http_port: int
    live_path: str
    ready_path: str


VLLM = Endpoints(http_port=8000, live_path="/health", ready_path="/health")
"""It answers ``/health`` only once the model is loaded, because the API server starts after the engine."""

TRITON = Endpoints(http_port=8000, live_path="/v2/health/live", ready_path="/v2/health/ready")
TRITON_GRPC_PORT = 8001
TRITON_METRICS_PORT = 8002

VLLM_COMMAND = ("vllm", "serve")
VLLM_STACK = "vllm-stack"
"""vLLM's own chart (vllm-project/production-stack @00c38d1 helm/values.yaml): its servers name the RuntimeClass nvidia
unless ``servingEngineSpec.runtimeClassName`` says otherwise."""
HF_TOKEN_KEY = "token"  # noqa: S105 - the key inside a Secret, not a secret
"""Key of a Secret under which servers look for the hub's token."""
