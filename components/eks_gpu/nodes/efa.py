"""Elastic Fabric Adapters: the network interfaces of a node, and the security group that they need.

Builds
    SecurityGroup  of the adapters
    SecurityGroupIngressRule, SecurityGroupEgressRule
                   all traffic from and to the group itself
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from eks_gpu.facts.efa import EFA_ONLY, INTERFACE
from eks_gpu.facts.instances import InstanceType
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component

CLUSTER_STRATEGY: Final = "cluster"
"""Placement strategy that packs instances close together, for low latency between them."""

_ALL: Final = "-1"
"""Every protocol, in a rule of a security group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """One network interface of a node, as EC2 attaches it."""

    card: int
    device: int
    kind: str
    """``interface`` or ``efa-only``."""

    def karpenter(self) -> dict[str, object]:
        """Return the interface as an EC2NodeClass lists it."""
        return {"networkCardIndex": self.card, "deviceIndex": self.device, "interfaceType": self.kind}


def efa_interfaces(kind: InstanceType) -> tuple[NetworkInterface, ...]:
    """Return one interface for IP traffic on the first card and one adapter on each card of an instance type.

    Secondary interfaces have device index 1 (EC2 user guide, "Maximize network bandwidth on accelerated instances";
    the same in Karpenter 1.14.1, pkg/providers/launchtemplate, checked 2026-11-21). ``efa-only`` takes no IP address.
    """
    first = NetworkInterface(card=0, device=0, kind=INTERFACE)
    adapters = (NetworkInterface(card=card, device=1, kind=EFA_ONLY) for card in range(kind.efa_interfaces))
    return (first, *adapters)


class EfaSecurityGroup(Component):
    """The security group of adapters that talk to each other: all traffic, in and out, within the group alone.

    EFA traffic is let through only by a rule that names the group itself; ``0.0.0.0/0`` does not count (EC2 user guide,
    "Get started with EFA", step 1, checked 2026-11-21). It comes beside the cluster's own group, never instead of it.
    """

    security_group_id: pulumi.Output[str]
    """Id of the group."""

    ready: tuple[pulumi.Resource, ...]
    """What nodes must wait for: without its rules the group lets nothing through."""

    def __init__(self, name: str, cluster: ClusterConnection, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the group in the VPC of ``cluster``, then its two rules."""
        super().__init__(name, opts)
        group = aws.ec2.SecurityGroup(
            self.child_name("security-group"),
            description="Elastic Fabric Adapters of GPU nodes",
            vpc_id=cluster.vpc_id,
            opts=self.child_opts(),
        )
        self.security_group_id = group.id
        self.ready = (
            aws.vpc.SecurityGroupIngressRule(
                self.child_name("from-itself"),
                security_group_id=group.id,
                referenced_security_group_id=group.id,
                ip_protocol=_ALL,
                opts=self.child_opts(),
            ),
            aws.vpc.SecurityGroupEgressRule(
                self.child_name("to-itself"),
                security_group_id=group.id,
                referenced_security_group_id=group.id,
                ip_protocol=_ALL,
                opts=self.child_opts(),
            ),
        )
        self.register_outputs({"security_group_id": self.security_group_id})
