"""The account that moto plays, and the ARNs in it."""

from __future__ import annotations

from typing import Final

ACCOUNT_ID: Final = "123456789012"
"""moto's default account (moto.core.DEFAULT_ACCOUNT_ID, moto 5.2.5)."""


def partition(region: str) -> str:
    """Return the partition that `region` lies in."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def arn(service: str, resource: str, region: str, *, regional: bool = True) -> str:
    """Return the ARN of `resource` (`role/name`) in the account."""
    place = region if regional else ""
    return f"arn:{partition(region)}:{service}:{place}:{ACCOUNT_ID}:{resource}"
