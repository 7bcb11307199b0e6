"""Reading what a run is told, from plain mappings, with every mistake in words."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from eks_gpu_policies.options import Quotas
from eks_gpu_policies.waivers import Waiver, WaiverError, parse_waivers

T = TypeVar("T")

PLATFORM_KEY: Final = "eks-gpu:platform"
"""The stack configuration key under which the stack files of this project say everything."""


class ConfigurationError(ValueError):
    """The run cannot be configured, so nothing can be judged."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Carry one sentence for each mistake."""
        super().__init__("; ".join(problems))
        self.problems = problems


class Reading:
    """Reads plain mappings and remembers every mistake."""

    def __init__(self) -> None:
        """Begin without a mistake."""
        self._problems: list[str] = []

    def refuse(self) -> None:
        """Raise if there was any mistake."""
        if self._problems:
            raise ConfigurationError(tuple(self._problems))

    def known(self, given: Mapping[str, object], names: Collection[str], otherwise: str) -> None:
        """Remember every name that does not exist: what it says would have no effect, and nobody would know."""
        for name in sorted(given.keys() - set(names)):
            self._problems.append(f"{name} {otherwise} ({_meant(name, names)})")

    def platform(self, text: str | None) -> Mapping[str, Any]:
        """Return the stack's own settings; whatever is wrong with them beyond YAML is their loader's business."""
        if text is None:
            return {}
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, Mapping):
            return value
        self._problems.append(f"{PLATFORM_KEY} is not a mapping; it holds the settings of a stack file")
        return {}

    def block(self, mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Return a mapping within a mapping, empty when there is none."""
        value = mapping.get(key)
        return value if isinstance(value, Mapping) else {}

    def choice(self, mapping: Mapping[str, Any], key: str, kind: type[T], path: str) -> T | None:
        """Return one of an enumeration's values."""
        value = mapping.get(key)
        if value is None:
            return None
        try:
            return kind(value)  # type: ignore[call-arg]  # an enumeration takes its value
        except ValueError:
            allowed = ", ".join(str(item) for item in kind)  # type: ignore[attr-defined]  # and iterates over members
            self._problems.append(f"{path} is {value!r}; it must be one of {allowed}")
            return None

    def amount(self, mapping: Mapping[str, Any], key: str, path: str, unit: str) -> float | None:
        """Return an amount above zero."""
        value = mapping.get(key)
        if value is None:
            return None
        if _is_number(value) and value > 0:
            return float(value)
        self._problems.append(f"{path} is {value!r}; it must be a number of {unit} above 0")
        return None

    def text(self, mapping: Mapping[str, Any], key: str) -> str | None:
        """Return a text that is not empty."""
        return self._typed(mapping, key, None, lambda value: isinstance(value, str) and bool(value.strip()), "a text")

    def texts(self, mapping: Mapping[str, Any], key: str) -> frozenset[str]:
        """Return a list of strings."""
        return frozenset(self._typed(mapping, key, (), _are_texts, "a list of texts"))

    def flag(self, mapping: Mapping[str, Any], key: str) -> bool:
        """Return a boolean, false when unset."""
        return self._typed(mapping, key, False, lambda value: isinstance(value, bool), "true or false")

    def _typed(
        self, mapping: Mapping[str, Any], key: str, default: T, fits: Callable[[object], bool], allowed: str
    ) -> T:
        value = mapping.get(key)
        if value is None:
            return default
        if not fits(value):
            self._problems.append(f"{key} is {value!r}; it must be {allowed}")
            return default
        return value  # type: ignore[no-any-return]  # `fits` has looked

    def quotas(self, mapping: Mapping[str, Any], key: str, path: str) -> Quotas | None:
        """Return recorded quotas: the day they were read, and vCPU by quota code."""
        value = mapping.get(key)
        if value is None:
            return None
        recorded, vcpus = (value.get("recorded"), value.get("vcpus")) if isinstance(value, Mapping) else (None, None)
        if isinstance(vcpus, Mapping) and all(_is_number(vcpu) and vcpu >= 0 for vcpu in vcpus.values()):
            try:
                return Quotas(dt.date.fromisoformat(str(recorded)), {str(code): float(n) for code, n in vcpus.items()})
            except ValueError:
                pass
        self._problems.append(
            f'{path} is {value!r}; it must be such as {{recorded: "2026-11-01", vcpus: {{L-DB2E81BA: 768}}}}'
        )
        return None

    def waivers(self, value: object, path: str) -> tuple[Waiver, ...]:
        """Return waivers, with their own mistakes among the others."""
        try:
            return parse_waivers(value, path)
        except WaiverError as error:
            self._problems.extend(error.problems)
            return ()


def _meant(name: str, names: Collection[str]) -> str:
    # Only who has mistyped pays for it.
    import difflib  # noqa: PLC0415

    lowered = {one.lower(): one for one in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=1)
    return f"did you mean {lowered[close[0]]}?" if close else f"there are {', '.join(names)}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
