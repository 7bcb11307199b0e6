"""Label and annotation keys of nodes and pods, and the one set that every GPU pool carries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = (
    "aws/karpenter-provider-aws v1.14.1 pkg/apis/v1/labels.go and karpenter.sh_nodepools CRD (allow-list of "
    "karpenter.k8s.aws keys); kubernetes.io well-known labels; NVIDIA/k8s-device-plugin v0.20.0 (gpu-feature-discovery)"
)
CHECKED = "2026-11-21"

# --- ours: on every GPU pool -------------------------------------------------------------------------------------

ACCELERATOR = "accelerator"
ACCELERATOR_NVIDIA = "nvidia"
GPU_PRESENT = "nvidia.com/gpu.present"
"""Nodeadm sets it only for Kubernetes 1.35 and newer; the device plugin chart's affinity needs it, so pools set it."""

GPU_TYPE = "gpu-type"
"""The pool's GPU model, as Karpenter names it (``a10g``); ends in ``-mig`` where the GPUs are partitioned."""

WORKLOAD = "workload"
WORKLOADS: tuple[str, ...] = ("inference", "training", "development")
WORKLOAD_SYSTEM = "system"
"""On the CPU nodes that controllers run on."""

# --- Kubernetes --------------------------------------------------------------------------------------------------

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
HOSTNAME = "kubernetes.io/hostname"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
"""By which volumes of the EBS driver say in which zone they are."""

FORMER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
        "beta.kubernetes.io/arch": ARCH,
        "beta.kubernetes.io/os": OS,
        "failure-domain.beta.kubernetes.io/zone": ZONE,
        "failure-domain.beta.kubernetes.io/region": REGION,
        EBS_ZONE: ZONE,
    }
)
"""Other names of the same labels. Nodes carry both; Karpenter takes one for the other (kubernetes-sigs/karpenter
@2266468 pkg/apis/v1/labels.go ``NormalizedLabels``; karpenter-provider-aws v1.14.1 pkg/apis/v1/labels.go)."""

APP = "app"
"""What charts called their pods before the names below were agreed on; NVIDIA's operator still does."""
NAME = "name"
"""The same, in AWS's older charts."""
APP_NAME = "app.kubernetes.io/name"
APP_PART_OF = "app.kubernetes.io/part-of"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The API server puts it on every namespace, with the namespace's own name."""
APP_INSTANCE = "app.kubernetes.io/instance"
APP_COMPONENT = "app.kubernetes.io/component"

POD_SECURITY_ENFORCE = "pod-security.kubernetes.io/enforce"
POD_SECURITY_WARN = "pod-security.kubernetes.io/warn"

# --- EKS ---------------------------------------------------------------------------------------------------------

EKS_CAPACITY_TYPE = "eks.amazonaws.com/capacityType"
EKS_NODE_GROUP = "eks.amazonaws.com/nodegroup"
"""On every node of a managed node group: the group's name."""
EKS_AUTO_DOMAIN = "eks.amazonaws.com"
"""API group of EKS Auto Mode's NodeClass, and domain of its instance labels: the same names as Karpenter's, such as
``eks.amazonaws.com/instance-family`` (EKS user guide, "Create a Node Pool for EKS Auto Mode", checked 2026-11-21)."""
EKS_AUTO_COMPUTE_TYPE = f"{EKS_AUTO_DOMAIN}/compute-type"
EKS_AUTO_COMPUTE = "auto"
"""Every node of EKS Auto Mode carries it."""

# --- Karpenter ---------------------------------------------------------------------------------------------------

CAPACITY_TYPE = "karpenter.sh/capacity-type"
KARPENTER_NODEPOOL = "karpenter.sh/nodepool"
KARPENTER_DISCOVERY = "karpenter.sh/discovery"

KARPENTER_AWS_DOMAIN = "karpenter.k8s.aws"
INSTANCE_CATEGORY = f"{KARPENTER_AWS_DOMAIN}/instance-category"
INSTANCE_FAMILY = f"{KARPENTER_AWS_DOMAIN}/instance-family"
INSTANCE_GENERATION = f"{KARPENTER_AWS_DOMAIN}/instance-generation"
INSTANCE_SIZE = f"{KARPENTER_AWS_DOMAIN}/instance-size"
INSTANCE_CPU = f"{KARPENTER_AWS_DOMAIN}/instance-cpu"
INSTANCE_MEMORY = f"{KARPENTER_AWS_DOMAIN}/instance-memory"
"""MiB."""
INSTANCE_LOCAL_NVME = f"{KARPENTER_AWS_DOMAIN}/instance-local-nvme"
"""GB, all disks together."""
INSTANCE_GPU_NAME = f"{KARPENTER_AWS_DOMAIN}/instance-gpu-name"
INSTANCE_GPU_MANUFACTURER = f"{KARPENTER_AWS_DOMAIN}/instance-gpu-manufacturer"
INSTANCE_GPU_COUNT = f"{KARPENTER_AWS_DOMAIN}/instance-gpu-count"
INSTANCE_GPU_MEMORY = f"{KARPENTER_AWS_DOMAIN}/instance-gpu-memory"
"""MiB of one GPU."""
INSTANCE_EBS_BANDWIDTH = f"{KARPENTER_AWS_DOMAIN}/instance-ebs-bandwidth"
"""Mbit/s, at most."""
INSTANCE_NETWORK_BANDWIDTH = f"{KARPENTER_AWS_DOMAIN}/instance-network-bandwidth"
"""Mbit/s, as a baseline."""
RESERVATION_ID = f"{KARPENTER_AWS_DOMAIN}/capacity-reservation-id"
RESERVATION_TYPE = f"{KARPENTER_AWS_DOMAIN}/capacity-reservation-type"
"""``default`` or ``capacity-block``."""
RESERVATION_INTERRUPTIBLE = f"{KARPENTER_AWS_DOMAIN}/capacity-reservation-interruptible"
EC2_NODE_CLASS = f"{KARPENTER_AWS_DOMAIN}/ec2nodeclass"
ZONE_ID = "topology.k8s.aws/zone-id"
"""Where a zone really is: its name differs between accounts, its id does not."""

KARPENTER_AWS_ALLOWED: frozenset[str] = frozenset(
    f"{KARPENTER_AWS_DOMAIN}/{name}"
    for name in (
        "capacity-reservation-id",
        "capacity-reservation-interruptible",
        "capacity-reservation-type",
        "ec2nodeclass",
        "instance-accelerator-count",
        "instance-accelerator-manufacturer",
        "instance-accelerator-name",
        "instance-capability-flex",
        "instance-category",
        "instance-cpu",
        "instance-cpu-manufacturer",
        "instance-cpu-sustained-clock-speed-mhz",
        "instance-ebs-bandwidth",
        "instance-encryption-in-transit-supported",
        "instance-family",
        "instance-generation",
        "instance-gpu-count",
        "instance-gpu-manufacturer",
        "instance-gpu-memory",
        "instance-gpu-name",
        "instance-hypervisor",
        "instance-local-nvme",
        "instance-memory",
        "instance-network-bandwidth",
        "instance-size",
        "instance-tenancy",
        "placement-group-id",
        "placement-group-partition",
    )
)
"""The ``karpenter.k8s.aws`` keys that a NodePool may require; the API server refuses any other of that domain."""

KARPENTER_NODECLAIM = "karpenter.sh/nodeclaim"
EKS_CLUSTER_TAG = "eks:eks-cluster-name"
"""Tag of every AWS resource that Karpenter makes; its rights are bound to it."""
CLUSTER_TAG_PREFIX = "kubernetes.io/cluster"
KARPENTER_OWN_TAGS: frozenset[str] = frozenset(
    {EKS_CLUSTER_TAG, KARPENTER_NODEPOOL, KARPENTER_NODECLAIM, EC2_NODE_CLASS}
)
"""Tags that an EC2NodeClass may not set, besides those that start with ``CLUSTER_TAG_PREFIX``."""

# --- labels that appear only after a node has booted: a pending pod that selects one never makes Karpenter buy ----

GFD_PRODUCT = "nvidia.com/gpu.product"
GFD_COUNT = "nvidia.com/gpu.count"
GFD_MEMORY = "nvidia.com/gpu.memory"
GFD_REPLICAS = "nvidia.com/gpu.replicas"
MIG_CAPABLE = "nvidia.com/mig.capable"
MIG_CONFIG = "nvidia.com/mig.config"
"""Names the partition of a node's GPUs, such as ``all-1g.5gb``; set by whoever wants it, read by the MIG manager."""
MIG_CONFIG_STATE = "nvidia.com/mig.config.state"
MIG_STRATEGY = "nvidia.com/mig.strategy"
DEVICE_PLUGIN_CONFIG = "nvidia.com/device-plugin.config"
"""Names the sharing configuration of a node; not set by discovery but by the pool."""
DEPLOY_DEVICE_PLUGIN = "nvidia.com/gpu.deploy.device-plugin"
DEPLOY_MIG_MANAGER = "nvidia.com/gpu.deploy.mig-manager"
"""With ``false``, set by the pool, the operator leaves its operand off the node: for images that bring their own
(NVIDIA/gpu-operator v26.7.0 controllers/state_manager.go)."""
NOT_DEPLOYED = "false"
OWN_DEVICE_PLUGIN: Mapping[str, str] = MappingProxyType(
    {DEPLOY_DEVICE_PLUGIN: NOT_DEPLOYED, DEPLOY_MIG_MANAGER: NOT_DEPLOYED}
)
"""On nodes whose image runs a device plugin and a MIG manager of its own."""

AFTER_BOOT: frozenset[str] = frozenset(
    {GFD_PRODUCT, GFD_COUNT, GFD_MEMORY, GFD_REPLICAS, MIG_CAPABLE, MIG_CONFIG_STATE, MIG_STRATEGY}
)

_FOUND_OUT = (
    "feature.node.kubernetes.io/",
    "nvidia.com/gpu.",
    "nvidia.com/cuda.",
    "nvidia.com/gfd.",
    "nvidia.com/mig",
    "nvidia.com/mps.",
    "nvidia.com/vgpu.",
)
"""How the labels begin that node and GPU feature discovery, the operator and the MIG manager set."""


def appears_after_boot(key: str) -> bool:
    """Return whether a label is one that only something on the node can find out, unless the pool itself sets it."""
    return key in AFTER_BOOT or (key.startswith(_FOUND_OUT) and key != MIG_CONFIG)


_EVERY_GPU_POOL: Mapping[str, str] = MappingProxyType({ACCELERATOR: ACCELERATOR_NVIDIA, GPU_PRESENT: "true"})


_PARTITIONED = "-mig"


def gpu_type(gpu_name: str, *, partitioned: bool = False) -> str:
    """Return the value of ``GPU_TYPE`` for a GPU model (``a100``), told apart where its GPUs are partitioned."""
    return f"{gpu_name}{_PARTITIONED}" if partitioned else gpu_name


def pool_labels(gpu_type: str, workload: str) -> dict[str, str]:
    """Return the labels that every GPU pool carries, whoever builds it.

    ``gpu_type`` is Karpenter's GPU name (``a10g``), with ``-mig`` appended where the GPUs are partitioned;
    ``workload`` is one of ``WORKLOADS``.
    """
    return {**_EVERY_GPU_POOL, GPU_TYPE: gpu_type, WORKLOAD: workload}


NOT_VALIDATED = "eks-gpu.io/not-validated"
"""Key of the taint of nodes whose GPUs have not been proved yet."""

WITH_ADAPTERS: Mapping[str, str] = MappingProxyType({"eks-gpu.io/efa": "true"})
"""On nodes with Elastic Fabric Adapters, for the plugin that makes them known: a type that can have adapters has them
only where the pool attaches them."""

# --- ours: annotations of pods ----------------------------------------------------------------------------------------

COUNTERS_HASH = "eks-gpu.io/counters"
"""Annotation of the exporter's pods: the hash of its counter file, so that a changed list changes the pods."""

# --- Karpenter's: annotation of pods ----------------------------------------------------------------------------------

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
"""Annotation of pods: with ``true`` Karpenter does not choose their node for disruption, while they run. Expiry and
deletion by hand only wait, for the pool's termination grace period at most (Karpenter, concepts/disruption)."""

# --- set by controllers on the pods that they make: nobody sees them in a template ------------------------------------

OWNER_NAME: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Job": ("batch.kubernetes.io/job-name", "job-name"),
        "JobSet": ("jobset.sigs.k8s.io/jobset-name",),
        "TrainJob": ("jobset.sigs.k8s.io/jobset-name",),
        "PyTorchJob": ("training.kubeflow.org/job-name",),
        "TFJob": ("training.kubeflow.org/job-name",),
        "MPIJob": ("training.kubeflow.org/job-name",),
        "LeaderWorkerSet": ("leaderworkerset.sigs.k8s.io/name",),
        "InferenceService": ("serving.kserve.io/inferenceservice",),
        "RayCluster": ("ray.io/cluster",),
    }
)
"""Kind of object to the labels by which its pods carry its name (kubernetes.io well-known labels; kubernetes-sigs/
jobset api/jobset/v1alpha2; kubeflow/trainer v1 pkg/apis/kubeflow.org/v1/common_types.go; kubernetes-sigs/lws
api/leaderworkerset/v1; kserve pkg/constants; ray-project/kuberay utils/constant.go, checked 2026-11-21)."""

BY_CONTROLLERS: tuple[str, ...] = (
    "batch.kubernetes.io/",
    "apps.kubernetes.io/",
    "statefulset.kubernetes.io/",
    "jobset.sigs.k8s.io/",
    "training.kubeflow.org/",
    "trainer.kubeflow.org/",
    "leaderworkerset.sigs.k8s.io/",
    "serving.kserve.io/",
    "ray.io/",
    "workflows.argoproj.io/",
)
"""How the keys begin that such controllers set (the same)."""

# --- ours: validation of GPUs -----------------------------------------------------------------------------------------

PROVES = "eks-gpu.io/proves"
"""Annotation of a Job that validates GPUs: with what they were proven, so that it runs again when that changes."""

VALIDATED = "eks-gpu.io/validated"
"""Label of a node that was kept closed until its GPUs were proven: with ``true``, since they are."""

JOB_NAME = "batch.kubernetes.io/job-name"
"""Label that Kubernetes gives the pods of a Job: its name (kubernetes.io well-known labels, since 1.27)."""

JOB_INDEX_FIELD = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where a pod of an indexed Job finds its index (the same)."""

# --- Pulumi's: annotations of objects that it makes -----------------------------------------------------------------

SKIP_AWAIT = "pulumi.com/skipAwait"
"""With ``true`` the engine does not wait until the object is ready (pulumi-kubernetes, "Resource readiness")."""

TIMEOUT_SECONDS = "pulumi.com/timeoutSeconds"
"""How long the engine waits until the object is ready (the same)."""

REPLACE_UNREADY = "pulumi.com/replaceUnready"
"""With ``true`` a Job that failed is made again with the next deployment, and not waited for once more (the same)."""

WAIT_FOR = "pulumi.com/waitFor"
"""What the engine waits for before an object counts as made: a JSONPath with its value, or a condition (the same)."""

# --- Helm's: annotations of objects in charts -------------------------------------------------------------------------

HELM_HOOK = "helm.sh/hook"
"""When Helm makes an object, in the place of with the others: ``pre-upgrade``, ``pre-delete`` (helm.sh, "Chart Hooks",
checked 2026-11-21)."""
