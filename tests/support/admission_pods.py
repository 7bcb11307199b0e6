"""Pods at the edges of what the admission policies say."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.declarations import FULL_IMAGE_REASON
from eks_gpu.facts.images import TRITON_FULL
from tests.support.admission_cases import Manifest, completed

_GPU: Final = {"limits": {resources.GPU: "1", "memory": "24Gi"}}
_SHM: Final = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 - a path inside a container
_VLLM: Final = "vllm/vllm-openai:v0.11.0"
_OTHER: Final = "example.com/team/server:v1"
_DIGEST: Final = f"@sha256:{'0123456789abcdef' * 4}"


def _memory(**settings: str) -> Manifest:
    return {"name": "shm", "emptyDir": {"medium": "Memory", **settings}}


def _pod(container: Mapping[str, Any], **spec: Any) -> Manifest:  # noqa: ANN401 - any field of a pod
    sound = {"name": "a", "image": _OTHER, "resources": _GPU}
    return {"containers": [{key: value for key, value in {**sound, **container}.items() if value is not None}], **spec}


def _in(kind: str, pod: Manifest, *, own: Mapping[str, str] | None = None, **of_pods: Any) -> Manifest:  # noqa: ANN401
    """Return an object of a kind around a pod; ``own`` are the object's labels, ``of_pods`` metadata of its pods."""
    metadata = {"name": "edge", **({"labels": dict(own)} if own else {})}
    version = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}.get(
        kind, "apps/v1"
    )
    manifest: Manifest = {"apiVersion": version, "kind": kind, "metadata": metadata}
    template = {"metadata": copy.deepcopy(of_pods), "spec": copy.deepcopy(pod)}
    if kind == "Pod":
        manifest["metadata"] = {**of_pods, **metadata}
        manifest["spec"] = template["spec"]
    elif kind == "CronJob":
        manifest["spec"] = {"jobTemplate": {"spec": {"template": template}}}
    else:
        manifest["spec"] = {"template": template}
    return completed(manifest)


def _job(pod: Manifest, **spec: Any) -> Manifest:  # noqa: ANN401 - any field of a Job
    manifest = _in("Job", pod)
    manifest["spec"].update(spec)
    return manifest


def _pods() -> Iterator[tuple[str, Manifest]]:
    kinds = ("Pod", "ReplicationController", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")
    for kind in kinds:
        yield f"{kind} of vLLM with nothing", _in(kind, _pod({"image": _VLLM}))
        yield f"{kind} of something else", _in(kind, _pod({}))
        yield f"{kind} that moves", _in(kind, _pod({"image": "example.com:5000/server"}))
        yield f"{kind} that runs nvidia-smi", _in(kind, _pod({"resources": {}, "command": ["nvidia-smi"]}))
    for value in ("inference", "training", "development", "other", ""):
        for where in ("own", "labels"):
            given = {"own": {labels.WORKLOAD: value}} if where == "own" else {"labels": {labels.WORKLOAD: value}}
            yield f"Deployment labelled {value!r} ({where})", _in("Deployment", _pod({}), **given)
            yield f"Job labelled {value!r} ({where})", _in("Job", _pod({}), **given)


def _jobs() -> Iterator[tuple[str, Manifest]]:
    for seconds in (3600, 3601):
        yield f"a Job of {seconds} s", _job(_pod({}), activeDeadlineSeconds=seconds)
        yield f"a Job whose pod has {seconds} s", _job(_pod({}, activeDeadlineSeconds=seconds))
    yield "a long Job whose pod is short", _job(_pod({}, activeDeadlineSeconds=60), activeDeadlineSeconds=7200)
    yield "a Job of a CUDA sample", _job(_pod({"image": "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"}))
    yield "a Job of PyTorch", _job(_pod({"image": "pytorch/pytorch:2.9.0-cuda12.8-cudnn9-runtime"}))
    yield "a Job with a little shared memory", _job(_pod({"volumeMounts": [_SHM]}, volumes=[_memory(sizeLimit="64Mi")]))
    yield "a Job with a disk there", _job(_pod({"volumeMounts": [_SHM]}, volumes=[{"name": "shm", "emptyDir": {}}]))
    for name, settings in _TRIALS.items():
        yield f"a Job of {name}", _job(_pod(settings))
        few = {**settings, "volumeMounts": [_SHM]}
        yield f"a Job of {name} with a little memory", _job(_pod(few, volumes=[_memory(sizeLimit="64Mi")]))
    yield "a Job with the host's IPC", _job(_pod({}, hostIPC=True))


def _shared_memory() -> Iterator[tuple[str, Manifest]]:
    volumes = {
        "1 GiB": _memory(sizeLimit="1Gi"),
        "less than 1 GiB": _memory(sizeLimit="1023Mi"),
        "1 GB": _memory(sizeLimit="1G"),
        "the memory limit": _memory(sizeLimit="24Gi"),
        "just below the memory limit": _memory(sizeLimit="24575Mi"),
        "no limit of its own": _memory(),
        "a disk": {"name": "shm", "emptyDir": {}},
        "the host's": {"name": "shm", "hostPath": {"path": "/dev/shm"}},  # noqa: S108 - a path of a node
        "another path": {**_memory(sizeLimit="8Gi")},
    }
    for name, volume in volumes.items():
        mount = {**_SHM, "mountPath": "/scratch"} if name == "another path" else _SHM
        yield f"vLLM with {name}", _in("Pod", _pod({"image": _VLLM, "volumeMounts": [mount]}, volumes=[volume]))
    no_limit = {"limits": {resources.GPU: "1"}}
    for name, volume in (("no limit at all", _memory()), ("a limit of the volume", _memory(sizeLimit="8Gi"))):
        pod = _pod({"image": _VLLM, "resources": no_limit, "volumeMounts": [_SHM]}, volumes=[volume])
        yield f"vLLM with {name}", _in("Pod", pod)
    for name, most in (("a limit of the pod", "24Gi"), ("a smaller limit of the pod", "4Gi")):
        for size in ({}, {"sizeLimit": "8Gi"}):
            pod = _pod(
                {"image": _VLLM, "resources": no_limit, "volumeMounts": [_SHM]},
                volumes=[_memory(**size)],
                resources={"limits": {"memory": most}},
            )
            yield f"vLLM with {name} and {size or 'none of the volume'}", _in("Pod", pod)
    slash = {**_SHM, "mountPath": f"{_SHM['mountPath']}/"}
    pod = _pod({"image": _VLLM, "volumeMounts": [slash]}, volumes=[_memory(sizeLimit="8Gi")])
    yield "vLLM with a slash behind", _in("Pod", pod)
    yield "vLLM with the host's IPC", _in("Pod", _pod({"image": _VLLM}, hostIPC=True))
    claimed = _in("StatefulSet", _pod({"image": _VLLM, "volumeMounts": [_SHM]}))
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claimed["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "shm"}, "spec": claim}]
    yield "vLLM with a claim there", claimed
    sidecar = {"name": "b", "image": "busybox:1.37", "volumeMounts": [_SHM], "resources": {"limits": {"memory": "1Gi"}}}
    pod = _pod({"image": _VLLM, "volumeMounts": [_SHM]}, volumes=[_memory(sizeLimit="8Gi")])
    pod["containers"].append(sidecar)
    yield "vLLM with a sidecar that would overflow", _in("Pod", pod)
    cpu = _pod(
        {"image": _VLLM, "resources": {"limits": {"memory": "1Gi"}}, "volumeMounts": [_SHM]}, volumes=[_memory()]
    )
    yield "a pod without GPU whose volume has no limit", _in("Pod", cpu)


_TRIALS: Final[Mapping[str, Manifest]] = {
    "a test of NCCL": {"command": ["mpirun", "/opt/all_reduce_perf", "-b", "8"]},
    "a test by its image": {"image": "example.com/team/NCCL-tests:v2"},
    "waiting": {"command": ["sh", "-c", "sleep infinity"]},
    "training after waiting": {"command": ["sh", "-c", "sleep 5; python train.py"]},
}
"""Containers that try GPUs or wait, and one that only begins so."""

_IDLE: Final[Mapping[str, Manifest]] = {
    "a sample": {"image": "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"},
    "nvidia-smi": {"command": ["nvidia-smi", "-l", "5"]},
    "pause": {"image": "registry.k8s.io/pause:3.10"},
    "clients": {"image": f"{TRITON_FULL.repository}:25.08-py3-sdk"},
    "sleep": {"command": ["sleep"], "args": ["infinity"]},
    "a loop": {"command": ["sh", "-c"], "args": ["while true; do sleep 30; done;"]},
    "sleep and a server": {"args": ["sleep 10; exec serve"]},
}
"""Containers that serve nobody, and one that only looks so."""


def _asking() -> Iterator[tuple[str, Manifest]]:
    for name in (resources.GPU_SHARED, resources.mig("1g.5gb"), "nvidia.com/other", resources.EFA, "example.com/gpu"):
        yield f"Deployment that asks {name}", _in("Deployment", _pod({"resources": {"limits": {name: "1"}}}))
    yield "Deployment that asks 0", _in("Deployment", _pod({"resources": {"limits": {resources.GPU: "0"}}}))
    claims = _pod(
        {"resources": {"claims": [{"name": "gpu"}]}}, resourceClaims=[{"name": "gpu", "resourceClaimName": "x"}]
    )
    yield "Deployment with a device claim", _in("Deployment", claims)
    init = {"name": "i", "image": "busybox:latest", "resources": {"limits": {resources.GPU: "1"}}}
    yield "Deployment whose init container asks", _in("Deployment", _pod({"resources": {}}, initContainers=[init]))
    probe = {"startupProbe": {"httpGet": {"path": "/", "port": 80}}}
    yield "Deployment with a startup probe", _in("Deployment", _pod(probe))
    for name, settings in _IDLE.items():
        yield f"Deployment of {name}", _in("Deployment", _pod(settings))
        yield (
            f"Deployment of {name} with a port",
            _in("Deployment", _pod({**settings, "ports": [{"containerPort": 80}]})),
        )
    for kind in ("Deployment", "StatefulSet", "Pod"):
        for image in ("quay.io/jupyter/pytorch-notebook:2026-07-01", "codercom/Code-Server:4.1", "example.com/note:1"):
            yield f"{kind} of {image}", _in(kind, _pod({"image": image}))
    yield (
        "a notebook that serves",
        _in("Deployment", _pod({"image": "jupyter:1"}), labels={labels.WORKLOAD: "inference"}),
    )
    ready = {"readinessProbe": {"httpGet": {"path": "/", "port": 80}, "initialDelaySeconds": 300}}
    yield "Deployment with a readiness probe", _in("Deployment", _pod(ready))


def _images() -> Iterator[tuple[str, Manifest]]:
    for image in (
        "server",
        "server:latest",
        "server:v1",
        "server:v1-latest",
        "server:latest2",
        "server:Nightly",
        "server:nightly-5f0ac2c",
        "server:main-20261121",
        "server:main-abcdefa",
        "server:main-2026.11.21",
        "server:1.0.main",
        "server:master_x",
        f"server{_DIGEST}",
        f"server:latest{_DIGEST}",
        "localhost:5000/server",
        "localhost:5000/team/server:v1",
        "localhost:5000/latest:v1",
        f"{TRITON_FULL.repository}:25.08-py3",
        f"{TRITON_FULL.repository}:25.08-py3-min",
        f"{TRITON_FULL.repository}:25.08-py3-igpu",
        f"{TRITON_FULL.repository}:25.08-vllm-python-py3",
        f"mirror.example.com/nvidia/tritonserver:25.08-py3{_DIGEST}",
        "mirror.example.com/team-nvidia/tritonserver:25.08-py3",
        "nvidia/tritonserver",
    ):
        yield f"the image {image}", _in("Pod", _pod({"image": image}))
    slim = f"{TRITON_FULL.repository}:25.08-py3-min"
    own = {"image": slim, "args": ["tritonserver", "--backend-directory=/backends"]}
    yield "slim Triton with backends by option", _in("Pod", _pod(own))
    mount = {"name": "b", "mountPath": "/opt/tritonserver/backends/onnxruntime"}
    mounted = _pod({"image": slim, "volumeMounts": [mount]}, volumes=[{"name": "b", "emptyDir": {}}])
    yield "slim Triton with backends by mount", _in("Pod", mounted)
    for reason in ("every backend is in use", ""):
        pod = _pod({"image": TRITON_FULL.reference})
        yield f"full Triton because {reason!r}", _in("Deployment", pod, annotations={FULL_IMAGE_REASON: reason})


def _users() -> Iterator[tuple[str, Manifest]]:
    cpu: Manifest = {"resources": {}}
    for value in ("all", "0,1", "void", "none", ""):
        env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]
        yield f"visible devices {value!r}", _in("Pod", _pod({**cpu, "env": env}))
    field = [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    yield "visible devices from a field", _in("Pod", _pod({**cpu, "env": field}))
    for command in (
        "nvidia-smi",
        "watch nvidia-smi -l 1",
        "my-nvidia-smi",
        "if command -v nvidia-smi; then nvidia-smi; fi",
        "if nvidia-smi; then run --gpu; else run; fi",
        "nvidia-smi -L || echo none",
        "nvidia-smi; run || true",
        "kubectl exec ds/driver -- nvidia-smi",
        "nvidia-smi-exporter",
        "/usr/bin/nvidia-smi",
    ):
        yield f"the command {command}", _in("Pod", _pod({**cpu, "args": ["sh", "-c", command]}))
    for name in ("nvidia.com/gpumem", "volcano.sh/vgpu-number", "example.com/other"):
        pod = _pod({"command": ["nvidia-smi"], "resources": {"limits": {name: "1"}}})
        yield f"nvidia-smi with {name}", _in("Deployment", pod)
    nothing = _pod({"command": ["nvidia-smi"], "resources": {"limits": {resources.GPU: "0"}}})
    yield "nvidia-smi with 0 GPUs", _in("Deployment", nothing)
    for key in ("gpu-fraction", "gpu-memory", "example.com/note"):
        pod = _pod({**cpu, "command": ["nvidia-smi"]})
        yield f"nvidia-smi with the annotation {key}", _in("Deployment", pod, annotations={key: "1"})
    beside = _pod({})
    beside["containers"].append({"name": "b", "image": "example.com/x:1", "command": ["nvidia-smi"]})
    yield "nvidia-smi beside a container that asks", _in("Pod", beside)
    init = _pod(cpu, initContainers=[{"name": "i", "image": "example.com/x:1", "command": ["nvidia-smi"]}])
    yield "nvidia-smi in an init container", _in("Pod", init)


def pods() -> Iterator[tuple[str, Manifest]]:
    """Yield objects that carry pods, each with a name that says what is at stake."""
    for group in (_pods, _jobs, _shared_memory, _asking, _images, _users):
        yield from group()
