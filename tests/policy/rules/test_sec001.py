"""SEC001: nodes require IMDSv2."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, not_concerned, passes, unknown

OPTIONAL = {"httpTokens": "optional"}


def test_required_tokens_pass() -> None:
    assert passes(judge("SEC001", examples.launch_template()))
    assert passes(judge("SEC001", examples.node_class(metadataOptions={"httpTokens": "required"})))


@pytest.mark.parametrize(
    "resource",
    [examples.launch_template(metadataOptions=OPTIONAL), examples.node_class(metadataOptions=OPTIONAL)],
    ids=["launch template", "node class"],
)
def test_optional_tokens_fail(resource: Resource) -> None:
    assert "without a token" in complaint(judge("SEC001", resource))


def test_a_metadata_service_that_is_off_needs_no_token() -> None:
    assert passes(judge("SEC001", examples.launch_template(metadataOptions={"httpEndpoint": "disabled"})))


def test_karpenters_default_is_required() -> None:
    assert passes(judge("SEC001", examples.node_class()))
    assert passes(judge("SEC001", examples.node_class(metadataOptions={"httpPutResponseHopLimit": 2})))


def test_a_launch_template_that_says_nothing_is_judged_by_its_image() -> None:
    template = examples.launch_template(metadataOptions=None)
    assert passes(judge("SEC001", template, examples.node_group(template)))
    old = judge("SEC001", template, examples.node_group(template, amiType="AL2_x86_64_GPU"))
    assert complaint(old) == "does not set httpTokens, and AL2 images do not demand a token"


def test_a_launch_template_of_several_groups_is_judged_by_each_image_that_is_known() -> None:
    template = examples.launch_template(metadataOptions=None)
    unclear = unknown(examples.node_group(template, "unclear"), "amiType")
    assert left_open(judge("SEC001", template, unclear)) == ["metadataOptions.httpTokens"]
    sound = examples.node_group(template, "sound")
    old = examples.node_group(template, "old", amiType="AL2_x86_64_GPU")
    older = examples.node_group(template, "older", amiType="AL2_x86_64")
    report = judge("SEC001", template, unclear, sound, old, older)
    assert complaint(report) == "does not set httpTokens, and AL2 images do not demand a token"


def test_a_launch_template_that_nobody_uses_and_says_nothing_is_left_open() -> None:
    assert left_open(judge("SEC001", examples.launch_template(metadataOptions=None))) == ["metadataOptions.httpTokens"]


def test_unknown_tokens_are_left_open() -> None:
    template = unknown(examples.launch_template(), "metadataOptions.httpTokens")
    assert left_open(judge("SEC001", template)) == ["metadataOptions.httpTokens"]


def test_pools_alone_are_not_concerned() -> None:
    assert not_concerned(judge("SEC001", examples.node_group(), examples.node_pool()))


def test_ubuntu_does_not_demand_a_token_by_itself() -> None:
    image = "resolve:ssm:/aws/service/canonical/ubuntu/eks/24.04/1.34/stable/20260701/amd64/hvm/ebs-gp3/ami-id"
    template = examples.launch_template(metadataOptions=None, imageId=image)
    group = examples.node_group(template, amiType=None, releaseVersion=None)
    assert (
        complaint(judge("SEC001", template, group))
        == "does not set httpTokens, and Ubuntu images do not demand a token"
    )


def test_an_image_of_ones_own_may_demand_a_token_or_not() -> None:
    template = examples.launch_template(metadataOptions=None, imageId="ami-0123456789abcdef0")
    group = examples.node_group(template, amiType=None, releaseVersion=None)
    assert left_open(judge("SEC001", template, group)) == ["metadataOptions.httpTokens"]
