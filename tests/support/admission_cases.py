"""Objects on which a rule and its admission policy must agree: the rules' own examples, and what lies at the edges."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.declarations import FULL_IMAGE_REASON
from eks_gpu.facts.images import TRITON_FULL
from eks_gpu_policies import examples
from eks_gpu_policies.admission.manifests import SAID
from eks_gpu_policies.admission.said import Said
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.manifests.documents import documents
from eks_gpu_policies.manifests.objects import objects
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID, RULES
from tests.support.judging import TODAY

Manifest = dict[str, Any]

_URLS: Final = {
    "Pod": "pods",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "ReplicaSet": "replicasets",
    "Job": "jobs",
    "CronJob": "cronjobs",
    "StorageClass": "storageclasses",
    "ResourceQuota": "resourcequotas",
    "LimitRange": "limitranges",
    "NodePool": "nodepools",
    "EC2NodeClass": "ec2nodeclasses",
}
"""What the kinds that policies are on are called in URLs."""


@dataclass(frozen=True)
class Case:
    """An object under a name that says what is at stake."""

    name: str
    manifest: Manifest

    def concerns(self, said: Said) -> bool:
        """Return whether a policy is on objects of this kind."""
        group, _, version = self.manifest["apiVersion"].rpartition("/")
        resource = _URLS.get(self.manifest["kind"])
        return any(
            (kinds.group, kinds.version) == (group, version) and resource in kinds.resources for kinds in said.kinds
        )


def obeys(said: Said, case: Case) -> bool:
    """Return what the rule itself says of an object, in Python."""
    text = json.dumps(case.manifest)
    (found,) = objects("a.json", (node for document in documents(text) for node in document.read()))
    report = evaluate(
        [found.resource],
        environment=Environment.PROD,
        rules=[BY_ID[said.rule]],
        today=TODAY,
        levels={said.rule: Level.MANDATORY},
    )
    assert not [finding.message for finding in report.findings if "crashed" in finding.message]
    assert report.not_evaluated == ()
    level = Level.ADVISORY if said.advice else Level.MANDATORY
    return not any(finding.level is level for finding in report.findings)


def from_rules() -> Iterator[Case]:
    """Yield the objects in the examples of all rules, of kinds that some policy is on."""
    for rule in RULES:
        for word, example in (("fails", rule.failing), ("passes", rule.passing)):
            for number, resource in enumerate(example.resources):
                case = Case(f"{rule.id} {word} {number}", _object(resource))
                if any(case.concerns(said) for said in SAID):
                    yield case


def _object(resource: Resource) -> Manifest:
    _, version, kind = resource.type.split(":") if resource.type.count(":") == 2 else ("", "", "")
    props = copy.deepcopy(dict(resource.props))
    manifest: Manifest = {**props, "apiVersion": version.removeprefix("core/"), "kind": kind}
    manifest["metadata"] = {"name": resource.name, **manifest.get("metadata", {})}
    return completed(manifest)


def completed(manifest: Manifest) -> Manifest:
    """Return an object with what the API server demands of its kind and no rule looks at."""
    kind, spec = manifest["kind"], manifest.get("spec", {})
    manifest["metadata"].pop("namespace", None)
    if kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}:
        template = spec["template"]
        template.setdefault("metadata", {}).setdefault("labels", {}).setdefault("app", "a")
        spec["selector"] = {"matchLabels": {"app": template["metadata"]["labels"]["app"]}}
    if kind == "ReplicationController":
        spec["template"].setdefault("metadata", {}).setdefault("labels", {}).setdefault("app", "a")
        spec["selector"] = {"app": spec["template"]["metadata"]["labels"]["app"]}
    if kind == "StatefulSet":
        spec.setdefault("serviceName", "a")
    if kind == "Job":
        spec["template"]["spec"].setdefault("restartPolicy", "Never")
    if kind == "CronJob":
        spec.setdefault("schedule", "0 0 1 1 *")
        spec["jobTemplate"]["spec"]["template"]["spec"].setdefault("restartPolicy", "Never")
    return manifest


# --- edges ---------------------------------------------------------------------------------------------------------

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


def _of(kind: str, version: str, **content: Any) -> Manifest:  # noqa: ANN401 - any field
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "edge"}, **content}


def _pool(*requirements: tuple[str, str, list[str]], **spec: Any) -> Manifest:  # noqa: ANN401 - any field of a NodePool
    pool = _object(examples.node_pool("edge", types=("g5.xlarge",), limits=spec.pop("limits", None)))
    node = pool["spec"]["template"]["spec"]
    if requirements:
        node["requirements"] = [
            {"key": key, "operator": operator, **({"values": values} if values else {})}
            for key, operator, values in requirements
        ]
    taints = spec.pop("taints", node["taints"])
    node.pop("taints")
    if taints:
        node["taints"] = taints
    pool["spec"].update(spec)
    return pool


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
        "nvidia-smi-exporter",
        "/usr/bin/nvidia-smi",
    ):
        yield f"the command {command}", _in("Pod", _pod({**cpu, "args": ["sh", "-c", command]}))
    beside = _pod({})
    beside["containers"].append({"name": "b", "image": "example.com/x:1", "command": ["nvidia-smi"]})
    yield "nvidia-smi beside a container that asks", _in("Pod", beside)
    init = _pod(cpu, initContainers=[{"name": "i", "image": "example.com/x:1", "command": ["nvidia-smi"]}])
    yield "nvidia-smi in an init container", _in("Pod", init)


def _storage() -> Iterator[tuple[str, Manifest]]:
    sound = {"provisioningMode": "efs-ap", "fileSystemId": "fs-0a1b2c3d", "directoryPerms": "700"}
    changes: dict[str, dict[str, str | None]] = {
        "complete": {},
        "no mode": {"provisioningMode": None},
        "another mode": {"provisioningMode": "efs"},
        "no file system": {"fileSystemId": None},
        "two file systems": {"fileSystemIdConfigRef": "x"},
        "no permissions": {"directoryPerms": None},
        "uid without gid": {"uid": "1000"},
        "uid and gid": {"uid": "1000", "gid": "1000"},
        "gid alone": {"gid": "1000"},
    }
    for name, change in changes.items():
        parameters = {key: value for key, value in {**sound, **change}.items() if value is not None}
        for driver in ("efs.csi.aws.com", "ebs.csi.aws.com"):
            content = {"provisioner": driver, "parameters": parameters}
            yield f"a class of {driver}: {name}", _of("StorageClass", "storage.k8s.io/v1", **content)
    yield "a class without parameters", _of("StorageClass", "storage.k8s.io/v1", provisioner="efs.csi.aws.com")


def _sharing_out() -> Iterator[tuple[str, Manifest]]:
    for name, hard in {
        "requests": {"requests.nvidia.com/gpu": "16"},
        "limits": {"limits.nvidia.com/gpu": "16"},
        "both alike": {"requests.nvidia.com/gpu": "16", "limits.nvidia.com/gpu": "16"},
        "both unlike": {"requests.nvidia.com/gpu": "8", "limits.nvidia.com/gpu": "16"},
        "the bare name": {"nvidia.com/gpu": "16"},
        "slices by limits": {"limits.nvidia.com/mig-1g.5gb": "16"},
        "other devices by limits": {"limits.example.com/fpga": "1"},
        "other devices by limits beside GPUs": {"limits.example.com/fpga": "1", "requests.nvidia.com/gpu": "1"},
        "no devices": {"requests.cpu": "4", "limits.memory": "8Gi", "pods": "10"},
        "nothing": {},
    }.items():
        yield f"a quota by {name}", _of("ResourceQuota", "v1", spec={"hard": hard} if hard else {})
    for name, limit in {
        "max for containers": {"type": "Container", "max": {"nvidia.com/gpu": "8"}},
        "max for pods": {"type": "Pod", "max": {"nvidia.com/gpu": "8"}},
        "default 0": {"type": "Container", "default": {"nvidia.com/gpu": "0"}},
        "memory only": {"type": "Container", "max": {"memory": "64Gi"}},
        "volumes": {"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}},
        "min of slices": {"type": "Container", "min": {"nvidia.com/mig-1g.5gb": "1"}},
    }.items():
        yield f"a range: {name}", _of("LimitRange", "v1", spec={"limits": [limit]})


_REQUIREMENTS: Final[tuple[list[tuple[str, str, list[str]]], ...]] = (
    [(labels.INSTANCE_TYPE, "In", ["m7i.xlarge"])],
    [(labels.INSTANCE_TYPE, "In", ["m7i.xlarge", "p5.48xlarge"])],
    [(labels.INSTANCE_TYPE, "In", ["g99.xlarge"])],
    [(labels.INSTANCE_TYPE, "In", ["g4ad.xlarge"])],
    [(labels.INSTANCE_FAMILY, "In", ["g5", "c7i"])],
    [(labels.INSTANCE_FAMILY, "In", ["g4ad"])],
    [(labels.INSTANCE_FAMILY, "In", ["p99"])],
    [(labels.INSTANCE_FAMILY, "NotIn", ["g5"])],
    [(labels.INSTANCE_CATEGORY, "In", ["c", "m"])],
    [(labels.INSTANCE_CATEGORY, "In", ["g"])],
    [(labels.INSTANCE_CATEGORY, "In", ["g"]), (labels.INSTANCE_FAMILY, "NotIn", ["g5"])],
    [(labels.INSTANCE_GPU_NAME, "In", ["h100"])],
    [(labels.INSTANCE_GPU_NAME, "In", ["mi300"])],
    [(labels.INSTANCE_GPU_NAME, "Exists", [])],
    [(labels.INSTANCE_GPU_NAME, "DoesNotExist", [])],
    [(labels.INSTANCE_GPU_COUNT, "Gt", ["0"])],
    [(labels.INSTANCE_GPU_COUNT, "Gt", ["8"])],
    [(labels.INSTANCE_GPU_COUNT, "Lt", ["1"])],
    [(labels.INSTANCE_GPU_MEMORY, "Gt", ["40000"]), (labels.INSTANCE_CPU, "Lt", ["9"])],
    [(labels.INSTANCE_GPU_MANUFACTURER, "In", ["nvidia"]), (labels.ARCH, "In", ["arm64"])],
    [(labels.INSTANCE_GPU_MANUFACTURER, "In", ["amd"])],
    [(labels.ARCH, "In", ["amd64"])],
    [(labels.INSTANCE_TYPE, "In", ["g5.xlarge"]), (labels.ZONE, "In", ["us-east-1a"])],
    [("beta.kubernetes.io/instance-type", "In", ["g5.xlarge"])],
    [("example.com/own", "In", ["x"]), (labels.INSTANCE_FAMILY, "In", ["p4d"])],
)
"""Requirements of node pools: GPU types by every way to name them, and ways to name none."""


def _pools() -> Iterator[tuple[str, Manifest]]:
    gpu = {resources.GPU: "8"}
    for name, limits in {
        "8 GPUs": gpu,
        "no GPUs": {resources.GPU: "0"},
        "CPU only": {"cpu": "100"},
        "numbers": {resources.GPU: 8, "cpu": 100},
    }.items():
        yield f"a pool that limits {name}", _pool(limits=limits)
    for name, replicas, limits in (("with", 2, {"nodes": "2"}), ("without", 2, {})):
        yield f"a static pool {name} a limit of nodes", _pool(limits=limits, replicas=replicas)
    own = {"key": "example.com/team", "value": "a", "effect": "NoSchedule"}
    soft = {"key": resources.GPU, "value": "present", "effect": "PreferNoSchedule"}
    hard = {"key": resources.GPU, "value": "true", "effect": "NoExecute"}
    for name, taints in {"none": [], "own": [own], "soft": [soft], "hard": [hard], "both": [own, hard]}.items():
        yield f"a pool with taints: {name}", _pool(taints=taints)
    for requirements in _REQUIREMENTS:
        said = "; ".join(f"{key} {operator} {','.join(values)}" for key, operator, values in requirements)
        for limits, taints in ((None, [hard]), ({"cpu": "100"}, []), ({"cpu": "100"}, [own])):
            name = f"{'a' if limits is None else 'no'} limit, taints {[taint['key'] for taint in taints]}"
            yield f"a pool of {said} ({name})", _pool(*requirements, limits=limits, taints=taints)


def _classes() -> Iterator[tuple[str, Manifest]]:
    for options in (
        None,
        {"httpTokens": "required"},
        {"httpTokens": "optional"},
        {"httpTokens": "optional", "httpEndpoint": "disabled"},
        {"httpTokens": "optional", "httpEndpoint": "enabled"},
        {"httpEndpoint": "enabled"},
    ):
        manifest = _object(examples.node_class("edge"))
        terms = {"subnetSelectorTerms": [{"id": "subnet-0a"}], "securityGroupSelectorTerms": [{"id": "sg-0a"}]}
        manifest["spec"] |= {**terms, **({"metadataOptions": options} if options else {})}
        yield f"a node class with {options}", manifest


def edges() -> Iterator[Case]:
    """Yield the objects that lie at the edges of what the policies say; the API server must take every one of them."""
    for group in (_pods, _jobs, _shared_memory, _asking, _images, _users, _storage, _sharing_out, _pools, _classes):
        for name, manifest in group():
            yield Case(name, manifest)
