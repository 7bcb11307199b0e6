from __future__ import annotations

import json

import pytest

from eks_gpu.foundation.aws_provider import stack_tags, tagged_provider
from eks_gpu.recording import RecordedResource, record


def _provider(*allowed_accounts: str) -> RecordedResource:
    tags = stack_tags(stack="prod", environment="prod", owner="ml-platform")

    return record(lambda: tagged_provider("aws", region="eu-west-1", tags=tags, allowed_accounts=allowed_accounts)).one(
        "pulumi:providers:aws"
    )


def test_everything_that_the_provider_makes_carries_the_stacks_tags() -> None:
    assert json.loads(_provider()["defaultTags"])["tags"] == {
        "eks-gpu:stack": "prod",
        "environment": "prod",
        "owner": "ml-platform",
    }


@pytest.mark.parametrize(("accounts", "allowed"), [((), None), (("123456789012",), '["123456789012"]')])
def test_only_accounts_that_are_allowed_are_deployed_to(accounts: tuple[str, ...], allowed: str | None) -> None:
    assert _provider(*accounts).inputs.get("allowedAccountIds") == allowed
