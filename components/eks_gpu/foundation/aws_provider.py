"""The AWS provider of a stack: one region, and tags on everything it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi_aws as aws

from eks_gpu.facts import tags as tag_keys


def stack_tags(*, stack: str, environment: str, owner: str) -> dict[str, str]:
    """Return the tags that every AWS resource of a stack carries."""
    return {tag_keys.STACK: stack, "environment": environment, "owner": owner}


def tagged_provider(
    name: str, *, region: str, tags: Mapping[str, str], allowed_accounts: Sequence[str] = ()
) -> aws.Provider:
    """Return the provider of a stack, which refuses every account but the ``allowed_accounts`` if there are any.

    Tags are set by the provider and not by components, so that none can be forgotten, and so that a library user's
    components carry the tags of the user's own provider.
    """
    return aws.Provider(
        name, region=region, default_tags={"tags": dict(tags)}, allowed_account_ids=list(allowed_accounts) or None
    )
