"""Elastic Fabric Adapters: the kinds of network interface, and what lets their traffic through."""

from __future__ import annotations

SOURCE = (
    "EC2 API reference, LaunchTemplateInstanceNetworkInterfaceSpecificationRequest (InterfaceType); EC2 user guide, "
    '"Get started with EFA" step 1 (all traffic to and from the group itself) and "Maximize network bandwidth"; '
    "aws/karpenter-provider-aws v1.14.1 EC2NodeClass CRD (networkInterfaces)"
)
CHECKED = "2026-11-21"

INTERFACE = "interface"
"""An ordinary network interface. A launch template that names no kind means this one."""

EFA = "efa"
"""An adapter with an ordinary interface on it. Karpenter has no such kind."""

EFA_ONLY = "efa-only"
"""An adapter that takes no IP address, so that 32 of them take none from the subnet. It cannot be the primary one."""

ADAPTERS = frozenset({EFA, EFA_ONLY})
"""What counts as an adapter; a network card has room for one."""

EVERY_PROTOCOL = frozenset({"-1", "all"})
"""Spellings of every protocol in a rule of a security group."""
