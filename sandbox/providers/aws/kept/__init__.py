"""The AWS resources that are kept in moto, by type; everything else is kept in Pulumi's state alone."""

from __future__ import annotations

from functools import cache

from sandbox.providers.aws.kept.keeper import Kept, Made


@cache
def keepers() -> dict[str, Kept]:
    """Return the keeper of every type that moto knows; a preview never asks, and so never imports them."""
    from sandbox.providers.aws.kept import (  # noqa: PLC0415 - see above
        control_plane,
        identity,
        keys,
        launch_templates,
        messaging,
        network,
        routing,
        security_groups,
        storage,
    )

    modules = (
        control_plane,
        identity,
        keys,
        launch_templates,
        messaging,
        network,
        routing,
        security_groups,
        storage,
    )
    return {token: keeper for module in modules for token, keeper in module.KEPT.items()}


def kept(token: str) -> Kept | None:
    """Return what keeps resources of the type `token` in moto, or None."""
    return keepers().get(token)


__all__ = ["Kept", "Made", "keepers", "kept"]
