"""Resources for the rules' examples: plain AWS and Kubernetes resources, as anybody might write them.

Each function returns something sound; an example changes the one thing that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eks_gpu.facts import declarations, labels, resources
from eks_gpu.facts.ami import AL2023_RELEASE, AmiFamily, alias
from eks_gpu.facts.storage import EFS_ACCESS_POINTS, EFS_DRIVER
from eks_gpu.facts.taints import GPU
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource

Props = Mapping[str, object]


def urn(token: str, name: str) -> str:
    """Return the URN of a resource of an example."""
    return f"urn:pulumi:prod::example::{token}::{name}"


def resource(
    token: str,
    name: str,
    props: Props,
    *,
    after: Sequence[Resource] = (),
    **computed_from: Sequence[Resource],
) -> Resource:
    """Return a resource that waits for ``after``; each keyword is a property with what it was computed from."""
    links = {prop: frozenset(source.urn for source in sources) for prop, sources in computed_from.items()}
    return Resource(
        urn=urn(token, name),
        type=token,
        name=name,
        props=props,
        dependencies=frozenset(item.urn for item in after).union(*links.values()),
        property_dependencies=links,
    )


def volume(size: int = 100, **ebs: object) -> dict[str, object]:
    """Return a launch template's mapping of the AL2023 image volume."""
    settings = {"volumeSize": size, "volumeType": "gp3", "throughput": 500, "encrypted": "true", **ebs}
    return {"deviceName": AmiFamily.AL2023.image_device, "ebs": settings}


def node_config(spec: str) -> str:
    """Return user data of AL2023: a NodeConfig with ``spec``, a line of YAML."""
    return f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  {spec}\n"


def launch_template(name: str = "gpu", /, **props: object) -> Resource:
    """Return a launch template with a large encrypted volume, IMDSv2 and thresholds for the removal of images."""
    sound = {
        "blockDeviceMappings": [volume()],
        "metadataOptions": {"httpTokens": "required"},
        "userData": node_config("kubelet: {config: {imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 60}}"),
    }
    return resource(tokens.LAUNCH_TEMPLATE, name, {**sound, **props})


def node_group(
    template: Resource | None = None,
    name: str = "inference",
    links: Mapping[str, Sequence[Resource]] | None = None,
    /,
    **props: object,
) -> Resource:
    """Return a node group of one g5.2xlarge; a property given as ``None`` is left out."""
    sound: dict[str, object] = {
        "clusterName": "ml",
        "instanceTypes": ["g5.2xlarge"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "releaseVersion": f"1.35.2-{AL2023_RELEASE.removeprefix('v')}",
        "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 1},
        "taints": [GPU.eks()],
        "labels": labels.pool_labels("a10g", "inference"),
    }
    if template is not None:
        sound["launchTemplate"] = {"id": template.name, "version": "1"}
    kept = {key: value for key, value in {**sound, **props}.items() if value is not None}
    own = {"launchTemplate": (template,)} if template is not None else {}
    return resource(tokens.NODE_GROUP, name, kept, **own, **(links or {}))


def node_class(name: str = "g5", /, **spec: object) -> Resource:
    """Return an EC2NodeClass on a dated AL2023 image."""
    sound = {
        "amiSelectorTerms": [{"alias": alias(AmiFamily.AL2023, AL2023_RELEASE)}],
        "role": "gpu-nodes",
        "blockDeviceMappings": [
            {
                "deviceName": AmiFamily.AL2023.image_device,
                "ebs": {"volumeSize": "100Gi", "volumeType": "gp3", "throughput": 500, "encrypted": True},
            }
        ],
        "kubelet": {"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 60},
    }
    return resource(tokens.NODE_CLASS, name, {"metadata": {"name": name}, "spec": {**sound, **spec}})


def node_pool(
    name: str = "g5",
    *,
    types: tuple[str, ...] = ("g5.xlarge", "g5.2xlarge"),
    limits: Props | None = None,
    taints: tuple[Props, ...] = (GPU.kubernetes(),),
    **spec: object,
) -> Resource:
    """Return a node pool that may buy ``types``, limited to eight GPUs."""
    template = {
        "metadata": {"labels": labels.pool_labels("a10g", "inference")},
        "spec": {
            "nodeClassRef": {"group": labels.KARPENTER_AWS_DOMAIN, "kind": "EC2NodeClass", "name": name},
            "requirements": [
                {"key": labels.INSTANCE_TYPE, "operator": "In", "values": list(types)},
                {"key": labels.CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]},
            ],
            "taints": list(taints),
        },
    }
    limit = {resources.GPU: "8"} if limits is None else limits
    props = {"metadata": {"name": name}, "spec": {"template": template, "limits": limit, **spec}}
    return resource(tokens.NODE_POOL, name, props)


def training_pool(
    name: str = "p4d", *, capacity: Sequence[str] = ("on-demand",), node: Props | None = None, **disruption: object
) -> Resource:
    """Return a node pool for training on p4d that outlives disruption; ``node`` changes its nodes' spec."""
    contract = {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": "15m",
        "budgets": [{"nodes": "0", "reasons": ["Drifted", "Underutilized"]}],
        **disruption,
    }
    requirements = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["p4d.24xlarge"]},
        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": list(capacity)},
    ]
    spec = {
        "nodeClassRef": {"group": labels.KARPENTER_AWS_DOMAIN, "kind": "EC2NodeClass", "name": name},
        "requirements": requirements,
        "taints": [GPU.kubernetes()],
        "expireAfter": "Never",
        **(node or {}),
    }
    template = {"metadata": {"labels": labels.pool_labels("a100", "training")}, "spec": spec}
    limits = {resources.GPU: "16"}
    props = {"metadata": {"name": name}, "spec": {"template": template, "limits": limits, "disruption": contract}}
    return resource(tokens.NODE_POOL, name, props)


def training_job(name: str = "finetune", declared: Props | None = None, /, **volume: object) -> Resource:
    """Return a Job that trains on 8 GPUs and saves to a claim every half hour.

    ``declared`` changes its annotations (an empty one is left out), ``volume`` says where it saves to instead.
    """
    checkpoints: Props = volume or {"persistentVolumeClaim": {"claimName": "checkpoints"}}
    shared_memory = "/dev/shm"  # noqa: S108 - a path inside a container
    mounts = [{"name": "shm", "mountPath": shared_memory}, {"name": "checkpoints", "mountPath": "/checkpoints"}]
    trainer = container(
        name="trainer",
        image="registry.example.com/ml/finetune:1.4.0",
        command=["torchrun", "train.py", "--checkpoint-dir", "/checkpoints"],
        resources={"limits": {resources.GPU: "8", "cpu": "64", "memory": "512Gi"}},
        startupProbe=None,
        volumeMounts=mounts,
    )
    volumes = [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
        {"name": "checkpoints", **checkpoints},
    ]
    saves = {
        declarations.CHECKPOINT_MINUTES: "30",
        declarations.CHECKPOINTS_KEPT: "3",
        declarations.RESUMES: "true",
        **(declared or {}),
    }
    spec = {"containers": [trainer], "restartPolicy": "OnFailure", "volumes": volumes}
    template = {"metadata": {"annotations": {key: value for key, value in saves.items() if value}}, "spec": spec}
    props = {"metadata": {"name": name}, "spec": {"template": template}}
    return resource("kubernetes:batch/v1:Job", name, props)


def container(**settings: object) -> dict[str, object]:
    """Return a model server's container that asks for one GPU; a setting given as ``None`` is left out."""
    sound: dict[str, object] = {
        "name": "server",
        "image": "vllm/vllm-openai:v0.11.0",
        "resources": {"limits": {resources.GPU: "1", "cpu": "4", "memory": "24Gi"}},
        "startupProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10, "failureThreshold": 60},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - a path inside a container
    }
    return {key: value for key, value in {**sound, **settings}.items() if value is not None}


def deployment(*containers: Props, name: str = "llm", **pod: object) -> Resource:
    """Return a Deployment of a model server."""
    spec = {
        "containers": list(containers) or [container()],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}],
        **pod,
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    props = {"metadata": {"name": name}, "spec": {"replicas": 1, "template": template}}
    return resource("kubernetes:apps/v1:Deployment", name, props)


def model_cache(**file_system: object) -> tuple[Resource, Resource, Resource]:
    """Return an elastic file system, a StorageClass on it, and the claim ``models`` of that class."""
    sound = {"encrypted": True, "throughputMode": "elastic", **file_system}
    kept = {key: value for key, value in sound.items() if value is not None}
    below = resource(tokens.FILE_SYSTEM, "models", kept)
    parameters = {"provisioningMode": EFS_ACCESS_POINTS, "fileSystemId": "fs-0a1b2c3d", "directoryPerms": "700"}
    middle = resource(
        tokens.STORAGE_CLASS,
        "shared",
        {"metadata": {"name": "shared"}, "provisioner": EFS_DRIVER, "parameters": parameters},
        parameters=(below,),
    )
    spec = {"storageClassName": "shared", "accessModes": ["ReadWriteMany"]}
    return below, middle, resource(tokens.CLAIM, "models", {"metadata": {"name": "models"}, "spec": spec})


def on_cache(server: Props | None = None, path: str = "/root/.cache/huggingface") -> Resource:
    """Return a Deployment of a model server that mounts the claim ``models`` on ``path``."""
    mounts = [
        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - a path inside a container
        {"name": "models", "mountPath": path},
    ]
    return deployment(
        {**container(), "volumeMounts": mounts, **(server or {})},
        volumes=[
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
            {"name": "models", "persistentVolumeClaim": {"claimName": "models"}},
        ],
    )


def release(name: str, chart: str, version: str | None, *, after: Sequence[Resource] = (), **props: object) -> Resource:
    """Return a Helm release that waits for ``after``."""
    pinned = {} if version is None else {"version": version}
    return resource(tokens.HELM_RELEASE, name, {"chart": chart, "name": name, **pinned, **props}, after=after)
