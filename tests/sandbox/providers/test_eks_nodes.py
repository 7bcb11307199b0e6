from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

import pulumi
import pytest

from sandbox import aws
from sandbox.inventory import Account
from sandbox.providers.eks.images import AL2, AL2023, BOTTLEROCKET, kind_of, parameter, system_of
from sandbox.providers.eks.self_managed import mistakes
from sandbox.providers.eks.user_data import text
from tests.support.engine import Bench, Result

SETTINGS = {"aws:region": "us-east-1"}
PACK = Path(__file__).parents[3] / "policies"

PROGRAM = """
import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

cluster = eks.Cluster(
    "cluster",
    instance_type="m5.large",
    desired_capacity=2,
    min_size=1,
    max_size=3,
    node_root_volume_size=50,
    node_root_volume_encrypted=True,
    version="1.35",
    create_oidc_provider=True,
    storage_classes="gp3",
    kube_proxy_addon_options={"version": "v1.35.0-eksbuild.1"},
    coredns_addon_options={"version": "v1.35.0-eksbuild.1"},
    vpc_cni_options={"addon_version": "v1.35.0-eksbuild.1"},
)
eks.ManagedNodeGroup(
    "gpu",
    cluster=cluster,
    node_role=cluster.instance_roles[0],
    ami_type="AL2023_x86_64_NVIDIA",
    instance_types=["g5.xlarge"],
    scaling_config={"desired_size": 1, "min_size": 0, "max_size": 2},
    labels={"workload": "inference"},
    taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    disk_size=200,
    nodeadm_extra_options=[
        {
            "content_type": "application/node.eks.aws",
            "content": "spec:\\n  instance:\\n    localStorage:\\n      strategy: RAID0\\n",
        }
    ],
)
own = eks.NodeGroupV2(
    "own",
    cluster=cluster,
    instance_type="g5.2xlarge",
    gpu=True,
    labels={"accelerator": "nvidia"},
    taints={"nvidia.com/gpu": {"value": "present", "effect": "NoSchedule"}},
    spot_price="1.0",
    node_public_key="ssh-rsa AAAA",
    desired_capacity=0,
    min_size=0,
)
eks.Addon(
    "monitoring",
    cluster=cluster,
    addon_name="eks-node-monitoring-agent",
    addon_version="v1.4.0-eksbuild.2",
    configuration_values={"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}},
)
pulumi.export("default", cluster.default_node_group_asg_name)
pulumi.export("group", cluster.default_node_group.apply(lambda group: group.auto_scaling_group.name))
pulumi.export("own", own.auto_scaling_group.name)
pulumi.export("own-group", own.node_security_group_id)
newest = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/image_id"
pulumi.export("image", aws.ssm.get_parameter(newest).value)
"""


DEFAULT_NODES = {
    ("eks:index:ServiceRole", "cluster-instanceRole"),
    ("aws:iam/role:Role", "cluster-instanceRole-role"),
    ("aws:iam/instanceProfile:InstanceProfile", "cluster-instanceProfile"),
    ("aws:ec2/securityGroup:SecurityGroup", "cluster-nodeSecurityGroup"),
    ("aws:eks/addon:Addon", "cluster-coredns"),
    ("aws:ec2/launchTemplate:LaunchTemplate", "cluster-launchTemplate"),
    ("aws:autoscaling/group:Group", "cluster"),
    ("kubernetes:storage.k8s.io/v1:StorageClass", "cluster-gp3"),
}
OWN = {
    ("aws:ec2/securityGroup:SecurityGroup", "own-nodeSecurityGroup"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "own-eksNodeIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "own-eksNodeClusterIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "own-eksExtApiServerClusterIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "own-eksNodeInternetEgressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "own-eksClusterIngressRule"),
    ("aws:ec2/keyPair:KeyPair", "own-keyPair"),
    ("aws:ec2/launchTemplate:LaunchTemplate", "own-launchTemplate"),
    ("aws:autoscaling/group:Group", "own"),
}


def below(result: Result, component: str) -> set[tuple[str, str]]:
    return {(step.type, step.name) for step in result.steps if f"{component}$" in step.urn.split("::")[2]}


def user_data(result: Result, template: str) -> str:
    return base64.b64decode(result.step(template).inputs["userData"]).decode()


@pytest.mark.engine
def test_a_program_with_default_nodes_and_self_managed_ones_is_judged_built_and_destroyed(engine: Bench) -> None:
    program = engine.program(PROGRAM)
    listed = {"eks-gpu": {"notEvaluated": "list"}}

    preview = engine.preview(program, config=SETTINGS, policy_pack=PACK, policy_config=listed)
    made = engine.up(program, config=SETTINGS)
    again = engine.up(program, config=SETTINGS)
    state = engine.export(program)["deployment"]["resources"]
    outputs = next(each for each in state if each["type"] == "pulumi:pulumi:Stack")["outputs"]
    gone = engine.destroy(program, config=SETTINGS)

    assert preview.returncode == 0, preview.output
    reported = [violation.message for violation in preview.violations]
    assert any("NODE004 own-launchTemplate: userData" in message for message in reported), preview.output
    assert any("NODE001 gpu" in message for message in reported), preview.output
    assert below(preview, "eks:index:Cluster") >= DEFAULT_NODES
    assert below(preview, "eks:index:NodeGroupV2") == OWN
    assert below(preview, "eks:index:Addon") == {("aws:eks/addon:Addon", "monitoring")}
    assert made.returncode == 0, made.output
    [add_on] = [step for step in made.steps if (step.type, step.name) == ("aws:eks/addon:Addon", "monitoring")]
    assert json.loads(add_on.inputs["configurationValues"])["dcgmAgent"]
    assert set(again.changes) == {"same"}, again.output
    assert outputs["default"] == outputs["group"]
    assert outputs["default"].startswith("cluster-")
    assert outputs["own"].startswith("own-")
    assert outputs["own-group"].startswith("sg-")
    assert set(gone.changes) == {"delete"}, gone.output
    assert Account(aws.start(engine.checkout).url).contents(["us-east-1"]) == []
    assert_nodes(made, outputs)


def assert_nodes(made: Result, outputs: Mapping[str, str]) -> None:
    default, own = made.step("cluster-launchTemplate").inputs, made.step("own-launchTemplate").inputs
    disk = {"encrypted": "true", "volumeSize": 50}
    assert default["blockDeviceMappings"] == [{"deviceName": "/dev/xvda", "ebs": disk}]
    assert default["instanceType"] == "m5.large"
    assert default["iamInstanceProfile"] == own["iamInstanceProfile"]
    assert own["imageId"] == outputs["image"] != default["imageId"]
    assert own["instanceMarketOptions"] == {"marketType": "spot", "spotOptions": {"maxPrice": "1.0"}}
    assert own["networkInterfaces"] == [{"associatePublicIpAddress": "true", "securityGroups": [outputs["own-group"]]}]
    assert "--node-labels=accelerator=nvidia" in user_data(made, "own-launchTemplate")
    assert "--register-with-taints=nvidia.com/gpu=present:NoSchedule" in user_data(made, "own-launchTemplate")
    assert "strategy: RAID0" in user_data(made, "gpu-launchTemplate")
    managed = next(step for step in made.steps if step.type == "aws:eks/nodeGroup:NodeGroup").inputs
    assert managed["launchTemplate"]["version"] == "1"
    assert not {"amiType", "version", "diskSize"} & set(managed)
    scaling = [step.inputs for step in made.steps if step.type == "aws:autoscaling/group:Group"]
    assert sorted(group["desiredCapacity"] for group in scaling) == [0, 2]
    assert {group["launchTemplate"]["version"] for group in scaling} == {"1"}


OTHERS = """
import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

role = aws.iam.Role("nodes", assume_role_policy='{"Version": "2012-10-17", "Statement": []}')
profile = aws.iam.InstanceProfile("nodes", role=role.name)
eks.Cluster(
    "auto",
    auto_mode={"enabled": True},
    authentication_mode=eks.AuthenticationMode.API,
    skip_default_node_group=True,
)
eks.Cluster(
    "rocket",
    version="1.35",
    instance_roles=[role],
    node_group_options={
        "instance_profile": profile,
        "operating_system": eks.OperatingSystem.BOTTLEROCKET,
        "instance_type": "g5g.xlarge",
        "gpu": True,
        "node_root_volume_size": 100,
    },
    user_mappings=[{"user_arn": "arn:user", "username": "admin", "groups": ["system:masters"]}],
    storage_classes={"fast": eks.StorageClassArgs(type="io1", iops_per_gb=10, encrypted=True, default=True)},
)
eks.Cluster("known", instance_role=role, instance_profile_name="of-the-account", node_ami_id="ami-1", version="1.35")
"""


@pytest.mark.engine
def test_auto_mode_node_group_options_and_a_known_instance_profile_are_built(engine: Bench) -> None:
    program = engine.program(OTHERS)

    preview = engine.preview(program, config=SETTINGS)
    made = engine.up(program, config=SETTINGS)
    again = engine.up(program, config=SETTINGS)
    engine.destroy(program, config=SETTINGS)

    assert preview.returncode == 0, preview.output
    assert made.returncode == 0, made.output
    assert set(again.changes) == {"same"}, again.output
    assert Account(aws.start(engine.checkout).url).contents(["us-east-1"]) == []
    auto = made.step("auto-eksCluster").inputs
    assert auto["computeConfig"]["nodePools"] == ["general-purpose", "system"]
    assert auto["storageConfig"] == {"blockStorage": {"enabled": True}}
    assert auto["bootstrapSelfManagedAddons"] is False
    assert not {"auto-kube-proxy", "auto-nodeSecurityGroup", "auto-launchTemplate"} & {each.name for each in made.steps}
    rocket = made.step("rocket-launchTemplate").inputs
    assert rocket["blockDeviceMappings"] == [{"deviceName": "/dev/xvdb", "ebs": {"volumeSize": 100}}]
    assert rocket["iamInstanceProfile"]["name"].startswith("nodes-")
    assert "arn:user" in made.step("rocket-nodeAccess").inputs["data"]["mapUsers"]
    fast = made.step("rocket-fast").inputs
    assert fast["parameters"] == {"type": "io1", "iopsPerGb": "10", "encrypted": "true"}
    assert fast["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    known = made.step("known-launchTemplate").inputs
    assert known["imageId"] == "ami-1"
    assert known["iamInstanceProfile"] == {"name": "of-the-account"}


@pytest.mark.parametrize(
    ("system", "nvidia", "types", "name"),
    [
        (AL2023, False, ["m5.large"], "eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id"),
        (AL2023, True, ["g5.xlarge"], "eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/image_id"),
        (AL2, False, ["m7g.large"], "eks/optimized-ami/1.35/amazon-linux-2-arm64/recommended/image_id"),
        (BOTTLEROCKET, True, ["g5g.xlarge"], "bottlerocket/aws-k8s-1.35-nvidia/arm64/latest/image_id"),
        (BOTTLEROCKET, False, [], "bottlerocket/aws-k8s-1.35/x86_64/latest/image_id"),
    ],
)
def test_the_image_follows_from_system_gpu_and_architecture(
    system: str, nvidia: bool, types: list[str], name: str
) -> None:
    kind = kind_of(system, nvidia=nvidia, types=types, path="instanceType")

    assert parameter(kind, "1.35") == f"/aws/service/{name}"


@pytest.mark.parametrize(
    ("ami_type", "asked", "types", "reason"),
    [
        (None, "Debian", [], '"Debian" is not one of AL2, AL2023, Bottlerocket'),
        ("AL2023_x86_64_NVIDIA", "Bottlerocket", [], "contradicts amiType"),
        ("CUSTOM", None, [], 'no recommended image is known for "CUSTOM"'),
        (None, None, ["m5.large", "m7g.large"], "are of two architectures"),
        (None, None, ["large"], '"large" is not an instance type'),
        (None, "AL2", ["g5g.xlarge"], "there is no AL2 image with NVIDIA driver for Arm"),
    ],
)
def test_an_image_that_cannot_be_chosen_is_refused(
    ami_type: str | None, asked: str | None, types: list[str], reason: str
) -> None:
    with pytest.raises(pulumi.InputPropertyError) as refusal:
        kind_of(system_of(ami_type, asked), nvidia=True, types=types, path="instanceTypes")

    assert reason in refusal.value.reason


def test_older_names_of_an_image_are_understood() -> None:
    assert system_of("amazon-linux-2-gpu", None) == AL2
    assert system_of("amazon-linux-2023/arm64/standard", "AL2023") == AL2023


def test_user_data_holds_what_a_node_is_told_in_the_form_of_its_system() -> None:
    cluster = {"name": "gpu", "apiServerEndpoint": "https://api", "certificateAuthority": "Y2E=", "cidr": "10.0.0.0/8"}
    told = {"labels": {"a": "b"}, "taints": ["k=v:NoSchedule"], "kubeletExtraArgs": "--v=2", "nodeUserData": "echo hi"}

    nodeadm, shell, rocket = (text(system, cluster, told) for system in (AL2023, AL2, BOTTLEROCKET))

    for content in (nodeadm, shell):
        assert "--node-labels=a=b" in content
        assert "--register-with-taints=k=v:NoSchedule" in content
        assert "--v=2" in content
        assert "echo hi" in content
    assert nodeadm.startswith("MIME-Version: 1.0\n")
    assert shell.startswith("#!/bin/bash\n")
    assert '"node-labels": {"a": "b"}' in rocket
    assert all("made by the sandbox" in content for content in (nodeadm, shell, rocket))


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"amiId": "ami-1", "gpu": True}, "amiId"),
        ({"nodeSecurityGroupId": "sg-1"}, "clusterIngressRule"),
        ({"nodeUserDataOverride": "#!", "labels": {"a": "b"}}, "nodeUserDataOverride"),
        ({"nodeRootVolumeIops": 3000, "nodeRootVolumeType": "gp3"}, "nodeRootVolumeIops"),
        ({"nodeRootVolumeThroughput": 250}, "nodeRootVolumeThroughput"),
    ],
)
def test_options_of_nodes_that_contradict_each_other_are_named(options: Mapping[str, object], path: str) -> None:
    assert list(mistakes(options)) == [path]
