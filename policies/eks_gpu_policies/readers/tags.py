"""Tags by which an EC2NodeClass selects subnets, security groups and reservations."""

from __future__ import annotations

from collections.abc import Mapping

_ANY = "*"


def selected_by_tags(own: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Return whether something with the tags ``own`` has every tag of a selector term; ``*`` is any value."""
    return all(key in own and value in {_ANY, own[key]} for key, value in wanted.items())
