from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eks_gpu.facts.network import partition_of, region_of
from eks_gpu.settings.network import ExistingNetwork, Nat, Network, NewNetwork

ADAPTER: TypeAdapter[Network] = TypeAdapter(Network)
ZONES = ["us-east-1a", "us-east-1b"]
SUBNETS = {"us-east-1a": "subnet-0123456a", "us-east-1b": "subnet-0123456b"}


def _problems(block: object) -> dict[str, str]:
    """Return the messages by the field that they are about."""
    with pytest.raises(ValidationError) as refused:
        ADAPTER.validate_python(block)
    return {
        str(error["loc"][-1] if error["loc"] else ""): error["msg"].removeprefix("Value error, ")
        for error in refused.value.errors()
    }


def test_a_new_network_needs_zones_only() -> None:
    network = ADAPTER.validate_python({"zones": ZONES})
    assert network == NewNetwork(cidr="10.0.0.0/16", zones=tuple(ZONES), nat=Nat.SINGLE)


def test_the_key_existing_tells_the_two_apart() -> None:
    network = ADAPTER.validate_python({"existing": {"vpc_id": "vpc-01234567", "private_subnets": SUBNETS}})
    assert isinstance(network, ExistingNetwork)
    assert network.existing.private_subnets == SUBNETS


def test_a_network_is_new_or_existing_but_not_both() -> None:
    both = {"existing": {"vpc_id": "vpc-01234567", "private_subnets": SUBNETS}, "zones": ZONES}
    assert _problems(both) == {"zones": "Extra inputs are not permitted"}


def test_mistakes_are_told_together() -> None:
    assert set(_problems({"zones": ["us-east-1a"], "cidr": "10.0.0.0/8", "nat": "two"})) == {"zones", "cidr", "nat"}


@pytest.mark.parametrize(
    ("cidr", "message"),
    [
        ("10.0.0.0/24", "10.0.0.0/24 is a /24, but a VPC here is /16 to /20"),
        ("10.0.0.0/8", "10.0.0.0/8 is a /8, but a VPC here is /16 to /20"),
        ("8.8.0.0/16", "8.8.0.0/16 is not private; choose addresses from 10.0.0.0/8"),
        ("10.0.0.1/16", "'10.0.0.1/16' is no IPv4 network (10.0.0.1/16 has host bits set)"),
        ("everything", "'everything' is no IPv4 network"),
    ],
)
def test_a_range_that_cannot_be_a_vpc_is_refused_with_the_reason(cidr: str, message: str) -> None:
    assert message in _problems({"zones": ZONES, "cidr": cidr})["cidr"]


@pytest.mark.parametrize("cidr", ["10.40.0.0/16", "172.16.0.0/18", "192.168.0.0/16", "100.64.0.0/20"])
def test_private_ranges_are_taken(cidr: str) -> None:
    network = ADAPTER.validate_python({"zones": ZONES, "cidr": cidr})
    assert isinstance(network, NewNetwork)


@pytest.mark.parametrize(
    ("zones", "message"),
    [
        (["us-east-1a"], "us-east-1a is one zone, but EKS needs subnets in two; add another zone"),
        (
            ["us-east-1a", "us-west-2a"],
            "us-east-1a, us-west-2a are in the regions us-east-1, us-west-2; a cluster is in one region",
        ),
        (["us-east-1a", "us-east-1a"], "us-east-1a, us-east-1a names a zone twice; name each zone once"),
        (["us-east-1", "us-east-1b"], "'us-east-1' is no availability zone; write a name such as 'us-east-1a'"),
        (["us-west-2-lax-1a", "us-west-2a"], "'us-west-2-lax-1a' is no availability zone"),
    ],
)
def test_zones_are_two_different_ones_of_one_region(zones: list[str], message: str) -> None:
    assert message in _problems({"zones": zones})["zones"]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"vpc_id": "my-vpc"}, "vpc_id", "'my-vpc' is no VPC id; write one such as vpc-"),
        (
            {"private_subnets": {**SUBNETS, "us-east-1b": "sn-1"}},
            "private_subnets",
            "us-east-1b: 'sn-1' is no subnet id",
        ),
        (
            {"private_subnets": dict.fromkeys(SUBNETS, "subnet-0123456a")},
            "private_subnets",
            "the same subnet is given for two zones",
        ),
        ({"private_subnets": {"use1-az1": "subnet-0123456a"}}, "private_subnets", "'use1-az1' is no availability zone"),
    ],
)
def test_ids_that_cannot_exist_are_refused(change: dict[str, object], field: str, message: str) -> None:
    block = {"existing": {"vpc_id": "vpc-01234567", "private_subnets": SUBNETS, **change}}
    assert message in _problems(block)[field]


@pytest.mark.parametrize("zone", ["us-east-1f", "eu-central-1a", "us-gov-west-1b", "ap-southeast-2c"])
def test_a_zones_name_begins_with_its_region(zone: str) -> None:
    assert region_of(zone) == zone[:-1]


@pytest.mark.parametrize(
    ("region", "partition"), [("us-east-1", "aws"), ("cn-northwest-1", "aws-cn"), ("us-gov-east-1", "aws-us-gov")]
)
def test_a_region_is_in_one_partition(region: str, partition: str) -> None:
    assert partition_of(region) == partition


def test_endpoints_are_not_guessed_where_their_names_are_not_known() -> None:
    zones = ["cn-north-1a", "cn-north-1b"]

    (message,) = _problems({"zones": zones, "nat": "none"}).values()
    assert "whose names in cn-north-1 differ by service" in message
    assert isinstance(ADAPTER.validate_python({"zones": zones, "nat": "per-zone"}), NewNetwork)
