"""How model servers are told which model to serve, and where they keep what they download from a hub."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = (
    "huggingface_hub documentation, environment variables (HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_TOKEN; the older "
    "HUGGINGFACE_HUB_CACHE and HUGGING_FACE_HUB_TOKEN still count); transformers documentation (TRANSFORMERS_CACHE, "
    "TRANSFORMERS_OFFLINE); vllm-project/vllm (`vllm serve <model>`, --model, --download-dir); sgl-project/sglang "
    "(--model-path); huggingface/text-generation-inference and text-embeddings-inference (--model-id, MODEL_ID, "
    "--huggingface-hub-cache, images with /data); kserve/kserve python/huggingface_server.Dockerfile (HF_HOME, "
    "--model_id, --model_dir); NVIDIA NIM documentation (/opt/nim/.cache, NIM_CACHE_PATH, NGC_API_KEY); "
    "triton-inference-server/server (--model-repository, --model-store)"
)
CHECKED = "2026-11-21"

MODEL_FLAGS = frozenset(
    {
        "--model",
        "--model-id",
        "--model_id",
        "--model-path",
        "--model_path",
        "--model-dir",
        "--model_dir",
    }
)
"""Options whose value is the model: its name on a hub, a folder, or a URL."""

MODEL_VARIABLES = ("MODEL_ID", "HF_MODEL_ID", "OPTION_MODEL_ID", "MODEL_NAME")
"""Environment variables whose value is the model, where no option names one."""

REPOSITORY_FLAGS = frozenset({"--model-repository", "--model-store"})
"""Triton's options for where all its models are."""

SERVE_COMMANDS = frozenset({"serve", "api_server", "trtllm-serve"})
"""Words after which a server's model follows as an argument."""

DOWNLOAD_COMMANDS = frozenset({"hf", "huggingface-cli"})
DOWNLOAD = "download"
"""``hf download org/name`` fetches a model into the cache, or into the folder of the option below."""

SNAPSHOT_CALL = "snapshot_download"
"""What Python programs call to fetch a model."""

CACHE_FLAGS = ("--local-dir", "--download-dir", "--download_dir", "--huggingface-hub-cache", "--cache-dir")
"""Options that say where downloads go, whatever the environment says."""

CACHE_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "HF_HUB_CACHE": "",
        "HUGGINGFACE_HUB_CACHE": "",
        "HF_HOME": "/hub",
        "TRANSFORMERS_CACHE": "",
        "XDG_CACHE_HOME": "/huggingface/hub",
    }
)
"""Environment variables that say where downloads go, the strongest first, with the folder below their value."""

HOME = "HOME"
HOME_CACHE = ".cache/huggingface/hub"
"""Where downloads go below the user's home when nothing is said."""

IMAGE_CACHES: Mapping[str, str] = MappingProxyType(
    {
        "text-generation-inference": "/data",
        "text-embeddings-inference": "/data",
        "huggingfaceserver": "/tmp/huggingface/hub",  # noqa: S108 - a path inside a container
    }
)
"""Where images that say it themselves keep downloads; the key is part of the image's name."""

TOKEN_VARIABLES = frozenset({"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_TOKEN", "HUGGINGFACEHUB_API_TOKEN"})
"""Environment variables that only those need who fetch from the hub."""

OFFLINE_VARIABLES = frozenset({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
"""Environment variables that forbid any download."""

TRUE_VALUES = frozenset({"1", "ON", "YES", "TRUE"})
"""What huggingface_hub takes for true, in capitals."""

NIM_IMAGES = "nvcr.io/nim/"
NIM_TOKEN_VARIABLES = frozenset({"NGC_API_KEY", "NGC_CLI_API_KEY"})
NIM_CACHE_VARIABLE = "NIM_CACHE_PATH"
NIM_CACHE = "/opt/nim/.cache"
"""NVIDIA's microservices fetch their models from NGC when they start."""

OLLAMA = "ollama"
OLLAMA_FETCHES = frozenset({"pull", "run"})
OLLAMA_CACHE_VARIABLE = "OLLAMA_MODELS"
OLLAMA_HOME_CACHE = ".ollama/models"
"""``ollama pull`` and ``ollama run`` fetch a model from Ollama's own hub into the user's home (ollama/ollama
docs/faq.md, "Where are models stored?")."""
