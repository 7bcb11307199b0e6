"""The ``network`` block: a VPC of our own, or one that exists."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from eks_gpu.facts import network
from eks_gpu.settings.block import Block
from eks_gpu.settings.log_retention import RetentionDays

EXISTING: Final = "existing"
"""The key that says that something is there already, in the ``network`` and ``cluster`` blocks alike."""

PRIVATE_RANGES: Final = tuple(
    ipaddress.IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
"""RFC 1918 and, since pods may have them too, the carrier-grade range of RFC 6598."""

_VPC_ID: Final = re.compile(r"vpc-[0-9a-f]{8,17}")
_SUBNET_ID: Final = re.compile(r"subnet-[0-9a-f]{8,17}")


class Nat(StrEnum):
    """How private subnets reach the internet."""

    NONE = "none"
    """Not at all: AWS is reached through endpoints, images and charts must come from mirrors inside."""

    SINGLE = "single"
    """Through one gateway for all zones: cheapest, and all zones lose the internet with the gateway's zone."""

    PER_ZONE = "per-zone"
    """Through a gateway in each zone: no traffic between zones, and a zone's failure stays its own."""


class FlowLogs(Block):
    """Records of which connections the VPC accepted and refused, for whoever investigates an incident."""

    retention_days: RetentionDays = 30
    """How long they are kept, in days. A month, because they are many and mostly read within days."""


class NewNetwork(Block):
    """A VPC with a private subnet per zone, and public ones where there is a way to the internet."""

    cidr: str = "10.0.0.0/16"
    """Addresses of the VPC, /16 to /20, from the private ranges. Pods take addresses of it. Changing it replaces the
    network and everything in it; give one that overlaps with nothing it will ever be connected to."""

    zones: tuple[str, ...] = Field(min_length=1)
    """Availability zones, at least two, such as ``us-east-1a``. The first two are the control plane's as well, which
    keeps them for life, so add further ones at the end. A zone's subnets have their place by its letter, so adding or
    removing one moves no other; system nodes are replaced, the new ones first. Which zones sell which GPUs differs, so
    there is no default."""

    nat: Nat = Nat.SINGLE
    """How private subnets reach the internet. A single gateway by default; production takes ``per-zone``."""

    flow_logs: FlowLogs | None = None
    """Records of connections; none when left out, because each gigabyte of them costs."""

    @field_validator("cidr")
    @classmethod
    def _is_a_private_range(cls, text: str) -> str:
        block = _ipv4_network(text)
        largest, smallest = network.LARGEST_VPC_PREFIX, network.SMALLEST_VPC_PREFIX
        if not largest <= block.prefixlen <= smallest:
            raise ValueError(
                f"{text} is a /{block.prefixlen}, but a VPC here is /{largest} to /{smallest}, because every pod takes "
                f"an address of it; write for example {block.network_address}/{largest}"
            )
        if not any(block.subnet_of(private) for private in PRIVATE_RANGES):
            ranges = ", ".join(str(private) for private in PRIVATE_RANGES)
            raise ValueError(f"{text} is not private; choose addresses from {ranges}")
        return text

    @field_validator("zones")
    @classmethod
    def _are_zones_of_one_region(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        check_zones(zones)
        return zones

    @model_validator(mode="after")
    def _has_endpoints_that_are_known(self) -> Self:
        region = network.region_of(self.zones[0])
        if self.nat is Nat.NONE and network.partition_of(region) in network.ENDPOINT_NAMES_UNKNOWN:
            raise ValueError(
                f"nat none needs interface endpoints, whose names in {region} differ by service and are not known "
                "here; use nat single or per-zone, or an existing network that has them"
            )
        return self


class ExistingVpc(Block):
    """The ids of a VPC that exists."""

    vpc_id: str
    """Id of the VPC: ``vpc-`` and 8 to 17 hexadecimal digits."""

    private_subnets: Mapping[str, str]
    """Id of one private subnet for each zone to use, by the zone's name. Nodes and mount targets go there; the control
    plane of a new cluster takes the first two by name, for life."""

    isolated: bool = False
    """Whether those subnets have no way to the internet, so that Karpenter does not wait for services of AWS that it
    cannot reach, IAM and pricing. The endpoints of the others must be there."""

    @field_validator("vpc_id")
    @classmethod
    def _is_a_vpc_id(cls, text: str) -> str:
        if not _VPC_ID.fullmatch(text):
            raise ValueError(f"{text!r} is no VPC id; write one such as vpc-0a1b2c3d4e5f67890")
        return text

    @field_validator("private_subnets")
    @classmethod
    def _are_subnets_by_zone(cls, subnets: Mapping[str, str]) -> Mapping[str, str]:
        check_zones(subnets)
        wrong = {zone: subnet for zone, subnet in subnets.items() if not _SUBNET_ID.fullmatch(subnet)}
        if wrong:
            given = ", ".join(f"{zone}: {subnet!r}" for zone, subnet in wrong.items())
            raise ValueError(f"{given} is no subnet id; write one such as subnet-0a1b2c3d4e5f67890")
        if len(set(subnets.values())) < len(subnets):
            raise ValueError("the same subnet is given for two zones; a subnet is in one zone only")
        return subnets


class ExistingNetwork(Block):
    """A VPC that exists; nothing is made or changed in it, so its subnets need their tags and routes already."""

    existing: ExistingVpc
    """Which one."""


def kind_of(block: object) -> str:
    """Return which of two variants a raw block is: ``existing`` if it has that key, else ``new``."""
    if isinstance(block, Mapping):
        return EXISTING if EXISTING in block else "new"
    return EXISTING if hasattr(block, EXISTING) else "new"


Network = Annotated[
    Annotated[NewNetwork, Tag("new")] | Annotated[ExistingNetwork, Tag(EXISTING)],
    Discriminator(kind_of),
]
"""The ``network`` block: exactly one of the two, told apart by the key ``existing``."""


def check_zones(zones: Iterable[str]) -> None:
    """Raise ``ValueError`` unless ``zones`` are at least two different availability zones of one region."""
    names = tuple(zones)
    regions = {network.region_of(zone) for zone in names}
    if len(regions) > 1:
        raise ValueError(
            f"{', '.join(names)} are in the regions {', '.join(sorted(regions))}; a cluster is in one region"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"{', '.join(names)} names a zone twice; name each zone once")
    if len(names) < network.CONTROL_PLANE_ZONES:
        raise ValueError(f"{', '.join(names)} is one zone, but EKS needs subnets in two; add another zone")


def _ipv4_network(text: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no IPv4 network ({error}); write one such as 10.0.0.0/16") from error
