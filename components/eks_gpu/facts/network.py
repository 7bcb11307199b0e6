"""Names by which the parts of a VPC find each other: zones, regions, subnet tags, endpoint services."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

SOURCE = (
    "EKS user guide: network requirements, private clusters (PrivateLink endpoints), Pod Identity; EKS best practices: "
    "subnet tagging; kubernetes-sigs/aws-load-balancer-controller docs: subnet discovery; Karpenter docs 1.14: "
    "subnetSelectorTerms, private clusters (no endpoint exists for the pricing API)"
)
CHECKED = "2026-11-21"

ZONE = re.compile(r"(?P<region>[a-z]{2}(?:-[a-z]+)+-\d)(?P<letter>[a-g])")
"""Name of an availability zone: the region and a letter. Local and wavelength zones have longer names; EKS control
planes and file systems cannot be there."""

ZONE_LETTERS = "abcdefg"
"""Letters that zones can have. The longest list so far, us-east-1, ends at ``f``."""

TAG_INTERNAL_LOAD_BALANCER: Mapping[str, str] = MappingProxyType({"kubernetes.io/role/internal-elb": "1"})
"""Marks subnets that internal load balancers are put into."""

TAG_PUBLIC_LOAD_BALANCER: Mapping[str, str] = MappingProxyType({"kubernetes.io/role/elb": "1"})
"""Marks subnets that internet-facing load balancers are put into."""

S3_SERVICE = "s3"
"""Images in ECR and model files are in S3; a gateway endpoint costs nothing and keeps them off the NAT gateway."""

PRIVATE_SERVICES: tuple[str, ...] = (
    "ec2",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "logs",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
)
"""AWS services that nodes, add-ons, Pod Identity (eks-auth), Karpenter (sqs, ssm) and shells on nodes (ssmmessages)
call: a VPC without a way to the internet needs an interface endpoint for each. IAM and pricing have none in the
regions."""

ENDPOINT_NAMES_UNKNOWN: frozenset[str] = frozenset({"aws-cn"})
"""Partitions where some services' interface endpoints have another prefix (``cn.com.amazonaws``) and some have not, by
service and region (aws/aws-cdk PR 16139, checked 2026-11-21); which of ours have is not established here."""

CONTROL_PLANE_ZONES = 2
"""Zones that a control plane needs subnets in, and that it keeps: subnets may be added later only in the zones that it
was made with (EKS user guide, "VPC and subnet requirements"; aws/containers-roadmap issue 2330). Nodes may be in any
zone."""

SMALLEST_VPC_PREFIX = 20
LARGEST_VPC_PREFIX = 16
"""AWS allows /16 to /28. Pods take addresses of the VPC, so a network smaller than /20 (509 addresses a zone) is
refused: two large nodes would fill it."""


def region_of(zone: str) -> str:
    """Return the region that an availability zone is in; raise ``ValueError`` if ``zone`` is no zone's name."""
    match = ZONE.fullmatch(zone)
    if match is None:
        raise ValueError(f"{zone!r} is no availability zone; write a name such as 'us-east-1a'")
    return match["region"]


def partition_of(region: str) -> str:
    """Return the AWS partition of a region: the second field of every ARN in it."""
    if region.startswith("cn-"):
        return "aws-cn"
    if region.startswith("us-gov-"):
        return "aws-us-gov"
    return "aws"


def service_name(region: str, service: str) -> str:
    """Return the name by which a VPC endpoint asks for a service of AWS in a region.

    In China it holds for the S3 gateway; see ``ENDPOINT_NAMES_UNKNOWN``.
    """
    return f"com.amazonaws.{region}.{service}"
