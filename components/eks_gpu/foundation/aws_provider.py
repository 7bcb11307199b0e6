"""The AWS provider of a stack: one region, and tags on everything it makes."""

from __future__ import annotations

from typing import Final

import pulumi_aws as aws

STACK_TAG: Final = "eks-gpu:stack"
"""Tag key that names the stack a resource belongs to. What a crash left behind is found by it."""


def tagged_provider(name: str, *, region: str, stack: str, environment: str, owner: str) -> aws.Provider:
    """Return a provider that tags every resource with its stack, environment and owner.

    Tags are set by the provider and not by components, so that none can be forgotten and a library user's components
    carry the tags of the user's own provider.
    """
    tags = {STACK_TAG: stack, "environment": environment, "owner": owner}
    return aws.Provider(name, region=region, default_tags={"tags": tags})
