"""Kubernetes quantities: ``100Gi``, ``500m``, ``1e3``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

GIB: Final = 2**30
_KIB: Final = 2**10
"""Bytes of a gibibyte."""

_QUANTITY: Final = re.compile(r"([+-]?(?:\d{1,25}\.?\d{0,25}|\.\d{1,25}))(?:([eE][+-]?\d{1,2})|([numkKMGTPE]i?))?")
"""Digits are bounded: no amount anyone means is longer, and an exponent of millions would take for ever."""

_KEPT: Final = 16384
"""How many quantities are remembered: the same few are asked again and again."""

_SUFFIXES: Final[Mapping[str, Fraction]] = MappingProxyType(
    {
        "n": Fraction(1, 10**9),
        "u": Fraction(1, 10**6),
        "m": Fraction(1, 1000),
        **{letter: Fraction(10 ** (3 * power)) for power, letter in enumerate("kMGTPE", start=1)},
        **{f"{letter}i": Fraction(2 ** (10 * power)) for power, letter in enumerate("KMGTPE", start=1)},
    }
)


@lru_cache(_KEPT, typed=True)
def quantity(value: str | float) -> Fraction | None:
    """Return a quantity in its base unit (bytes, cores, pieces), exactly; None when ``value`` is not one.

    >>> quantity("500m"), quantity("1Gi")
    (Fraction(1, 2), Fraction(1073741824, 1))
    """
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    amount = Fraction(number + (exponent or ""))
    if suffix is None:
        return amount
    unit = _SUFFIXES.get(suffix)
    return None if unit is None else amount * unit


def gib(amount: Fraction | float) -> str:
    """Return bytes as people read them: ``17 GiB``, ``1.5 GiB``; an amount without a unit is a few ``bytes``."""
    if 0 < amount < _KIB:
        return f"{float(amount):g} bytes"
    return f"{float(amount) / GIB:.3g} GiB"
