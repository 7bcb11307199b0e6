"""What Karpenter's controller may do in AWS, as pure policy documents.

Source: aws/karpenter-provider-aws website/content/en/v1.14/getting-started/getting-started-with-karpenter/
cloudformation.yaml, checked 2026-11-21. Everything it creates is bound to tags of its cluster, so that two clusters in
one account cannot touch each other's nodes. Left out are its rights to make instance profiles, because node classes
name one of ours, and to ask for zonal shifts, which it does only when told to. Version 1.15 adds
``ec2:RebootInstances`` to the deletions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.foundation.policy_document import allow, document

_BOUGHT_BY_NODE_POOL: Final = {f"aws:RequestTag/{labels.KARPENTER_NODEPOOL}": "*"}
_OWNED_BY_NODE_POOL: Final = {f"aws:ResourceTag/{labels.KARPENTER_NODEPOOL}": "*"}
_READ_IN_EC2: Final = (
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
)
_USED_BY_INSTANCES: Final = ("capacity-reservation", "placement-group", "security-group", "subnet")
_MADE_WITH_INSTANCES: Final = (
    "fleet",
    "instance",
    "launch-template",
    "network-interface",
    "spot-instances-request",
    "volume",
)
_LAUNCH: Final = ("ec2:CreateFleet", "ec2:RunInstances")


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the controller's rights are bound to. All plain: lift it once from the Outputs."""

    cluster_name: str
    cluster_arn: str
    """It also names the partition, the region and the account."""
    node_role_arn: str
    queue_arn: str

    @property
    def partition(self) -> str:
        """The AWS partition: ``aws``."""
        return self.cluster_arn.split(":")[1]

    @property
    def region(self) -> str:
        """The region: ``us-east-1``."""
        return self.cluster_arn.split(":")[3]

    @property
    def account(self) -> str:
        """The account's number."""
        return self.cluster_arn.split(":")[4]

    def ec2(self, kind: str, account: str = "*") -> str:
        """Return the ARN pattern of the EC2 resources of a kind; Amazon's own images have no account."""
        return f"arn:{self.partition}:ec2:{self.region}:{account}:{kind}/*"

    @property
    def instance_profiles(self) -> str:
        """The ARN pattern of the account's instance profiles."""
        return f"arn:{self.partition}:iam::{self.account}:instance-profile/*"

    @property
    def owned(self) -> Mapping[str, str]:
        """The condition that a resource belongs to the cluster."""
        return {f"aws:ResourceTag/{labels.CLUSTER_TAG_PREFIX}/{self.cluster_name}": "owned"}

    @property
    def requested(self) -> Mapping[str, str]:
        """The condition that a resource is made for the cluster."""
        return {
            f"aws:RequestTag/{labels.CLUSTER_TAG_PREFIX}/{self.cluster_name}": "owned",
            f"aws:RequestTag/{labels.EKS_CLUSTER_TAG}": self.cluster_name,
        }


def node_lifecycle(scope: Scope) -> dict[str, object]:
    """Return the policy to buy, tag and give back instances, with what comes with them."""
    made = [scope.ec2(kind) for kind in _MADE_WITH_INSTANCES]
    return document(
        allow(
            "UseForInstances",
            _LAUNCH,
            [
                scope.ec2("image", account=""),
                scope.ec2("snapshot", account=""),
                *(scope.ec2(kind) for kind in _USED_BY_INSTANCES),
            ],
        ),
        allow(
            "UseOwnLaunchTemplates",
            _LAUNCH,
            [scope.ec2("launch-template")],
            condition={"StringEquals": scope.owned, "StringLike": _OWNED_BY_NODE_POOL},
        ),
        allow(
            "MakeInstances",
            ["ec2:CreateLaunchTemplate", *_LAUNCH],
            made,
            condition={"StringEquals": scope.requested, "StringLike": _BOUGHT_BY_NODE_POOL},
        ),
        allow(
            "TagWhatIsMade",
            ["ec2:CreateTags"],
            made,
            condition={
                "StringEquals": {
                    **scope.requested,
                    "ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"],
                },
                "StringLike": _BOUGHT_BY_NODE_POOL,
            },
        ),
        allow(
            "TagOwnInstances",
            ["ec2:CreateTags"],
            [scope.ec2("instance")],
            condition={
                "StringEquals": scope.owned,
                "StringLike": _OWNED_BY_NODE_POOL,
                "StringEqualsIfExists": {f"aws:RequestTag/{labels.EKS_CLUSTER_TAG}": scope.cluster_name},
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": [labels.EKS_CLUSTER_TAG, labels.KARPENTER_NODECLAIM, "Name"]
                },
            },
        ),
        allow(
            "GiveBackOwnInstances",
            ["ec2:DeleteLaunchTemplate", "ec2:TerminateInstances"],
            [scope.ec2("instance"), scope.ec2("launch-template")],
            condition={"StringEquals": scope.owned, "StringLike": _OWNED_BY_NODE_POOL},
        ),
    )


def node_role(scope: Scope) -> dict[str, object]:
    """Return the policy to start instances as the node role, and as no other."""
    return document(
        allow(
            "PassTheNodeRole",
            ["iam:PassRole"],
            [scope.node_role_arn],
            condition={"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}},
        )
    )


def interruptions(scope: Scope) -> dict[str, object]:
    """Return the policy to read the interruption queue."""
    actions = ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]
    return document(allow("ReadInterruptions", actions, [scope.queue_arn]))


def discovery(scope: Scope) -> dict[str, object]:
    """Return the policy to look up the cluster, images, prices and what is there.

    The descriptions and prices are on ``*`` because these calls know no resource; they read only. Instance profiles are
    read when a node class goes: Karpenter looks for some of its own making.
    """
    return document(
        allow("ReadTheCluster", ["eks:DescribeCluster"], [scope.cluster_arn]),
        allow(
            "ReadInTheRegion",
            _READ_IN_EC2,
            ["*"],
            condition={"StringEquals": {"aws:RequestedRegion": scope.region}},
        ),
        allow(
            "ReadPublishedImages",
            ["ssm:GetParameter"],
            [f"arn:{scope.partition}:ssm:{scope.region}::parameter/aws/service/*"],
        ),
        allow("ReadPrices", ["pricing:GetProducts"], ["*"]),
        allow("ListInstanceProfiles", ["iam:ListInstanceProfiles"], ["*"]),
        allow("ReadInstanceProfiles", ["iam:GetInstanceProfile"], [scope.instance_profiles]),
    )


POLICIES: Final = {
    "node-lifecycle": node_lifecycle,
    "node-role": node_role,
    "interruptions": interruptions,
    "discovery": discovery,
}
"""The controller's policies by a key that names them; together they stay below the 10,240 characters of a role."""
