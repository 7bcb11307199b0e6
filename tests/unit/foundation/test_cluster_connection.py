from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.foundation.cluster_connection import ClusterConnection, kubeconfig
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import Recording, record
from tests.support.clusters import SUBNETS, cluster

PROVIDER = "pulumi:providers:kubernetes"
GET_CLUSTER = "aws:eks/getCluster:getCluster"


def _answer(version: str) -> Mapping[str, Any]:
    return {
        "id": "prod",
        "name": "prod",
        "version": version,
        "arn": "arn:aws:eks:us-west-2:123456789012:cluster/prod",
        "endpoint": "https://prod.example",
        "certificateAuthorities": [{"data": "Q0E="}],
        "vpcConfig": {"vpcId": "vpc-1", "clusterSecurityGroupId": "sg-1", "subnetIds": []},
    }


def _use(connection: ClusterConnection) -> None:
    """Put something into the cluster that shows what the connection holds."""
    k8s.core.v1.ConfigMap(
        "probe",
        data={
            "name": connection.name,
            "arn": connection.arn,
            "endpoint": connection.endpoint,
            "ca": connection.certificate_authority,
            "group": connection.security_group_id,
            "vpc": connection.vpc_id,
        },
        opts=pulumi.ResourceOptions(provider=connection.provider, depends_on=connection.ready),
    )


def _looked_up(running: str, stated: str) -> Recording:
    def program() -> None:
        _use(ClusterConnection.lookup("kubernetes", "prod", version=stated, private_subnets=SUBNETS))

    return record(program, answers={GET_CLUSTER: lambda _: _answer(running)})


def test_kubeconfig_holds_a_command_and_no_secret() -> None:
    config: Any = kubeconfig("prod", "arn:aws:eks:eu-west-1:123456789012:cluster/prod", "https://prod.example", "Q0E=")

    assert config["clusters"][0]["cluster"] == {
        "server": "https://prod.example",
        "certificate-authority-data": "Q0E=",
    }
    command = config["users"][0]["user"]["exec"]
    assert [command["command"], *command["args"]] == (
        ["aws", "--region", "eu-west-1", "eks", "get-token", "--cluster-name", "prod", "--output", "json"]
    )
    assert config["current-context"] == config["contexts"][0]["name"]
    assert "token" not in config["users"][0]["user"]


def test_zones_are_those_with_a_private_subnet_in_the_order_given() -> None:
    zones: list[str] = []
    record(lambda: zones.extend(cluster(subnets={"us-east-1c": "s", "us-east-1a": "t"}).zones))
    assert zones == ["us-east-1c", "us-east-1a"]


def test_a_cluster_of_pulumi_eks_is_reached_through_a_provider_of_our_own() -> None:
    def program() -> None:
        made = eks.Cluster("theirs", version="1.35")
        _use(ClusterConnection.from_eks("ours", made, version="1.35", vpc_id="vpc-1", private_subnets=SUBNETS))

    recording = record(program)

    provider, probe = recording.one(PROVIDER), recording.named("probe")
    assert provider.name == "ours"
    assert provider["enableServerSideApply"] == "true"
    assert provider["kubeconfig"] is UNKNOWN
    assert probe.provider.startswith(provider.urn)
    assert recording.reaches(probe, recording.one("eks:index:Cluster"))


def test_a_cluster_of_pulumi_aws_is_identified_by_its_arn_so_that_a_new_kubeconfig_replaces_nothing() -> None:
    def program() -> None:
        made = aws.eks.Cluster(
            "theirs", role_arn="arn:aws:iam::123456789012:role/eks", vpc_config={"subnet_ids": ["subnet-1"]}
        )
        _use(ClusterConnection.from_aws("ours", made, version="1.35", vpc_id="vpc-1", private_subnets=SUBNETS))

    recording = record(program)

    made, provider, probe = recording.named("theirs"), recording.one(PROVIDER), recording.named("probe")
    assert provider["clusterIdentifier"] == probe["data"]["arn"]
    assert recording.reaches(provider, made)
    assert recording.reaches(probe, made)


def test_an_existing_cluster_is_found_by_its_name() -> None:
    recording = _looked_up("1.35", "1.35")

    provider = recording.one(PROVIDER)
    assert provider["clusterIdentifier"] == "arn:aws:eks:us-west-2:123456789012:cluster/prod"
    assert json.loads(provider["kubeconfig"])["users"][0]["user"]["exec"]["args"][1] == "us-west-2"
    assert recording.named("probe")["data"] == {
        "name": "prod",
        "arn": "arn:aws:eks:us-west-2:123456789012:cluster/prod",
        "endpoint": "https://prod.example",
        "ca": "Q0E=",
        "group": "sg-1",
        "vpc": "vpc-1",
    }


def test_an_existing_cluster_of_another_version_fails_in_one_sentence() -> None:
    with pytest.raises(pulumi.RunError) as failed:
        _looked_up("1.34", "1.35")

    assert str(failed.value) == (
        "cluster prod runs Kubernetes 1.34, but version 1.35 is stated; state the version that the cluster runs, "
        "because add-ons and images are chosen by it"
    )


def test_a_name_may_be_an_output() -> None:
    def program() -> None:
        name = pulumi.Output.from_input("prod")
        _use(ClusterConnection.lookup("kubernetes", name, version="1.35", private_subnets=SUBNETS))

    recording = record(program, answers={GET_CLUSTER: lambda args: {**_answer("1.35"), "endpoint": args["name"]}})

    assert recording.named("probe")["data"]["endpoint"] == "prod"


@pytest.mark.parametrize("form", ["one", "list", "mapping"])
def test_a_look_up_asks_the_aws_provider_it_is_given(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[pulumi.ProviderResource | None] = []
    real = aws.eks.get_cluster_output

    def spy(name: pulumi.Input[str], opts: pulumi.InvokeOutputOptions) -> pulumi.Output[aws.eks.GetClusterResult]:
        asked.append(opts.provider)
        return real(name=name, opts=opts)

    def program() -> None:
        account = aws.Provider("other-account", region="us-west-2")
        opts = {
            "one": pulumi.ResourceOptions(provider=account),
            "list": pulumi.ResourceOptions(providers=[account]),
            "mapping": pulumi.ResourceOptions(providers={"aws": account}),
        }[form]
        ClusterConnection.lookup("kubernetes", "prod", version="1.35", private_subnets=SUBNETS, opts=opts)
        assert asked == [account]

    monkeypatch.setattr(aws.eks, "get_cluster_output", spy)
    record(program)


def test_what_is_added_to_ready_is_waited_for_as_well() -> None:
    def program() -> None:
        first, second = k8s.core.v1.ConfigMap("first"), k8s.core.v1.ConfigMap("second")
        _use(cluster(ready=(first,)).after(second))

    recording = record(program)

    assert recording.reaches(recording.named("probe"), recording.named("first"))
    assert recording.reaches(recording.named("probe"), recording.named("second"))
