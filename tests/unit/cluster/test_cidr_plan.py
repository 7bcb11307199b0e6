from __future__ import annotations

import ipaddress
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.cluster.cidr_plan import plan
from eks_gpu.facts.network import LARGEST_VPC_PREFIX, SMALLEST_VPC_PREFIX, ZONE_LETTERS

ALL_ZONES = tuple(f"us-east-1{letter}" for letter in ZONE_LETTERS)
SMALLEST_AWS_SUBNET_PREFIX = 28


@st.composite
def vpcs(draw: st.DrawFn) -> ipaddress.IPv4Network:
    """Draw a VPC inside 10.0.0.0/8 of an allowed size."""
    prefix = draw(st.integers(LARGEST_VPC_PREFIX, SMALLEST_VPC_PREFIX))
    place = draw(st.integers(0, 2 ** (prefix - 8) - 1))
    return ipaddress.IPv4Network((int(ipaddress.IPv4Address("10.0.0.0")) + place * 2 ** (32 - prefix), prefix))


zone_lists = st.lists(st.sampled_from(ALL_ZONES), min_size=1, unique=True)


def _ranges(cidr: str, zones: list[str]) -> list[ipaddress.IPv4Network]:
    ranges = plan(cidr, zones).values()
    return [ipaddress.IPv4Network(text) for zone in ranges for text in (zone.private, zone.public)]


@given(vpcs(), zone_lists)
def test_no_two_subnets_overlap(vpc: ipaddress.IPv4Network, zones: list[str]) -> None:
    assert not any(one.overlaps(other) for one, other in combinations(_ranges(str(vpc), zones), 2))


@given(vpcs(), zone_lists)
def test_every_subnet_is_inside_the_vpc_and_one_that_aws_allows(vpc: ipaddress.IPv4Network, zones: list[str]) -> None:
    ranges = _ranges(str(vpc), zones)
    assert all(subnet.subnet_of(vpc) for subnet in ranges)
    assert all(subnet.prefixlen <= SMALLEST_AWS_SUBNET_PREFIX for subnet in ranges)


@given(vpcs(), zone_lists, st.sampled_from(ALL_ZONES))
def test_adding_a_zone_or_reordering_them_moves_no_other(
    vpc: ipaddress.IPv4Network, zones: list[str], added: str
) -> None:
    before = plan(str(vpc), zones)
    after = plan(str(vpc), [added, *(zone for zone in reversed(zones) if zone != added)])
    assert {zone: after[zone] for zone in before} == before


def test_a_large_vpc_gives_each_zone_thousands_of_pod_addresses() -> None:
    ranges = plan("10.40.0.0/16", ["eu-west-1c", "eu-west-1a"])

    assert list(ranges) == ["eu-west-1c", "eu-west-1a"]
    assert (ranges["eu-west-1a"].private, ranges["eu-west-1a"].public) == ("10.40.0.0/19", "10.40.224.0/22")
    assert (ranges["eu-west-1c"].private, ranges["eu-west-1c"].public) == ("10.40.64.0/19", "10.40.232.0/22")
