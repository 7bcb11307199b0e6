from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from sandbox.providers.eks.kubeconfig import kubeconfig
from sandbox.providers.eks.options import judge
from sandbox.providers.eks.resources import package_version
from sandbox.providers.sdk import Sdk
from tests.support.engine import Bench, Result

CLUSTER = "eks:index:Cluster"
SETTINGS = {"aws:region": "us-east-1"}
ENOUGH: Mapping[str, Any] = {"vpcId": "vpc-1", "subnetIds": ["a", "b"], "skipDefaultNodeGroup": True}

PROGRAM = """
import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s

vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
subnets = [
    aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.0.{number}.0/24", availability_zone=f"us-east-1{zone}")
    for number, zone in enumerate("ab")
]
trust = '{"Version": "2012-10-17", "Statement": []}'
role = aws.iam.Role("nodes", assume_role_policy=trust)
cluster = eks.Cluster(
    "gpu",
    vpc_id=vpc.id,
    private_subnet_ids=[subnet.id for subnet in subnets],
    skip_default_node_group=True,
    authentication_mode=eks.AuthenticationMode.API,
    create_oidc_provider=True,
    version="1.35",
    instance_roles=[role],
    kube_proxy_addon_options={"version": "v1.35.0-eksbuild.1"},
    access_entries={
        "admin": {
            "principal_arn": role.arn,
            "access_policies": {"all": {"policy_arn": "arn:p", "access_scope": {"type": "cluster"}}},
        }
    },
    opts=pulumi.ResourceOptions(protect=pulumi.Config().get_bool("protect"), aliases=[pulumi.Alias(name="old")]),
)
eks.ManagedNodeGroup(
    "system",
    cluster=cluster,
    node_role=role,
    disk_size=50,
    instance_types=["m7i.xlarge"],
    ami_type="AL2023_x86_64_STANDARD",
    scaling_config={"desired_size": 1, "min_size": 1, "max_size": 1},
)
provider = k8s.Provider("k8s", kubeconfig=cluster.kubeconfig_json)
k8s.core.v1.Namespace("gpu", opts=pulumi.ResourceOptions(provider=provider))
pulumi.export("name", cluster.eks_cluster.name)
pulumi.export("issuer", cluster.oidc_issuer)
pulumi.export("group", cluster.node_security_group_id)
pulumi.export("role", cluster.instance_roles.apply(lambda roles: roles[0].arn))
pulumi.export("core", cluster.core.vpc_id)
pulumi.export("config", cluster.get_kubeconfig(role_arn="arn:admin"))
"""

CHILDREN = {
    ("eks:index:ServiceRole", "gpu-eksRole"),
    ("aws:iam/role:Role", "gpu-eksRole-role"),
    ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "gpu-eksRole-4b490823"),
    ("aws:ec2/securityGroup:SecurityGroup", "gpu-eksClusterSecurityGroup"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksClusterInternetEgressRule"),
    ("aws:eks/cluster:Cluster", "gpu-eksCluster"),
    ("aws:eks/addon:Addon", "gpu-kube-proxy"),
    ("pulumi:providers:kubernetes", "gpu-eks-k8s"),
    ("aws:eks/accessEntry:AccessEntry", "gpu-admin"),
    ("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "gpu-admin-all"),
    ("eks:index:VpcCniAddon", "gpu-vpc-cni"),
    ("aws:eks/addon:Addon", "gpu-vpc-cni"),
    ("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "gpu-oidcProvider"),
    ("aws:ec2/securityGroup:SecurityGroup", "gpu-nodeSecurityGroup"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksNodeIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksNodeClusterIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksExtApiServerClusterIngressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksNodeInternetEgressRule"),
    ("aws:ec2/securityGroupRule:SecurityGroupRule", "gpu-eksClusterIngressRule"),
}


def below(result: Result, component: str) -> set[tuple[str, str]]:
    return {(step.type, step.name) for step in result.steps if f"{component}$" in step.urn.split("::")[2]}


@pytest.mark.engine
def test_a_cluster_has_the_children_of_the_real_component_and_a_life_of_its_own(engine: Bench) -> None:
    program = engine.program(PROGRAM)

    preview = engine.preview(program, config=SETTINGS)
    made = engine.up(program, config=SETTINGS)
    again = engine.up(program, config=SETTINGS)
    outputs = engine.export(program)["deployment"]["resources"][0]["outputs"]
    gone = engine.destroy(program, config=SETTINGS)

    assert preview.returncode == 0, preview.output
    assert below(preview, CLUSTER) == CHILDREN
    add_on = next(step for step in preview.steps if step.name == "gpu-kube-proxy")
    assert add_on.inputs["addonVersion"] == "v1.35.0-eksbuild.1"
    assert below(preview, "eks:index:ManagedNodeGroup") == {
        ("aws:eks/nodeGroup:NodeGroup", "system"),
    }
    assert made.returncode == 0, made.output
    assert set(again.changes) == {"same"}, again.output
    assert outputs["name"].startswith("gpu-eksCluster-")
    assert outputs["issuer"].startswith("oidc.eks.us-east-1.amazonaws.com/id/")
    assert outputs["group"].startswith("sg-")
    assert outputs["role"].startswith("arn:aws:iam::123456789012:role/nodes-")
    assert outputs["core"].startswith("vpc-")
    assert "arn:admin" in outputs["config"]
    assert set(gone.changes) == {"delete"}, gone.output


@pytest.mark.engine
def test_children_inherit_the_protection_of_their_component(engine: Bench) -> None:
    program = engine.program(PROGRAM)

    made = engine.up(program, config={**SETTINGS, "tiny:protect": True})
    refused = engine.destroy(program, config={**SETTINGS, "tiny:protect": True})

    assert made.returncode == 0, made.output
    state = engine.export(program)["deployment"]["resources"]
    assert all(resource.get("protect") for resource in state if f"{CLUSTER}$aws:" in resource["urn"])
    assert refused.returncode != 0


@pytest.mark.engine
def test_a_wrong_component_is_refused_with_all_its_mistakes(engine: Bench) -> None:
    program = engine.program(
        "import pulumi_eks as eks\neks.Cluster('gpu', fargate=True, subnet_ids=['a'], public_subnet_ids=['b'])\n"
    )

    result = engine.preview(program, config=SETTINGS)

    assert result.returncode != 0
    for mistake in ("fargate", '"subnetIds" and "publicSubnetIds" cannot both be given'):
        assert mistake in result.output
    assert "sandbox/providers" not in result.output  # no traceback of ours; the SDK adds its own


@pytest.mark.parametrize(
    ("options", "path", "reason"),
    [
        ({"versio": "1.35"}, "versio", 'did you mean "version"'),
        ({"skipDefaultNodeGroup": "yes"}, "skipDefaultNodeGroup", "expected a boolean, got a string"),
        ({"fargate": True}, "fargate", "the stand-in does not build a Fargate profile"),
        ({"accessEntries": {"a": {"principalArn": "x"}}}, "accessEntries", "access entries need authenticationMode"),
        ({"instanceRole": "a", "instanceRoles": ["b"]}, "instanceRole", "cannot both be given"),
        ({"autoMode": {"enabled": True}}, "autoMode", "EKS Auto Mode needs authenticationMode to be one of API"),
        ({"nodeGroupOptions": {}, "instanceType": "a"}, "nodeGroupOptions", "cannot both be given"),
        ({"skipDefaultNodeGroup": False, "instanceRoles": []}, "nodeGroupOptions", "needs an instance profile"),
        ({"corednsAddonOptions": {"versn": "1"}}, "corednsAddonOptions.versn", 'did you mean "version"'),
    ],
)
def test_options_are_judged_before_anything_is_made(options: Mapping[str, Any], path: str, reason: str) -> None:
    with pytest.raises(pulumi.InputPropertiesError) as refusal:
        judge(Sdk("pulumi_eks"), CLUSTER, {**ENOUGH, **options})

    assert refusal.value.errors is not None
    (error,) = refusal.value.errors
    assert error["property_path"] == path
    assert reason in error["reason"]


def test_children_share_the_program_s_plugin_only_where_it_has_the_version_of_the_sdk_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Sdk("pulumi_aws").version
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path))

    without = package_version.__wrapped__("aws")
    (tmp_path / "plugins" / f"resource-aws-v{here}").mkdir(parents=True)

    assert without is None
    assert package_version.__wrapped__("aws") == here


def test_good_options_pass() -> None:
    options = {**ENOUGH, "version": "1.35", "tags": {"a": "b"}}
    assert judge(Sdk("pulumi_eks"), CLUSTER, options) is None  # type: ignore[func-returns-value] # it would raise


def test_a_kubeconfig_asks_aws_for_its_token_as_the_role_given() -> None:
    cluster = {
        "name": "gpu",
        "arn": "arn:aws:eks:eu-west-1:1:cluster/gpu",
        "endpoint": "https://api",
        "certificateAuthority": {"data": "Y2E="},
    }

    config = kubeconfig(cluster, {"roleArn": "arn:role", "profileName": "team"})

    assert config["clusters"][0]["cluster"] == {"server": "https://api", "certificate-authority-data": "Y2E="}
    user = config["users"][0]["user"]["exec"]
    assert user["args"][:2] == ["--region", "eu-west-1"]
    assert user["args"][-2:] == ["--role", "arn:role"]
    assert {"name": "AWS_PROFILE", "value": "team"} in user["env"]
    assert "--role" not in kubeconfig(cluster)["users"][0]["user"]["exec"]["args"]
