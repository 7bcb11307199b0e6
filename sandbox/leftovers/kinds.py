"""The kinds of AWS resources that bear tags: how an ARN names one, and what deletes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

GLOBAL: Final = "global"
"""Stands where others have their region."""


def _last(name: str, _arn: str) -> str:
    return name.rpartition("/")[2]


def _whole(name: str, _arn: str) -> str:
    return name


def _arn(_name: str, arn: str) -> str:
    return arn


def _node_group(name: str, _arn: str) -> str:
    cluster, group, *_ = name.split("/")
    return f"{cluster}:{group}"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of resource."""

    word: str
    """What people, and the inventory, call one of them."""
    token: str
    """The type that the stand-in provider makes and deletes it as; empty if it makes none."""
    id_of: Callable[[str, str], str] = _last
    """The provider's id of one, from the name in its ARN and the whole ARN."""


_EC2: Final[Mapping[str, Kind]] = {
    "vpce": Kind("VPC endpoint", "aws:ec2/vpcEndpoint:VpcEndpoint"),
    "nat": Kind("NAT gateway", "aws:ec2/natGateway:NatGateway"),
    "lt": Kind("launch template", "aws:ec2/launchTemplate:LaunchTemplate"),
    "sg": Kind("security group", "aws:ec2/securityGroup:SecurityGroup"),
    "eipalloc": Kind("elastic IP", "aws:ec2/eip:Eip"),
    "rtb": Kind("route table", "aws:ec2/routeTable:RouteTable"),
    "subnet": Kind("subnet", "aws:ec2/subnet:Subnet"),
    "igw": Kind("internet gateway", "aws:ec2/internetGateway:InternetGateway"),
    "vpc": Kind("VPC", "aws:ec2/vpc:Vpc"),
}
"""EC2's kinds by the prefix of their ids: its operations do not agree on names (``natgateway``, ``nat-gateway``)."""

_OTHERS: Final[Mapping[tuple[str, str], Kind]] = {
    ("eks", "nodegroup"): Kind("node group", "aws:eks/nodeGroup:NodeGroup", _node_group),
    ("eks", "cluster"): Kind("EKS cluster", "aws:eks/cluster:Cluster"),
    ("events", "rule"): Kind("EventBridge rule", "aws:cloudwatch/eventRule:EventRule"),
    ("sqs", ""): Kind("queue", "aws:sqs/queue:Queue"),
    ("logs", "log-group"): Kind("log group", "aws:cloudwatch/logGroup:LogGroup", _whole),
    ("elasticfilesystem", "access-point"): Kind("access point", "aws:efs/accessPoint:AccessPoint"),
    ("elasticfilesystem", "file-system"): Kind("file system", "aws:efs/fileSystem:FileSystem"),
    ("iam", "instance-profile"): Kind("instance profile", "aws:iam/instanceProfile:InstanceProfile"),
    ("iam", "role"): Kind("role", "aws:iam/role:Role"),
    ("iam", "policy"): Kind("policy", "aws:iam/policy:Policy", _arn),
    ("iam", "oidc-provider"): Kind("OIDC provider", "aws:iam/openIdConnectProvider:OpenIdConnectProvider", _arn),
    ("kms", "key"): Kind("KMS key", "aws:kms/key:Key"),
}

_BEFORE_NETWORKS: Final = ("nodegroup", "cluster", "access-point", "file-system")
KINDS: Final = (
    *(kind for (_, name), kind in _OTHERS.items() if name in _BEFORE_NETWORKS),
    *_EC2.values(),
    *(kind for (_, name), kind in _OTHERS.items() if name not in _BEFORE_NETWORKS),
)
"""Every kind that can be removed, what uses others before what is used."""

_RESOURCE: Final = re.compile(r"(?:(?P<kind>[a-z-]+)[/:])?(?P<name>.+)")


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something in AWS that no stack's state holds."""

    region: str
    """Where it lies; `GLOBAL` if it lies in no region."""
    kind: Kind
    id: str
    """The id that the provider would keep it under."""
    arn: str

    def __str__(self) -> str:
        """Say where it is and what, as the inventory does."""
        return f"{self.region} {self.kind.word} {self.id}"


def by_arn(arn: str) -> Leftover:
    """Return what an ARN names; of a kind that nothing here deletes, its service's own words for it."""
    _, _, service, region, _, resource = arn.split(":", 5)
    found = _RESOURCE.fullmatch(resource)
    type_, name = (found["kind"] or "", found["name"]) if found is not None else ("", resource)
    kind = _EC2.get(_prefix(name)) if service == "ec2" else _OTHERS.get((service, type_))
    kind = kind or Kind(f"{service} {type_}".strip(), "")
    return Leftover(region or GLOBAL, kind, kind.id_of(name, arn), arn)


def _prefix(id_: str) -> str:
    return id_.rpartition("-")[0]
