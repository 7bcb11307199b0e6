"""Which addresses of a VPC each zone's subnets get.

The plan depends on the VPC's range and on the letter of the zone, not on which other zones there are, so adding or
removing a zone moves no subnet. The range is cut into eighths: seven are private subnets, one for each letter that a
zone can have, and the last is cut into eighths again for the public subnets, which hold gateways and load balancers
only. A /16 gives 8187 addresses to the pods and nodes of a zone and 1019 to its public subnet.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from eks_gpu.facts.network import ZONE_LETTERS

_EIGHTHS: Final = 3
"""Bits by which a prefix grows when its range is cut into eighths."""


@dataclass(frozen=True, slots=True)
class ZoneRanges:
    """The addresses of one zone, in CIDR notation."""

    private: str
    public: str


def plan(cidr: str, zones: Iterable[str]) -> Mapping[str, ZoneRanges]:
    """Return the ranges of each of ``zones`` in the VPC ``cidr``, in the order given."""
    *private, last = ipaddress.IPv4Network(cidr).subnets(prefixlen_diff=_EIGHTHS)
    public = tuple(islice(last.subnets(prefixlen_diff=_EIGHTHS), len(ZONE_LETTERS)))
    places = {zone: ZONE_LETTERS.index(zone[-1]) for zone in zones}
    return {zone: ZoneRanges(private=str(private[place]), public=str(public[place])) for zone, place in places.items()}
