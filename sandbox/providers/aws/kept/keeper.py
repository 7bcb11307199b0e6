"""What keeps one type of resource in moto."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api


@dataclass(frozen=True, slots=True)
class Made:
    """A resource just made: its id and the outputs that the API gave."""

    id: str
    outputs: Properties = field(default_factory=dict)


def _unchanged(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Change nothing in moto: the types that use this have only inputs that replace or that moto cannot change."""
    del api, existing, old, new
    return {}


@dataclass(frozen=True, slots=True)
class Kept:
    """How to create, read, delete and update one type. Inputs hold the provider's default tags among their tags.

    `read` returns the outputs that the API knows, or None if the resource is gone; `delete` takes a missing one as
    deleted; `update` returns the outputs that changed.
    """

    create: Callable[[Api, Properties], Made]
    read: Callable[[Api, Stored], Properties | None]
    delete: Callable[[Api, Stored], None]
    update: Callable[[Api, Stored, Properties, Properties], Properties] = _unchanged
