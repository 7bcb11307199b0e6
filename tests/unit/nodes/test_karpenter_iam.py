from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from eks_gpu.nodes import karpenter_iam
from eks_gpu.nodes.karpenter_iam import Scope

SCOPE = Scope(
    cluster_name="prod",
    cluster_arn="arn:aws:eks:us-east-1:123456789012:cluster/prod",
    node_role_arn="arn:aws:iam::123456789012:role/karpenter-node",
    queue_arn="arn:aws:sqs:us-east-1:123456789012:karpenter",
)
ROLE_POLICIES_QUOTA = 10_240


def _statements() -> Iterator[dict[str, Any]]:
    for policy in karpenter_iam.POLICIES.values():
        found: Any = policy(SCOPE)["Statement"]
        yield from found


def _statement(sid: str) -> dict[str, Any]:
    (found,) = [statement for statement in _statements() if statement["Sid"] == sid]
    return found


def test_the_actions_are_those_that_karpenter_1_14_needs_and_no_more() -> None:
    actions = {action for statement in _statements() for action in statement["Action"]}

    assert actions == {
        "ec2:CreateFleet",
        "ec2:CreateLaunchTemplate",
        "ec2:CreateTags",
        "ec2:DeleteLaunchTemplate",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceStatus",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "ec2:DescribeLaunchTemplates",
        "ec2:DescribePlacementGroups",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSpotPriceHistory",
        "ec2:DescribeSubnets",
        "ec2:RunInstances",
        "ec2:TerminateInstances",
        "eks:DescribeCluster",
        "iam:GetInstanceProfile",
        "iam:ListInstanceProfiles",
        "iam:PassRole",
        "pricing:GetProducts",
        "sqs:DeleteMessage",
        "sqs:GetQueueUrl",
        "sqs:ReceiveMessage",
        "ssm:GetParameter",
    }


def test_the_controller_writes_nothing_to_iam_so_that_it_cannot_hand_out_roles() -> None:
    iam = {action for statement in _statements() for action in statement["Action"] if action.startswith("iam:")}

    assert iam == {"iam:GetInstanceProfile", "iam:ListInstanceProfiles", "iam:PassRole"}


def test_only_reading_is_allowed_on_everything() -> None:
    unbound = {action for statement in _statements() if "*" in statement["Resource"] for action in statement["Action"]}

    assert all(action.split(":")[1].startswith(("Describe", "Get", "List")) for action in unbound)


@pytest.mark.parametrize("sid", ["UseOwnLaunchTemplates", "TagOwnInstances", "GiveBackOwnInstances"])
def test_what_exists_is_touched_only_if_the_cluster_owns_it(sid: str) -> None:
    condition = _statement(sid)["Condition"]

    assert condition["StringEquals"]["aws:ResourceTag/kubernetes.io/cluster/prod"] == "owned"
    assert condition["StringLike"] == {"aws:ResourceTag/karpenter.sh/nodepool": "*"}


def test_what_is_made_is_marked_as_the_cluster_s() -> None:
    condition = _statement("MakeInstances")["Condition"]

    assert condition["StringEquals"] == {
        "aws:RequestTag/kubernetes.io/cluster/prod": "owned",
        "aws:RequestTag/eks:eks-cluster-name": "prod",
    }


def test_only_the_node_role_is_passed_and_only_to_ec2() -> None:
    statement = _statement("PassTheNodeRole")

    assert statement["Resource"] == [SCOPE.node_role_arn]
    assert statement["Condition"]["StringEquals"]["iam:PassedToService"][0] == "ec2.amazonaws.com"


def test_the_policies_fit_a_role_even_with_the_longest_cluster_name() -> None:
    name = "n" * 100
    scope = Scope(
        cluster_name=name,
        cluster_arn=f"arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/{name}",
        node_role_arn=f"arn:aws-us-gov:iam::123456789012:role/{'r' * 64}",
        queue_arn=f"arn:aws-us-gov:sqs:us-gov-west-1:123456789012:{'q' * 80}",
    )
    size = sum(len(json.dumps(policy(scope), separators=(",", ":"))) for policy in karpenter_iam.POLICIES.values())

    assert size < ROLE_POLICIES_QUOTA


def test_other_partitions_keep_theirs() -> None:
    scope = Scope(
        cluster_name="prod",
        cluster_arn="arn:aws-cn:eks:cn-north-1:123456789012:cluster/prod",
        node_role_arn="arn:aws-cn:iam::123456789012:role/karpenter-node",
        queue_arn="arn:aws-cn:sqs:cn-north-1:123456789012:karpenter",
    )

    text = json.dumps([policy(scope) for policy in karpenter_iam.POLICIES.values()])

    assert "arn:aws:" not in text
