"""A schema for a chart's values, made of its defaults.

Helm itself holds values against a chart's ``values.schema.json``. A real chart seldom has one that is strict, so a
misspelt value is ignored there without a word. Here every value that is not among the stand-in's defaults is refused:
what our components set is thereby known to be there, and of the right kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DIALECT = "http://json-schema.org/draft-07/schema#"


def of(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a chart with these defaults.

    An empty map takes anything below it, a list any entries, a null any value, and a number or a text either: charts
    write ``25%`` and ``1`` alike. ``global`` is Helm's own.
    """
    top = _of(defaults)
    return {"$schema": _DIALECT, **top, "properties": {"global": {"type": "object"}, **top["properties"]}}


def _of(default: Any) -> dict[str, Any]:  # noqa: ANN401 - YAML may hold anything
    match default:
        case dict() if default:
            properties = {key: _of(value) for key, value in default.items()}
            return {"type": "object", "additionalProperties": False, "properties": properties}
        case dict():
            return {"type": "object"}
        case list():
            return {"type": "array"}
        case bool():
            return {"type": "boolean"}
        case str() | int() | float():
            return {"type": ["string", "number"]}
        case _:
            return {}
