"""A user's values over a chart's own, as Helm joins them."""

from __future__ import annotations

from collections.abc import Mapping

from eks_gpu.planning.unknown import UNKNOWN


def joined(defaults: object, given: object, *, nulls: bool = True) -> object:
    """Return ``given`` over ``defaults``: maps merge, everything else replaces, and null takes the default away.

    With ``nulls=False`` nulls are not there at all, as where ``helm.v3.Release`` is not told ``allowNullValues``.
    Whatever is not known hides the default beneath it. Neither argument is changed.
    """
    if given is UNKNOWN or not isinstance(given, Mapping):
        return given
    if not isinstance(defaults, Mapping):
        return {key: joined(None, value, nulls=nulls) for key, value in given.items() if nulls or value is not None}
    result = dict(defaults)
    for key, value in given.items():
        if value is not None:
            result[key] = joined(defaults.get(key), value, nulls=nulls)
        elif nulls:
            result.pop(key, None)
    return result
