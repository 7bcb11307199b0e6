"""Node pools, node classes, storage classes and quotas at the edges of what the admission policies say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from eks_gpu.facts import labels, resources
from eks_gpu_policies import examples
from tests.support.admission_cases import Manifest, manifest_of


def _of(kind: str, version: str, **content: Any) -> Manifest:  # noqa: ANN401 - any field
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "edge"}, **content}


def _pool(*requirements: tuple[str, str, list[str]], **spec: Any) -> Manifest:  # noqa: ANN401 - any field of a NodePool
    pool = manifest_of(examples.node_pool("edge", types=("g5.xlarge",), limits=spec.pop("limits", None)))
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
    families = [f"c{number}x" for number in range(60)]
    crowd = [(labels.INSTANCE_TYPE, "In", [f"{family}.large" for family in families])]
    crowd += [
        (labels.INSTANCE_FAMILY, "NotIn", families),
        (labels.INSTANCE_CPU, "NotIn", [str(n) for n in range(500, 560)]),
    ] * 20
    yield "a pool of very many requirements, for no GPU", _pool(*crowd[::-1], limits={"cpu": "100"}, taints=[])
    yield "a pool of very many requirements", _pool(*crowd[1:], limits=gpu, taints=[])
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
        manifest = manifest_of(examples.node_class("edge"))
        terms = {"subnetSelectorTerms": [{"id": "subnet-0a"}], "securityGroupSelectorTerms": [{"id": "sg-0a"}]}
        manifest["spec"] |= {**terms, **({"metadataOptions": options} if options else {})}
        yield f"a node class with {options}", manifest


def others() -> Iterator[tuple[str, Manifest]]:
    """Yield objects that carry no pods, each with a name that says what is at stake."""
    for group in (_storage, _sharing_out, _pools, _classes):
        yield from group()
