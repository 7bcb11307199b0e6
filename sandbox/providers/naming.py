"""Physical names, made as Pulumi's own providers make them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum


class NamingMode(Enum):
    """What the project's `pulumi:autonaming` asks of a provider."""

    PROPOSE = 0
    ENFORCE = 1
    DISABLE = 2


@dataclass(frozen=True, slots=True)
class NameRequest:
    """All a physical name is made of: the resource's name, the engine's seed, and what the project proposes."""

    resource: str
    seed: bytes
    mode: NamingMode = NamingMode.PROPOSE
    proposed: str = ""


def physical_name(request: NameRequest, *, digits: int, longest: int = 0) -> str | None:
    """Return the resource's name, a hyphen and `digits` random hexadecimal digits; None if the project forbids names.

    The digits follow from the engine's seed, so that a preview and the update after it agree. `longest` is the most
    characters the service takes (0: no limit); a longer name raises ValueError, as the real provider refuses it.
    """
    if request.mode is NamingMode.DISABLE:
        return None
    if request.proposed:
        return request.proposed
    digest = hashlib.sha256(request.seed + request.resource.encode()).hexdigest()
    name = f"{request.resource}-{digest[:digits]}"
    if longest and len(name) > longest:
        raise ValueError(
            f'name "{request.resource}" plus {digits + 1} characters is longer than the {longest} the service takes;'
            " give the resource a shorter name, or a physical name"
        )
    return name
