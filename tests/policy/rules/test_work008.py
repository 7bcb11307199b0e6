"""WORK008: model servers read from a cache."""

from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.facts import declarations, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes
from tests.support.objects import objects

MODEL = "meta-llama/Llama-3.1-70B-Instruct"
SCRATCH: dict[str, Any] = {"emptyDir": {}}
TOKEN = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
CLAIM = {"persistentVolumeClaim": {"claimName": "models"}}


def env(**values: str) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def server(
    path: str | None = None,
    volume: dict[str, Any] | None = None,
    init: list[object] | None = None,
    **settings: object,
) -> Resource:
    """Return a server that mounts ``volume`` on ``path``."""
    volumes = [] if path is None else [{"name": "models", **(CLAIM if volume is None else volume)}]
    mounts = [] if path is None else [{"name": "models", "mountPath": path}]
    container = examples.container(**{"args": ["--model", MODEL], "volumeMounts": mounts, **settings})
    pod: dict[str, Any] = {} if init is None else {"initContainers": init}
    return examples.deployment(container, volumes=volumes, **pod)


def test_w05_a_server_that_downloads_into_itself_fails_with_what_a_restart_costs() -> None:
    assert complaint(judge("WORK008", server())) == (
        f"container server downloads {MODEL} (140 GB) at every start: "
        "~/.cache/huggingface/hub is in the container itself, and goes with it"
    )


def test_w05_an_empty_dir_is_no_cache() -> None:
    message = complaint(judge("WORK008", server("/root/.cache/huggingface", SCRATCH)))
    assert "is on the volume models (emptyDir), which goes with the pod" in message
    ephemeral: dict[str, Any] = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    assert "(ephemeral)" in complaint(judge("WORK008", server("/root/.cache/huggingface", ephemeral)))


@pytest.mark.parametrize(
    "volume",
    [
        CLAIM,
        {"csi": {"driver": "s3.csi.aws.com"}},
        {"hostPath": {"path": "/mnt/k8s-disks/0"}},
        {"nfs": {"server": "fs-1", "path": "/"}},
    ],
)
def test_w05_what_outlives_the_pod_is_a_cache(volume: dict[str, Any]) -> None:
    assert passes(judge("WORK008", server("/root/.cache/huggingface", volume)))


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("/root", {}),
        ("/root/.cache", {}),
        ("/home/vllm/.cache/huggingface/hub", {}),
        ("/models", {"env": env(HF_HOME="/models")}),
        ("/models", {"env": env(HF_HOME="/models/huggingface/")}),
        ("/models/hub", {"env": env(HF_HOME="/models")}),
        ("/models", {"env": env(HF_HUB_CACHE="/models/hub", HF_HOME="/tmp")}),  # noqa: S108
        ("/models", {"env": env(HUGGINGFACE_HUB_CACHE="/models")}),
        ("/models", {"env": env(TRANSFORMERS_CACHE="/models")}),
        ("/models", {"env": env(XDG_CACHE_HOME="/models")}),
        ("/work", {"env": env(HOME="/work")}),
        ("/models", {"args": ["--model", MODEL, "--download-dir", "/models"]}),
        ("/models", {"args": ["--model", MODEL, "--download-dir=$(WHERE)/x"], "env": env(WHERE="/models")}),
        ("/data", {"image": "ghcr.io/huggingface/text-generation-inference:3.3.4"}),
    ],
)
def test_w05_the_cache_is_where_the_server_is_told_to_keep_downloads(path: str, settings: dict[str, Any]) -> None:
    assert passes(judge("WORK008", server(path, **settings)))


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("/models", {}),
        ("/root/.cache/huggingface", {"env": env(HF_HOME="/models")}),
        ("/root/.cache/huggingface", {"args": ["--model", MODEL, "--download-dir", "/models"]}),
        ("/models", {"env": env(HF_HOME="/modelsandmore")}),
        ("/root/.cache/huggingface", {"image": "ghcr.io/huggingface/text-generation-inference:3.3.4"}),
        ("/root/.cache/vllm", {}),
    ],
)
def test_w05_a_claim_that_is_mounted_elsewhere_does_not_help(path: str, settings: dict[str, Any]) -> None:
    assert "at every start" in complaint(judge("WORK008", server(path, **settings)))


def test_w05_the_deepest_mount_over_the_cache_counts() -> None:
    container = examples.container(
        args=["--model", MODEL],
        volumeMounts=[
            {"name": "models", "mountPath": "/root"},
            {"name": "scratch", "mountPath": "/root/.cache"},
        ],
    )
    pod = examples.deployment(container, volumes=[{"name": "models", **CLAIM}, {"name": "scratch", **SCRATCH}])
    assert "volume scratch (emptyDir)" in complaint(judge("WORK008", pod))


@pytest.mark.parametrize(
    "settings",
    [
        {"args": [f"--model={MODEL}"]},
        {"args": ["--model-path", MODEL], "image": "lmsysorg/sglang:v0.5.0"},
        {"args": ["--model-id", MODEL], "image": "ghcr.io/huggingface/text-generation-inference:3.3.4"},
        {"args": [], "env": env(MODEL_ID=MODEL), "image": "ghcr.io/huggingface/text-generation-inference:3.3.4"},
        {"args": ["--model_name=llama", f"--model_id={MODEL}"]},
        {"command": ["vllm", "serve", MODEL], "args": None},
        {"command": ["/bin/sh", "-c"], "args": [f"exec vllm serve {MODEL} --trust-remote-code \\\n --port 8000"]},
        {"args": [MODEL, "--port", "8000"]},
        {"args": ["--model", "$(MODEL)"], "env": env(MODEL=MODEL)},
        {"args": [f"--model=hf://{MODEL}"]},
        {"args": ["trtllm-serve", "serve", MODEL], "image": "nvcr.io/nvidia/tensorrt-llm/release:1.0.0"},
    ],
)
def test_w05_a_name_on_a_hub_is_a_download_however_it_is_given(settings: dict[str, Any]) -> None:
    assert f"downloads {MODEL} (140 GB)" in complaint(judge("WORK008", server(**settings)))


def test_w05_who_needs_the_hubs_token_downloads() -> None:
    message = complaint(judge("WORK008", server(args=["python", "serve.py"], env=[TOKEN])))
    assert message.startswith("container server downloads its model at every start")


def test_w05_a_microservice_of_nvidia_fetches_from_its_own_hub() -> None:
    nim: dict[str, Any] = {
        "image": "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.0",
        "args": None,
        "env": env(NGC_API_KEY="x"),
    }
    assert "/opt/nim/.cache is in the container itself" in complaint(judge("WORK008", server(**nim)))
    assert passes(judge("WORK008", server("/opt/nim/.cache", **nim)))
    elsewhere: dict[str, Any] = {**nim, "env": env(NGC_API_KEY="x", NIM_CACHE_PATH="/models")}
    assert passes(judge("WORK008", server("/models", **elsewhere)))


def test_w05_ollama_fetches_from_its_own_hub_when_it_is_told_to() -> None:
    pull = {"postStart": {"exec": {"command": ["/bin/sh", "-c", "sleep 5; ollama pull llama3.1"]}}}
    ollama: dict[str, Any] = {"image": "ollama/ollama:0.12.6", "args": None, "lifecycle": pull}
    assert "downloads its model at every start: ~/.ollama/models is in" in complaint(judge("WORK008", server(**ollama)))
    assert passes(judge("WORK008", server("/root/.ollama", **ollama)))
    assert passes(judge("WORK008", server("/models", **ollama, env=env(OLLAMA_MODELS="/models"))))
    assert "(emptyDir)" in complaint(judge("WORK008", server("/root/.ollama", SCRATCH, **ollama)))


@pytest.mark.parametrize(
    "settings",
    [
        {"env": [*env(HF_HUB_OFFLINE="1"), TOKEN]},
        {"env": env(TRANSFORMERS_OFFLINE="true")},
        {"args": ["--model", "/models/llama"], "env": [TOKEN]},
        {"args": ["--model", "s3://models/llama", "--load-format", "runai_streamer"], "env": [TOKEN]},
        {"args": ["tritonserver", "--model-repository=s3://models/triton"]},
        {"args": ["tritonserver", "--model-repository", "/models"]},
        {"args": ["ollama", "serve"], "image": "ollama/ollama:0.12.6"},
        {"args": ["serve", "run", "app:deployment"], "image": "rayproject/ray:2.50.0-gpu"},
        {"args": None},
    ],
)
def test_w05_models_of_a_folder_a_bucket_or_the_image_are_no_download(settings: dict[str, Any]) -> None:
    assert passes(judge("WORK008", server(**settings)))


def test_w05_not_offline_is_online() -> None:
    assert "at every start" in complaint(judge("WORK008", server(env=env(HF_HUB_OFFLINE="0"))))


FETCH = ["hf", "download", MODEL, "--local-dir", "/models"]


@pytest.mark.parametrize(
    "command", [FETCH, ["sh", "-c", " ".join(FETCH)], ["python", "-c", "snapshot_download('x', local_dir='/models')"]]
)
def test_w05_an_init_container_that_downloads_into_the_pod_downloads_at_every_start(command: list[str]) -> None:
    init = {"name": "fetch", "command": command, "volumeMounts": [{"name": "models", "mountPath": "/models"}]}
    local = ["--model", "/models"]
    assert "init container fetch downloads" in complaint(
        judge("WORK008", server("/models", SCRATCH, init=[init], args=local))
    )
    assert passes(judge("WORK008", server("/models", init=[init], args=local)))


def test_a_set_claims_its_cache_by_template() -> None:
    pod = {
        "containers": [
            examples.container(args=["--model", MODEL], volumeMounts=[{"name": "cache", "mountPath": "/root/.cache"}])
        ]
    }
    props = {
        "metadata": {"name": "llm"},
        "spec": {"template": {"spec": pod}, "volumeClaimTemplates": [{"metadata": {"name": "cache"}}]},
    }
    assert passes(judge("WORK008", examples.resource("kubernetes:apps/v1:StatefulSet", "llm", props)))


def test_a_declared_size_wins_over_the_name() -> None:
    pod = changed(server(), "spec.template.metadata.annotations", {declarations.MODEL_BYTES: "141000000000"})
    assert "(141 GB)" in complaint(judge("WORK008", pod))


def test_what_only_the_cluster_knows_is_left_open() -> None:
    home = {"name": "HF_HOME", "valueFrom": {"configMapKeyRef": {"name": "hub", "key": "home"}}}
    place = "spec.template.spec.containers[0]"
    assert left_open(judge("WORK008", server(env=[home]))) == [f"{place}.env[0].valueFrom"]
    from_map: dict[str, Any] = {"envFrom": [{"configMapRef": {"name": "hub"}}]}
    assert left_open(judge("WORK008", server("/models", **from_map))) == [f"{place}.envFrom"]
    assert "at every start" in complaint(judge("WORK008", server(**from_map)))
    said = server("/models", env=env(HF_HOME="/scratch"), **from_map)
    assert "/scratch/hub is in the container itself" in complaint(judge("WORK008", said))


def test_unknown_values_are_left_open() -> None:
    place = "spec.template.spec.containers[0]"
    assert left_open(judge("WORK008", server(args=["--model", UNKNOWN]))) == [f"{place}.args[1]"]
    assert left_open(judge("WORK008", server(args=["--model", "$(MODEL)"]))) == [f"{place}.args"]
    assert left_open(judge("WORK008", server(volumeMounts=UNKNOWN))) == [f"{place}.volumeMounts"]


def test_one_unknown_container_does_not_silence_another() -> None:
    pod = examples.deployment(
        examples.container(args=UNKNOWN), examples.container(name="second", args=["--model", MODEL])
    )
    assert "container second downloads" in complaint(judge("WORK008", pod))


def test_training_and_servers_without_gpus_are_not_concerned() -> None:
    job = examples.resource("kubernetes:batch/v1:Job", "llm", server().props)
    assert not_concerned(judge("WORK008", job))
    assert not_concerned(judge("WORK008", server(resources={"limits": {"cpu": "1"}})))


DOCUMENTED_SERVER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: mistral}
spec:
  template:
    spec:
      volumes:
      - {name: cache, persistentVolumeClaim: {claimName: mistral}}
      - {name: shm, emptyDir: {medium: Memory, sizeLimit: 2Gi}}
      containers:
      - name: mistral
        image: vllm/vllm-openai:v0.11.0
        command: [/bin/sh, -c]
        args: ["vllm serve mistralai/Mistral-7B-Instruct-v0.3 --enable-chunked-prefill"]
        env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}]
        resources: {limits: {nvidia.com/gpu: 1}}
        volumeMounts: [{mountPath: /root/.cache/huggingface, name: cache}, {mountPath: /dev/shm, name: shm}]
"""

RUNTIME_ON_A_CLAIM = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llama}
spec:
  predictor:
    containers:
    - name: kserve-container
      image: kserve/huggingfaceserver:v0.15.0-gpu
      args: [--model_name=llama3, --model_dir=/mnt/models]
      resources: {limits: {nvidia.com/gpu: "1"}}
"""

RAY_WITH_A_SHARED_HOME = """
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm}
spec:
  rayClusterConfig:
    workerGroupSpecs:
    - template:
        spec:
          containers:
          - name: worker
            image: rayproject/ray-llm:2.46.0-py311-cu124
            env: [{name: HUGGING_FACE_HUB_TOKEN, value: x}, {name: HF_HOME, value: /mnt/efs/hf}]
            resources: {limits: {nvidia.com/gpu: 1}}
            volumeMounts: [{name: efs, mountPath: /mnt/efs}]
          volumes: [{name: efs, persistentVolumeClaim: {claimName: efs}}]
"""


@pytest.mark.parametrize(
    "manifests",
    [DOCUMENTED_SERVER, RUNTIME_ON_A_CLAIM, RAY_WITH_A_SHARED_HOME],
    ids=["vLLM with a claim", "KServe's runtime on its own storage", "Ray with a shared home"],
)
def test_servers_of_public_documentation_pass(manifests: str) -> None:
    assert passes(judge("WORK008", *objects(manifests)))


def test_the_generated_server_of_a_blueprint_without_cache_fails() -> None:
    bare = objects("""
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:latest
        command: [/bin/sh, -c]
        args: ["vllm serve mistralai/Mistral-7B-v0.3"]
        env: [{name: HUGGING_FACE_HUB_TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}]
        resources: {limits: {nvidia.com/gpu: 1}}
""")
    assert complaint(judge("WORK008", *bare)).startswith(
        "container vllm downloads mistralai/Mistral-7B-v0.3 (14 GB) at every start"
    )


def test_shares_of_gpus_are_gpus() -> None:
    share = server(resources={"limits": {resources.GPU_SHARED: "1"}})
    assert "at every start" in complaint(judge("WORK008", share))
