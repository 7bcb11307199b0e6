from __future__ import annotations

import json

import pytest

from sandbox.providers.aws.provider import Aws
from sandbox.providers.stand_in import StandInError

ROLE = "arn:aws:iam::123456789012:role/cluster"


def test_region_account_and_partition_are_computed(aws: Aws) -> None:
    assert aws.invoke("aws:index/getRegion:getRegion", {})["region"] == "us-east-1"
    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity", {})["accountId"] == "123456789012"
    assert aws.invoke("aws:index/getPartition:getPartition", {})["dnsSuffix"] == "amazonaws.com"


def test_zones_come_from_moto_without_those_excluded(aws: Aws) -> None:
    found = aws.invoke(
        "aws:index/getAvailabilityZones:getAvailabilityZones",
        {"filters": [{"name": "state", "values": ["available"]}], "excludeNames": ["us-east-1b"]},
    )

    assert {"us-east-1a", "us-east-1c"} <= set(found["names"])
    assert "us-east-1b" not in found["names"]
    assert len(found["names"]) == len(found["zoneIds"])


def test_a_policy_document_is_rendered_as_iam_reads_it(aws: Aws) -> None:
    statement = {
        "sid": "Send",
        "actions": ["sqs:SendMessage"],
        "resources": ["arn:a", "arn:b"],
        "principals": [{"type": "Service", "identifiers": ["events.amazonaws.com"]}],
        "conditions": [{"test": "StringEquals", "variable": "aws:SourceAccount", "values": ["1"]}],
    }
    anyone = {"effect": "Deny", "notActions": ["s3:GetObject"], "principals": [{"type": "*", "identifiers": ["*"]}]}

    found = aws.invoke("aws:iam/getPolicyDocument:getPolicyDocument", {"statements": [statement, anyone]})

    assert json.loads(found["json"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Send",
                "Effect": "Allow",
                "Action": "sqs:SendMessage",
                "Resource": ["arn:a", "arn:b"],
                "Principal": {"Service": "events.amazonaws.com"},
                "Condition": {"StringEquals": {"aws:SourceAccount": "1"}},
            },
            {"Effect": "Deny", "NotAction": "s3:GetObject", "Principal": "*"},
        ],
    }
    assert json.loads(found["minifiedJson"]) == json.loads(found["json"])


def test_source_documents_come_first_and_overriding_ones_replace_by_their_sid(aws: Aws) -> None:
    source = json.dumps({"Statement": [{"Sid": "A", "Effect": "Allow"}, {"Sid": "B", "Effect": "Allow"}]})
    override = json.dumps({"Statement": [{"Sid": "A", "Effect": "Deny"}]})
    arguments = {"sourcePolicyDocuments": [source], "overridePolicyDocuments": [override]}

    found = aws.invoke("aws:iam/getPolicyDocument:getPolicyDocument", arguments)

    assert json.loads(found["json"])["Statement"] == [
        {"Sid": "B", "Effect": "Allow"},
        {"Sid": "A", "Effect": "Deny"},
    ]


def test_vpcs_and_subnets_are_looked_up_in_moto(aws: Aws) -> None:
    vpc = aws.create("aws:ec2/vpc:Vpc", {"cidrBlock": "10.9.0.0/16", "tags": {"Name": "net"}})
    inputs = {"vpcId": vpc.id, "cidrBlock": "10.9.1.0/24", "availabilityZone": "us-east-1a"}
    subnet = aws.create("aws:ec2/subnet:Subnet", inputs)

    found = aws.invoke("aws:ec2/getVpc:getVpc", {"tags": {"Name": "net"}})
    subnets = aws.invoke("aws:ec2/getSubnets:getSubnets", {"filters": [{"name": "vpc-id", "values": [vpc.id]}]})
    one = aws.invoke("aws:ec2/getSubnet:getSubnet", {"vpcId": vpc.id, "availabilityZone": "us-east-1a"})

    assert (found["id"], found["cidrBlock"]) == (vpc.id, "10.9.0.0/16")
    assert subnets["ids"] == [subnet.id]
    assert one["id"] == subnet.id
    with pytest.raises(StandInError, match="must match one VPC, and it matched 0"):
        aws.invoke("aws:ec2/getVpc:getVpc", {"cidrBlock": "192.168.0.0/16"})


def test_a_cluster_is_looked_up_with_its_security_group_and_vpc(aws: Aws) -> None:
    vpc = aws.create("aws:ec2/vpc:Vpc", {"cidrBlock": "10.9.0.0/16"})
    subnet = aws.create("aws:ec2/subnet:Subnet", {"vpcId": vpc.id, "cidrBlock": "10.9.1.0/24"})
    inputs = {"name": "gpu", "roleArn": ROLE, "version": "1.35", "vpcConfig": {"subnetIds": [subnet.id]}}
    cluster = aws.create("aws:eks/cluster:Cluster", inputs)

    found = aws.invoke("aws:eks/getCluster:getCluster", {"name": "gpu"})

    assert found["version"] == "1.35"
    assert found["certificateAuthorities"] == [cluster.state["certificateAuthority"]]
    assert found["vpcConfig"]["vpcId"] == vpc.id
    assert found["vpcConfig"]["clusterSecurityGroupId"] == cluster.state["vpcConfig"]["clusterSecurityGroupId"]
    assert found["vpcConfig"]["subnetIds"] == [subnet.id]


def test_a_parameter_is_read_from_moto(aws: Aws) -> None:
    name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"

    assert aws.invoke("aws:ssm/getParameter:getParameter", {"name": name})["value"].startswith("ami-")


def test_an_unknown_function_is_refused_by_its_name(aws: Aws) -> None:
    with pytest.raises(StandInError, match='no function "aws:ec2/getAmi:getAmi"; it has aws:ec2/getSubnet'):
        aws.invoke("aws:ec2/getAmi:getAmi", {})
