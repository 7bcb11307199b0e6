"""Amazon EFS and its CSI driver: names, and how fast a file system hands out bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

SOURCE = (
    "kubernetes-sigs/aws-efs-csi-driver v3.4.1 docs/README.md (StorageClass parameters); Amazon EFS user guide, "
    "performance and quotas (throughput modes: elastic reads 500 MiB/s and more a client, bursting earns 50 KiB/s for "
    "each GiB stored); Amazon EBS user guide (gp3 baseline)"
)
CHECKED = "2026-11-21"

MIB = 2**20
"""Bytes of a mebibyte."""

GIB = 2**30
"""Bytes of a gibibyte."""

EBS_DRIVER = "ebs.csi.aws.com"
"""Provisioner of StorageClasses on EBS."""

EBS_CLASS = "gp3"
"""Name of the StorageClass of encrypted gp3 volumes in a new cluster. The one that EKS makes there, ``gp2``, is neither
encrypted nor the default (EKS user guide, Kubernetes 1.30: "Amazon EKS no longer includes the default annotation")."""

EBS_DRIVERS = frozenset({EBS_DRIVER, "kubernetes.io/aws-ebs", "ebs.csi.eks.amazonaws.com"})
"""Every provisioner on EBS: the driver, the name that Kubernetes hands over to it, and that of EKS Auto Mode (EKS user
guide, "Create a storage class")."""

EKS_CLASS = "gp2"
"""The StorageClass that EKS makes in a new cluster: on EBS, bound when the first pod comes."""

EBS_DRIVER_CLASS = "ebs-csi-default-sc"
"""The default class that the EBS driver's chart and add-on bring where ``defaultStorageClass.enabled`` is set; bound
when the first pod comes (kubernetes-sigs/aws-ebs-csi-driver, charts/aws-ebs-csi-driver/templates/default-sc.yaml)."""

FIRST_VERSION_WITHOUT_DEFAULT_CLASS = (1, 30)
"""From this Kubernetes on, EKS marks no class as the default (the same)."""

BETA_DEFAULT_CLASS_ANNOTATION = "storageclass.beta.kubernetes.io/is-default-class"
"""The older spelling of the next one, which still counts (Kubernetes v1.35.0, pkg/volume/util)."""

GP3 = "gp3"
"""The type of an EBS volume that takes a throughput, and of one whose type nobody says."""
GP3_MIB_PER_SECOND = 125
"""What a gp3 volume reads and writes in a second where nobody asked for more (EBS user guide, "gp3 volumes")."""

NVME_MOUNTS = "/mnt/k8s-disks"
"""Folder below which Amazon Linux's bootstrap mounts a node's local disks, when it is told to: ``0`` for a RAID, else a
number for each disk (awslabs/amazon-eks-ami v20260724, nodeadm ``localStorage`` and setup-local-disks)."""

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
"""Binding mode of a StorageClass whose claims stay Pending until a pod mounts them; without one they bind at once."""

DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"
"""Marks the StorageClass of claims that name none (Kubernetes documentation, "Default StorageClass")."""

EFS_DRIVER = "efs.csi.aws.com"
"""Provisioner of StorageClasses on EFS."""

EFS_ACCESS_POINTS = "efs-ap"
"""The driver's provisioning mode: one EFS access point for each claim. There is no other for EFS."""

PROVISIONING_MODES = (EFS_ACCESS_POINTS, "s3files-ap")
"""What the driver makes volumes of: access points of an EFS file system, or of S3 Files (aws-efs-csi-driver v3.4.1,
examples/kubernetes/s3files/dynamic_provisioning)."""

NFS_PORT = 2049
"""TCP port of a mount target."""

EFS_THROUGHPUT_BURSTING = "bursting"
"""What a file system has that says nothing."""
EFS_THROUGHPUT_PROVISIONED = "provisioned"
EFS_THROUGHPUT_ELASTIC = "elastic"
"""As much as is read, and paid by what is read."""
EFS_PERFORMANCE_GENERAL = "generalPurpose"

EFS_ELASTIC_CLIENT_BYTES_PER_SECOND = 500 * MIB
"""What one client may count on under elastic throughput. Newer clients reach three times that."""

EFS_BURSTING_BYTES_PER_SECOND_PER_GIB = 50 * 1024
"""What a bursting file system earns for each GiB stored once its credits are gone."""

HUB_BYTES_PER_SECOND = 100 * 10**6
"""A model hub over the internet, through one NAT gateway: a planning figure of ours, to be measured per site."""

SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node"
"""On a claim that waits for its first consumer: the node that the scheduler chose (Kubernetes reference, "Well-Known
Labels, Annotations and Taints")."""

PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner"
"""On a claim that nobody has made a volume for: who is to make one."""

PROVISIONED_BY_ANNOTATION = "pv.kubernetes.io/provisioned-by"
"""On a volume that was made for a claim: by whom."""

_GP2_SLOW_UP_TO_GIB = 170

EBS_OLDER_MIB_PER_SECOND: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "gp2": lambda gib: 128 if gib <= _GP2_SLOW_UP_TO_GIB else 250,
        "standard": lambda _gib: 40,
        "st1": lambda gib: min(500.0, 40 * gib / 1024),
        "sc1": lambda gib: min(192.0, 12 * gib / 1024),
    }
)
"""What a volume of so many GiB of the older types may count on (the same guide, "Amazon EBS volume types"): gp2 has 250
MiB/s above 170 GiB, below 334 GiB as long as its credits last; the two for throughput earn theirs with their size. io1
and io2 follow their IOPS."""
