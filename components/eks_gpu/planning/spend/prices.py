"""The prices that spend is reckoned with, each list with the day it is of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import prices
from eks_gpu.facts.instances import InstanceType

_HISTORY: Final = "SpotPriceHistory"
_LINUX: Final = "Linux/UNIX"
"""What the history calls Linux, in both of its spellings: the other adds the network of long ago."""


class SpotHistoryError(ValueError):
    """Measured spot prices cannot be read: one sentence."""


@dataclass(frozen=True, slots=True)
class SpotPrices:
    """Spot prices of one time and place."""

    usd_per_hour: Mapping[str, float]
    """Instance type to US dollars an hour; a type that is missing has no known price."""
    as_of: str
    """The day of the newest of them, or the month where the day is not known."""
    source: str
    """For readers: whose figures they are."""


LISTED_SPOT: Final = SpotPrices(prices.SPOT, prices.SPOT_AS_OF, f"one moment in {prices.REGION}, of AWS's price page")


@dataclass(frozen=True, slots=True)
class Prices:
    """Everything that spend is reckoned with."""

    spot: SpotPrices = LISTED_SPOT
    on_demand_as_of: str = prices.ON_DEMAND_AS_OF
    on_demand_source: str = f"list prices of {prices.REGION}"

    def on_spot(self, instance: InstanceType) -> float | None:
        """Return what one instance of the type costs on spot; None where that is not known."""
        return self.spot.usd_per_hour.get(instance.name)


def read_spot_history(content: object) -> SpotPrices:
    """Read what ``aws ec2 describe-spot-price-history`` prints.

    The price of a type is the mean over its zones, of each zone's newest price. Windows and others are left out.

    Raises:
        SpotHistoryError: it is something else, or holds no price of Linux.

    """
    entries = content.get(_HISTORY) if isinstance(content, Mapping) else None
    if not isinstance(entries, list):
        raise SpotHistoryError(
            f"has no list {_HISTORY}; write it with: aws ec2 describe-spot-price-history --output json"
        )
    newest = _Newest()
    for number, entry in enumerate(entries):
        newest.take(entry, number)
    if not newest.prices:
        raise SpotHistoryError(f"has no price of {_LINUX} in its {len(entries)} entries")
    return SpotPrices(MappingProxyType(newest.by_type()), newest.day, "measured")


@dataclass
class _Newest:
    """The newest price of each type in each zone."""

    prices: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)

    def take(self, entry: object, number: int) -> None:
        """Look at one entry of the history."""
        if not isinstance(entry, Mapping):
            raise SpotHistoryError(f"{_HISTORY}[{number}] is no mapping")
        if not str(entry.get("ProductDescription", _LINUX)).startswith(_LINUX):
            return
        fields = [entry.get(key) for key in ("InstanceType", "AvailabilityZone", "Timestamp")]
        price = _amount(entry.get("SpotPrice"))
        if price is None or not all(isinstance(value, str) for value in fields):
            raise SpotHistoryError(
                f"{_HISTORY}[{number}] lacks InstanceType, AvailabilityZone, Timestamp or a SpotPrice that is a number"
            )
        name, zone, time = (str(value) for value in fields)
        seen = self.prices.get((name, zone))
        if seen is None or time > seen[0]:
            self.prices[name, zone] = (time, price)

    def by_type(self) -> dict[str, float]:
        """Return the mean over the zones of each type."""
        found: dict[str, list[float]] = {}
        for (name, _zone), (_time, price) in self.prices.items():
            found.setdefault(name, []).append(price)
        return {name: _mean(amounts) for name, amounts in sorted(found.items())}

    @property
    def day(self) -> str:
        """The day of the newest price."""
        return max(time for time, _price in self.prices.values())[: len("2026-11-21")]


def _mean(amounts: Iterable[float]) -> float:
    known = list(amounts)
    return math.fsum(known) / len(known)


def _amount(value: object) -> float | None:
    try:
        amount = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
