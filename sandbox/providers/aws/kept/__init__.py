"""The AWS resources that are kept in moto, by type; everything else is kept in Pulumi's state alone."""

from __future__ import annotations

from functools import cache

from sandbox.providers.aws.kept.keeper import Kept, Made

_KEEPERS: dict[str, Kept] = {}


@cache
def keepers() -> dict[str, Kept]:
    """Return the keeper of every type that moto knows."""
    return _KEEPERS


def kept(token: str) -> Kept | None:
    """Return what keeps resources of the type `token` in moto, or None."""
    return keepers().get(token)


__all__ = ["Kept", "Made", "keepers", "kept"]
