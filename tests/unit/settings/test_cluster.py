from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eks_gpu.facts.versions import KUBERNETES_VERSIONS
from eks_gpu.settings.cluster import Cluster, ExistingCluster, NewCluster

ADAPTER: TypeAdapter[Cluster] = TypeAdapter(Cluster)


def _problem(block: object) -> str:
    with pytest.raises(ValidationError) as refused:
        ADAPTER.validate_python(block)
    (error,) = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def _public(*cidrs: str) -> dict[str, object]:
    return {"version": "1.35", "endpoint_access": {"public_cidrs": list(cidrs)}}


def test_a_new_cluster_is_private_and_keeps_its_logs_for_90_days() -> None:
    cluster = ADAPTER.validate_python({"version": "1.35"})
    assert isinstance(cluster, NewCluster)
    assert cluster.endpoint_access.public_cidrs == ()
    assert cluster.log_retention_days == 90


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_every_version_with_known_add_ons_may_be_asked_for(version: str) -> None:
    assert isinstance(ADAPTER.validate_python({"version": version}), NewCluster)


def test_the_key_existing_tells_the_two_apart() -> None:
    cluster = ADAPTER.validate_python({"existing": {"name": "theirs", "version": "1.34"}})
    assert isinstance(cluster, ExistingCluster)
    assert cluster.existing.name == "theirs"


@pytest.mark.parametrize("block", [{"version": "1.29"}, {"existing": {"name": "theirs", "version": "1.29"}}])
def test_an_unknown_version_is_refused_with_those_that_are_known(block: dict[str, object]) -> None:
    assert _problem(block) == (
        "'1.29' is no Kubernetes version that this release builds for; choose one of 1.33, 1.34, 1.35, 1.36, in quotes"
    )


def test_a_version_that_yaml_read_as_a_number_is_refused() -> None:
    assert "string" in _problem({"version": 1.35})


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "64.0.0.0/2"])
def test_the_whole_internet_is_refused_in_one_piece_or_several(cidr: str) -> None:
    assert "internet; list the ranges that deployers and operators come from" in _problem(_public(cidr))


@pytest.mark.parametrize(
    ("cidr", "message"),
    [
        ("10.0.0.0/16", "10.0.0.0/16 is private, but only public addresses reach a public endpoint; leave it out"),
        ("203.0.113.7/24", "'203.0.113.7/24' is no IPv4 network"),
        ("office", "'office' is no IPv4 network"),
    ],
)
def test_a_range_that_opens_nothing_is_refused(cidr: str, message: str) -> None:
    assert message in _problem(_public(cidr))


def test_an_offices_range_is_taken() -> None:
    cluster = ADAPTER.validate_python(_public("203.0.113.0/24", "198.51.100.7/32"))
    assert isinstance(cluster, NewCluster)


def test_a_retention_that_cloudwatch_has_not_is_refused_with_those_it_has() -> None:
    assert _problem({"version": "1.35", "log_retention_days": 100}).startswith(
        "100 is no retention of CloudWatch Logs; choose one of 1, 3, 5, 7, 14, 30,"
    )


@pytest.mark.parametrize("name", ["", "-a", "a b", "x" * 101])
def test_an_impossible_name_is_refused(name: str) -> None:
    assert "is no cluster name" in _problem({"existing": {"name": name, "version": "1.35"}})


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:iam::123456789012:role/platform",
        "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_Admin_0a1b2c",
        "arn:aws-us-gov:iam::123456789012:user/break.glass@example",
    ],
)
def test_roles_and_users_may_administer(arn: str) -> None:
    cluster = ADAPTER.validate_python({"version": "1.35", "administrators": {"platform": arn}})
    assert isinstance(cluster, NewCluster)
    assert cluster.administrators == {"platform": arn}


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("platform", "is no ARN of an IAM role or user; write one such as arn:aws:iam::123456789012:role/platform"),
        ("arn:aws:iam::123456789012:root", "is no ARN of an IAM role or user"),
        ("arn:aws:iam::123456789012:role/*", "is no ARN of an IAM role or user"),
        ("arn:aws:sts::123456789012:assumed-role/platform/ana", "is one session of a role; give the role itself"),
    ],
)
def test_what_cannot_have_an_access_entry_is_refused(arn: str, message: str) -> None:
    assert message in _problem({"version": "1.35", "administrators": {"platform": arn}})
