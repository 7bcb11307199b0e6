"""The network that a cluster is put into, whoever built it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, kw_only=True)
class NetworkConnection:
    """The network that a cluster is put into, whoever built it."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""

    private_subnets: Mapping[str, pulumi.Input[str]]
    """Id of one private subnet per zone, by the zone's name."""

    isolated: bool = False
    """Whether there is no way to the internet: then services without an endpoint, IAM and pricing among them, are out
    of reach."""

    ready: tuple[pulumi.Resource, ...] = ()
    """What nodes must wait for: without routes and endpoints they boot, reach nothing and never join."""
