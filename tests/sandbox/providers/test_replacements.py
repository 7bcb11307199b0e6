from __future__ import annotations

import pytest

from sandbox.providers.aws.kept import keepers
from sandbox.providers.aws.provider import Aws
from sandbox.providers.aws.replacements import FIXED
from sandbox.providers.kubernetes.provider import Kubernetes
from sandbox.providers.sdk import Sdk
from sandbox.providers.wire import UNKNOWN, Properties


@pytest.mark.parametrize("token", sorted(FIXED))
def test_the_table_names_only_types_and_properties_that_the_sdk_has(aws_sdk: Sdk, token: str) -> None:
    resource = aws_sdk.resource(token)

    assert resource is not None
    for path in FIXED[token]:
        first, _, rest = path.partition(".")
        assert first in resource.inputs, path
        if rest:
            nested = aws_sdk.nested(resource.service, resource.inputs[first].kind.name)
            assert nested is not None
            assert rest in nested, path


def test_every_type_that_is_kept_in_moto_has_a_row() -> None:
    assert set(keepers()) <= set(FIXED)


@pytest.mark.parametrize(
    ("token", "old", "new", "replaces"),
    [
        ("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}, {"cidrBlock": "10.1.0.0/16"}, True),
        ("aws:ec2/vpc:Vpc", {"enableDnsHostnames": True}, {"enableDnsHostnames": False}, False),
        ("aws:ec2/subnet:Subnet", {"availabilityZone": "a"}, {"availabilityZone": "b"}, True),
        ("aws:ec2/subnet:Subnet", {"vpcId": "a"}, {"vpcId": UNKNOWN}, True),
        ("aws:ec2/subnet:Subnet", {"mapPublicIpOnLaunch": True}, {"mapPublicIpOnLaunch": False}, False),
        ("aws:ec2/launchTemplate:LaunchTemplate", {"name": "a"}, {"name": "b"}, True),
        ("aws:ec2/launchTemplate:LaunchTemplate", {"imageId": "a"}, {"imageId": "b"}, False),
        ("aws:eks/cluster:Cluster", {"roleArn": "a"}, {"roleArn": "b"}, True),
        ("aws:eks/cluster:Cluster", {"version": "1.34"}, {"version": "1.35"}, False),
        ("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["g5.xlarge"]}, {"instanceTypes": ["g5.2xlarge"]}, True),
        ("aws:eks/nodeGroup:NodeGroup", {"amiType": "A"}, {"amiType": "B"}, True),
        ("aws:eks/nodeGroup:NodeGroup", {"capacityType": "SPOT"}, {"capacityType": "ON_DEMAND"}, True),
        ("aws:eks/nodeGroup:NodeGroup", {"diskSize": 20}, {"diskSize": 100}, True),
        ("aws:eks/nodeGroup:NodeGroup", {"labels": {"a": "1"}}, {"labels": {"a": "2"}}, False),
        ("aws:eks/nodeGroup:NodeGroup", {"taints": []}, {"taints": [{"key": "a"}]}, False),
        ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"maxSize": 1}}, {"scalingConfig": {"maxSize": 2}}, False),
        ("aws:eks/nodeGroup:NodeGroup", {"launchTemplate": {"id": "a"}}, {"launchTemplate": {"id": "b"}}, True),
        (
            "aws:eks/nodeGroup:NodeGroup",
            {"launchTemplate": {"id": "a", "version": "1"}},
            {"launchTemplate": {"id": "a", "version": UNKNOWN}},
            False,
        ),
        ("aws:eks/addon:Addon", {"addonVersion": "v1"}, {"addonVersion": "v2"}, False),
        ("aws:efs/fileSystem:FileSystem", {"encrypted": False}, {"encrypted": True}, True),
        ("aws:efs/fileSystem:FileSystem", {"throughputMode": "bursting"}, {"throughputMode": "elastic"}, False),
        ("aws:efs/mountTarget:MountTarget", {"subnetId": "a"}, {"subnetId": "b"}, True),
        ("aws:iam/role:Role", {"name": "a"}, {"name": "b"}, True),
        ("aws:iam/role:Role", {"assumeRolePolicy": "{}"}, {"assumeRolePolicy": '{"a": 1}'}, False),
        ("aws:sqs/queue:Queue", {"name": "a"}, {"name": "b"}, True),
        ("aws:sqs/queue:Queue", {"region": "us-east-1"}, {"region": "us-west-2"}, True),
    ],
)
def test_an_aws_change_replaces_or_updates_as_with_the_real_provider(
    aws: Aws, token: str, old: Properties, new: Properties, replaces: bool
) -> None:
    difference = aws.diff(token, {}, old, new)

    assert difference.changes
    assert any(change.replaces for change in difference.changes) is replaces


def test_policies_that_say_the_same_do_not_differ(aws: Aws) -> None:
    old, new = {"policy": '{"a": 1, "b": [2]}'}, {"policy": '{"b":[2],"a":1}'}

    assert aws.diff("aws:iam/policy:Policy", {}, old, new).changes == []


def test_new_default_tags_change_every_resource_that_has_tags(aws: Aws) -> None:
    state = {"tagsAll": {"owner": "somebody else"}}

    (change,) = aws.diff("aws:sqs/queue:Queue", state, {"name": "a"}, {"name": "a"}).changes

    assert (change.path, change.replaces) == ("tagsAll", False)


def test_only_a_name_given_by_the_program_makes_a_replacement_delete_first(aws: Aws) -> None:
    subnet = "aws:ec2/subnet:Subnet"
    role = "aws:iam/role:Role"
    given = {"name": "fixed", "path": "/a/", "__defaults": []}
    made_up = {"name": "role-1234567", "path": "/a/", "__defaults": ["name"]}

    assert aws.diff(role, {}, given, {**given, "path": "/b/"}).delete_before_replace
    assert not aws.diff(role, {}, made_up, {**made_up, "path": "/b/"}).delete_before_replace
    assert not aws.diff(subnet, {}, {"cidrBlock": "a"}, {"cidrBlock": "b"}).delete_before_replace


@pytest.mark.parametrize(
    ("token", "old", "new", "replaces"),
    [
        ("node.k8s.io/v1:RuntimeClass", {"handler": "a"}, {"handler": "b"}, True),
        ("storage.k8s.io/v1:StorageClass", {"parameters": {"a": "1"}}, {"parameters": {"a": "2"}}, True),
        ("storage.k8s.io/v1:StorageClass", {"allowVolumeExpansion": False}, {"allowVolumeExpansion": True}, False),
        (
            "core/v1:PersistentVolumeClaim",
            {"spec": {"resources": {"requests": {"storage": "1Gi"}}}},
            {"spec": {"resources": {"requests": {"storage": "2Gi"}}}},
            False,
        ),
        ("core/v1:PersistentVolumeClaim", {"spec": {"volumeName": "a"}}, {"spec": {"volumeName": "b"}}, True),
        ("core/v1:ConfigMap", {"data": {"a": "1"}}, {"data": {"a": "2"}}, True),
        ("apps/v1:Deployment", {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, False),
        (
            "apps/v1:Deployment",
            {"spec": {"selector": {"matchLabels": {"a": "1"}}}},
            {"spec": {"selector": {"matchLabels": {"a": "2"}}}},
            True,
        ),
        ("batch/v1:Job", {"spec": {"template": {"spec": {"x": 1}}}}, {"spec": {"template": {"spec": {"x": 2}}}}, True),
        ("karpenter.sh/v1:NodePool", {"spec": {"limits": {"cpu": 1}}}, {"spec": {"limits": {"cpu": 2}}}, False),
        ("karpenter.sh/v1:NodePool", {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}, True),
        ("core/v1:Service", {"metadata": {"namespace": "a"}}, {"metadata": {"namespace": "b"}}, True),
        ("helm.sh/v3:Release", {"version": "1"}, {"version": "2"}, False),
        ("helm.sh/v3:Release", {"namespace": "a"}, {"namespace": "b"}, True),
    ],
)
def test_a_kubernetes_change_replaces_where_the_object_cannot_be_changed(
    kubernetes: Kubernetes, token: str, old: Properties, new: Properties, replaces: bool
) -> None:
    difference = kubernetes.diff(f"kubernetes:{token}", {}, old, new)

    assert difference.changes
    assert any(change.replaces for change in difference.changes) is replaces


def test_config_maps_change_in_place_where_the_provider_says_so(kubernetes: Kubernetes) -> None:
    kubernetes.configure({"enableConfigMapMutable": True})

    (change,) = kubernetes.diff("kubernetes:core/v1:ConfigMap", {}, {"data": {"a": "1"}}, {"data": {"a": "2"}}).changes

    assert not change.replaces


def test_an_object_of_the_same_name_is_deleted_before_its_replacement(kubernetes: Kubernetes) -> None:
    kind = "kubernetes:node.k8s.io/v1:RuntimeClass"
    old, new = {"metadata": {"name": "a"}, "handler": "x"}, {"metadata": {"name": "a"}, "handler": "y"}

    assert kubernetes.diff(kind, {}, old, new).delete_before_replace
    assert not kubernetes.diff(kind, {}, old, {**new, "metadata": {"name": "b"}}).delete_before_replace
