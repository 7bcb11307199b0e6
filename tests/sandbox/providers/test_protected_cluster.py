"""A control plane whose deletion protection is on is not deleted, as with EKS."""

from __future__ import annotations

import json

import pytest

from sandbox.providers.aws.provider import Aws
from sandbox.providers.naming import NameRequest
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import Properties

CLUSTER = "aws:eks/cluster:Cluster"
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


def make(aws: Aws, token: str, inputs: Properties) -> Stored:
    checked = aws.check(token, {}, inputs, NameRequest("name", b"seed"))
    assert checked.failures == []
    return aws.create(token, checked.inputs)


def test_a_protected_cluster_goes_only_after_its_protection_was_switched_off(aws: Aws) -> None:
    vpc = make(aws, "aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}).id
    subnets = [
        make(aws, "aws:ec2/subnet:Subnet", {"vpcId": vpc, "cidrBlock": block, "availabilityZone": zone}).id
        for block, zone in (("10.0.0.0/24", "us-east-1a"), ("10.0.1.0/24", "us-east-1b"))
    ]
    role = make(aws, "aws:iam/role:Role", {"assumeRolePolicy": TRUST}).state["arn"]
    inputs = {"name": "prod", "roleArn": role, "vpcConfig": {"subnetIds": subnets}, "deletionProtection": True}
    protected = make(aws, CLUSTER, inputs)
    try:
        with pytest.raises(StandInError, match="refuses to delete the cluster prod, whose deletion protection is on"):
            aws.delete(CLUSTER, protected)
        assert aws.read(CLUSTER, protected) is not None
    finally:
        open_now = {**inputs, "deletionProtection": False}
        aws.delete(CLUSTER, Stored(protected.id, aws.update(CLUSTER, protected, inputs, open_now)))

    assert aws.read(CLUSTER, protected) is None
