from __future__ import annotations

import json
from dataclasses import replace

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import Recording, record
from eks_gpu.settings import model_cache as settings
from eks_gpu.storage.model_cache import (
    USER_ID,
    CacheClaim,
    ModelCache,
    ModelCacheArgs,
    file_system_policy,
    storage_class_parameters,
)
from tests.support.clusters import SUBNETS, cluster

FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
POLICY = "aws:efs/fileSystemPolicy:FileSystemPolicy"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
SECURITY_GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"


def build(
    name: str = "cache",
    *,
    outputs: bool = False,
    protect: bool = False,
    kms_key_arn: str | None = None,
    previously: tuple[str, ...] = (),
) -> Recording:
    def program() -> None:
        driver = k8s.core.v1.ConfigMap("driver")
        namespace = pulumi.Output.from_input("inference") if outputs else "inference"
        args = ModelCacheArgs(
            settings=settings.ModelCache(size_gib=1200),
            cluster=cluster(outputs=outputs),
            namespace=namespace,
            protect=protect,
            kms_key_arn=kms_key_arn,
            previously=previously,
            after=[driver],
        )
        ModelCache(name, args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_s01_there_is_a_mount_target_in_every_zone_of_the_cluster(*, outputs: bool) -> None:
    recording = build(outputs=outputs)
    file_system = recording.one(FILE_SYSTEM)
    targets = recording.of_type(MOUNT_TARGET)
    assert {target.name: target["subnetId"] for target in targets} == {
        f"cache-mount-target-{zone}": subnet for zone, subnet in SUBNETS.items()
    }
    assert all(target.property_dependencies["fileSystemId"] == {file_system.urn} for target in targets)


def test_s01_nodes_and_nobody_else_reach_the_mount_targets_by_nfs() -> None:
    recording = build()
    group = recording.one(SECURITY_GROUP)
    rule = recording.one(INGRESS)
    assert (rule["ipProtocol"], rule["fromPort"], rule["toPort"]) == ("tcp", 2049, 2049)
    assert rule["referencedSecurityGroupId"] == "sg-0cluster"
    assert "cidrIpv4" not in rule.inputs
    assert rule.property_dependencies["securityGroupId"] == {group.urn}
    for target in recording.of_type(MOUNT_TARGET):
        assert target.property_dependencies["securityGroups"] == {group.urn}


def test_s01_every_parameter_of_the_storage_class_is_a_string() -> None:
    parameters = build().one(STORAGE_CLASS)["parameters"]
    assert all(isinstance(value, str) for value in parameters.values())


def test_s01_the_storage_class_is_complete() -> None:
    parameters = storage_class_parameters("fs-0")
    assert parameters == {
        "provisioningMode": "efs-ap",
        "fileSystemId": "fs-0",
        "directoryPerms": "750",
        "uid": str(USER_ID),
        "gid": str(USER_ID),
        "subPathPattern": "${.PVC.namespace}/${.PVC.name}",
        "ensureUniqueDirectory": "false",
    }


def test_s01_the_storage_class_is_on_this_file_system() -> None:
    recording = build()
    storage_class = recording.one(STORAGE_CLASS)
    assert storage_class["provisioner"] == "efs.csi.aws.com"
    assert storage_class.property_dependencies["parameters"] == {recording.one(FILE_SYSTEM).urn}


def test_s02_the_claim_is_shared_and_awaited_until_it_is_bound() -> None:
    recording = build()
    claim = recording.one(CLAIM)
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert claim["spec"]["resources"] == {"requests": {"storage": "1200Gi"}}
    assert claim["spec"]["storageClassName"] == recording.one(STORAGE_CLASS)["metadata"]["name"] == "cache"
    assert "annotations" not in claim["metadata"]
    assert recording.one(STORAGE_CLASS)["volumeBindingMode"] == "Immediate"
    assert claim.options.custom_timeouts["create"] == "5m"


@pytest.mark.parametrize("outputs", [False, True])
def test_s02_the_claim_comes_after_all_that_binding_and_mounting_need(*, outputs: bool) -> None:
    recording = build(outputs=outputs)
    claim = recording.one(CLAIM)
    needed = (
        recording.one(STORAGE_CLASS),
        recording.one(POLICY),
        recording.one(INGRESS),
        recording.named("driver"),
        *recording.of_type(MOUNT_TARGET),
    )
    assert all(recording.reaches(claim, resource) for resource in needed)


def test_s02_servers_get_the_name_the_speed_and_the_claim_to_wait_for() -> None:
    seen: list[CacheClaim] = []

    def program() -> None:
        args = ModelCacheArgs(settings=settings.ModelCache(size_gib=1), cluster=cluster(), namespace="inference")
        claim = ModelCache("cache", args).claim
        k8s.core.v1.Pod("server", opts=pulumi.ResourceOptions(depends_on=list(claim.ready)))
        seen.append(claim)

    recording = record(program)
    [claim] = seen
    assert recording.one(CLAIM).urn in recording.named("server").dependencies
    assert claim.claim_name == "cache"
    assert claim.read_bytes_per_second == 500 * 2**20


def test_s03_the_file_system_is_elastic_and_keeps_everything_hot() -> None:
    file_system = build().one(FILE_SYSTEM)
    assert file_system["throughputMode"] == "elastic"
    assert file_system["performanceMode"] == "generalPurpose"
    assert "lifecyclePolicies" not in file_system.inputs
    assert "availabilityZoneName" not in file_system.inputs


def test_the_file_system_is_encrypted_with_the_key_that_is_given() -> None:
    assert build().one(FILE_SYSTEM)["encrypted"] is True
    assert "kmsKeyId" not in build().one(FILE_SYSTEM).inputs
    assert build(kms_key_arn="arn:aws:kms:::key/1").one(FILE_SYSTEM)["kmsKeyId"] == "arn:aws:kms:::key/1"


@pytest.mark.parametrize("protect", [False, True])
def test_production_protects_the_file_system_and_nothing_else(*, protect: bool) -> None:
    recording = build(protect=protect)
    protected = [resource.type for resource in recording.resources if resource.options.protect]
    assert protected == ([FILE_SYSTEM] if protect else [])


def test_the_policy_admits_no_client_without_tls_and_no_root() -> None:
    policy = file_system_policy("arn:fs")
    assert policy == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
                "Resource": "arn:fs",
                "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
            },
            {
                "Effect": "Deny",
                "Principal": {"AWS": "*"},
                "Action": [
                    "elasticfilesystem:ClientMount",
                    "elasticfilesystem:ClientWrite",
                    "elasticfilesystem:ClientRootAccess",
                ],
                "Resource": "arn:fs",
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ],
    }


def test_the_policy_is_put_on_the_file_system_as_text() -> None:
    recording = build()
    policy = recording.one(POLICY)
    assert policy.property_dependencies["fileSystemId"] == {recording.one(FILE_SYSTEM).urn}
    text = policy["policy"]
    assert text is UNKNOWN or json.loads(text)["Statement"][1]["Effect"] == "Deny"


def test_all_bad_arguments_are_reported_at_once() -> None:
    def program() -> None:
        unfit = replace(cluster(), private_subnets={"us-east-1a": ""}, vpc_id="", security_group_id="")
        ModelCache("cache", ModelCacheArgs(settings=settings.ModelCache(size_gib=1), cluster=unfit, namespace=""))

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(program)
    assert str(refused.value).splitlines() == [
        "cache has 4 bad arguments:",
        "  namespace: is missing; give the value or the Output that will hold it",
        "  cluster.vpc_id: is missing; give the value or the Output that will hold it",
        "  cluster.security_group_id: is missing; give the value or the Output that will hold it",
        "  cluster.private_subnets.us-east-1a: is missing; give the value or the Output that will hold it",
    ]


def test_names_and_parents_are_stable() -> None:
    recording = build()
    component = recording.one("eks-gpu:index:ModelCache")
    assert {child.name for child in recording.children(component)} == {
        "cache-file-system",
        "cache-transit-encryption",
        "cache-security-group",
        "cache-nfs-from-nodes",
        "cache-storage-class",
        "cache-claim",
        *(f"cache-mount-target-{zone}" for zone in SUBNETS),
    }


def test_a_renamed_cache_keeps_its_storage_class_its_claim_and_with_it_the_folder_of_the_models() -> None:
    before, after = build(), build("models", previously=("cache", "weights"))

    assert after.one(STORAGE_CLASS)["metadata"] == before.one(STORAGE_CLASS)["metadata"]
    assert after.one(CLAIM).inputs == before.one(CLAIM).inputs
    assert after.one("eks-gpu:index:ModelCache").options.aliases == ("cache", "weights")
