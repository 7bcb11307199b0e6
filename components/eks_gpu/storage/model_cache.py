"""Model cache: a shared file system in every zone, and a bound claim on it.

Builds
    FileSystem     EFS: encrypted, elastic throughput, everything kept hot
    policy         no client without TLS
    SecurityGroup  NFS from the cluster's nodes and from nobody else
    MountTargets   one in each zone that nodes can be in
    StorageClass   access points on that file system
    Claim          read and written by many pods, awaited until it is bound

Needs
    The EFS CSI driver in the cluster and a namespace for the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from eks_gpu.facts import storage
from eks_gpu.foundation.arguments import Problem, missing, missing_entries, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.policy_document import document
from eks_gpu.planning.start_up import efs_bytes_per_second
from eks_gpu.settings import model_cache as settings

USER_ID = 1000
"""User and group that own every file, whoever writes it: an access point forces them. Servers run as the same."""

_BIND_TIMEOUT = "5m"
"""An access point is made in seconds; a claim that waits longer waits for something that is missing."""


@dataclass(frozen=True, kw_only=True)
class ModelCacheArgs:
    """What a model cache is built from."""

    settings: settings.ModelCache
    """Choices of the ``model_cache`` block."""

    cluster: ClusterConnection
    """Whose nodes mount it: a mount target goes into each of its private subnets."""

    namespace: pulumi.Input[str]
    """Namespace of the claim, which exists already. Pods mount claims of their own namespace only."""

    kms_key_arn: pulumi.Input[str] | None = None
    """Customer key that encrypts the file system; the account's own EFS key without it. It cannot be changed later."""

    protect: bool = False
    """Refuse to delete the file system, and with it every model; for production."""

    previously: tuple[str, ...] = ()
    """Former names of the component, oldest first. StorageClass, claim and the models' folder keep the first."""

    after: Sequence[pulumi.Resource] = ()
    """What the claim needs in the cluster before it can bind: the EFS CSI driver, the namespace."""


@dataclass(frozen=True, kw_only=True)
class CacheClaim:
    """A bound claim that model servers mount: ours, or one of your own."""

    claim_name: pulumi.Input[str]
    """Name of the PersistentVolumeClaim in the servers' namespace."""

    read_bytes_per_second: float
    """What one server may count on when it reads: its startup probe waits accordingly."""

    ready: tuple[pulumi.Resource, ...] = ()
    """What servers must come after: the bound claim."""


class ModelCache(Component):
    """A file system that model servers share, with a claim to mount it by."""

    file_system_id: pulumi.Output[str]
    """Id of the EFS file system."""

    storage_class_name: str
    """Name of the StorageClass: the component's own (first) name, because claims of other namespaces name it."""

    claim: CacheClaim
    """What servers mount and depend on."""

    def __init__(self, name: str, args: ModelCacheArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the file system, its ways in, then the claim."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts, args.previously)
        file_system = self._file_system(args)
        policy = self._transit_encryption(file_system)
        ways_in = self._mount_targets(args, file_system, self._security_group(args))
        storage_class = self._storage_class(args, file_system)
        claim = self._claim(args, depends_on=(storage_class, policy, *ways_in, *args.after))
        self.file_system_id = file_system.id
        self.storage_class_name = self._first_name
        self.claim = CacheClaim(
            claim_name=self._first_name,
            read_bytes_per_second=efs_bytes_per_second(args.settings.throughput),
            ready=(claim,),
        )
        self.register_outputs({"file_system_id": self.file_system_id, "claim_name": self._first_name})

    def _file_system(self, args: ModelCacheArgs) -> aws.efs.FileSystem:
        return aws.efs.FileSystem(
            self.child_name("file-system"),
            encrypted=True,
            kms_key_id=args.kms_key_arn,
            performance_mode=storage.EFS_PERFORMANCE_GENERAL,
            throughput_mode=args.settings.throughput,
            # No lifecycle policies: a model that was tiered away is slow on the very day it is needed again.
            tags={"Name": self._name},
            opts=self.child_opts(protect=args.protect or None),
        )

    def _transit_encryption(self, file_system: aws.efs.FileSystem) -> aws.efs.FileSystemPolicy:
        return aws.efs.FileSystemPolicy(
            self.child_name("transit-encryption"),
            file_system_id=file_system.id,
            policy=pulumi.Output.json_dumps(file_system_policy(file_system.arn)),
            opts=self.child_opts(),
        )

    def _security_group(self, args: ModelCacheArgs) -> tuple[aws.ec2.SecurityGroup, pulumi.Resource]:
        group = aws.ec2.SecurityGroup(
            self.child_name("security-group"),
            description="NFS from the nodes of the cluster to the model cache",
            vpc_id=args.cluster.vpc_id,
            opts=self.child_opts(),
        )
        rule = aws.vpc.SecurityGroupIngressRule(
            self.child_name("nfs-from-nodes"),
            security_group_id=group.id,
            referenced_security_group_id=args.cluster.security_group_id,
            description="NFS from nodes",
            ip_protocol="tcp",
            from_port=storage.NFS_PORT,
            to_port=storage.NFS_PORT,
            opts=self.child_opts(),
        )
        return group, rule

    def _mount_targets(
        self,
        args: ModelCacheArgs,
        file_system: aws.efs.FileSystem,
        ways_in: tuple[aws.ec2.SecurityGroup, pulumi.Resource],
    ) -> tuple[pulumi.Resource, ...]:
        group, rule = ways_in
        targets = [
            aws.efs.MountTarget(
                self.child_name(f"mount-target-{zone}"),
                file_system_id=file_system.id,
                subnet_id=subnet,
                security_groups=[group.id],
                opts=self.child_opts(),
            )
            for zone, subnet in args.cluster.private_subnets.items()
        ]
        return (rule, *targets)

    def _storage_class(self, args: ModelCacheArgs, file_system: aws.efs.FileSystem) -> k8s.storage.v1.StorageClass:
        return k8s.storage.v1.StorageClass(
            self.child_name("storage-class"),
            metadata={"name": self._first_name},
            provisioner=storage.EFS_DRIVER,
            parameters=storage_class_parameters(file_system.id),
            reclaim_policy="Delete",
            volume_binding_mode="Immediate",
            opts=self.child_opts(provider=args.cluster.provider, depends_on=args.cluster.ready),
        )

    def _claim(self, args: ModelCacheArgs, depends_on: Sequence[pulumi.Resource]) -> k8s.core.v1.PersistentVolumeClaim:
        return k8s.core.v1.PersistentVolumeClaim(
            self.child_name("claim"),
            metadata={"name": self._first_name, "namespace": args.namespace},
            spec={
                "access_modes": ["ReadWriteMany"],
                "storage_class_name": self._first_name,
                "resources": {"requests": {"storage": f"{args.settings.size_gib}Gi"}},
            },
            opts=self.child_opts(
                provider=args.cluster.provider,
                depends_on=depends_on,
                custom_timeouts=pulumi.CustomTimeouts(create=_BIND_TIMEOUT),
            ),
        )


def storage_class_parameters(file_system_id: pulumi.Input[str]) -> dict[str, pulumi.Input[str]]:
    """Return the parameters of the StorageClass. Every value is a string: Kubernetes takes nothing else there.

    The folder is named after the claim and reused: the driver leaves it behind when a claim is deleted, so a claim
    that is made anew finds its models again.
    """
    return {
        "provisioningMode": storage.EFS_ACCESS_POINTS,
        "fileSystemId": file_system_id,
        "directoryPerms": "750",
        "uid": str(USER_ID),
        "gid": str(USER_ID),
        "subPathPattern": "${.PVC.namespace}/${.PVC.name}",
        "ensureUniqueDirectory": "false",
    }


def file_system_policy(file_system_arn: pulumi.Input[str]) -> dict[str, object]:
    """Return the policy of the file system: mount and write through a mount target, over TLS, as nobody's root.

    Who may come at all is the security group's business; ``ClientRootAccess`` is granted to nobody.
    """
    return document(
        _statement(
            "Allow",
            file_system_arn,
            ("elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"),
            {"elasticfilesystem:AccessedViaMountTarget": "true"},
        ),
        _statement(
            "Deny",
            file_system_arn,
            ("elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite", "elasticfilesystem:ClientRootAccess"),
            {"aws:SecureTransport": "false"},
        ),
    )


def _statement(
    effect: str, resource: pulumi.Input[str], actions: Sequence[str], condition: Mapping[str, str]
) -> dict[str, object]:
    return {
        "Effect": effect,
        "Principal": {"AWS": "*"},
        "Action": list(actions),
        "Resource": resource,
        "Condition": {"Bool": dict(condition)},
    }


def _problems(args: ModelCacheArgs) -> Iterator[Problem]:
    yield from missing(args, "namespace")
    yield from (
        Problem(f"cluster.{problem.property}", problem.reason)
        for problem in (
            *missing(args.cluster, "vpc_id", "security_group_id"),
            *missing_entries(args.cluster, "private_subnets"),
        )
    )
