"""The base of every block of settings."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

_NOT_CONVERTED: Final = frozenset({"int", "float", "bool"})


def _refuse_conversions(schema: Any) -> None:  # noqa: ANN401 - a core schema nests anything
    """Make every number and truth value in a core schema strict."""
    if isinstance(schema, dict):
        if schema.get("type") in _NOT_CONVERTED:
            schema["strict"] = True
        for part in schema.values():
            _refuse_conversions(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _refuse_conversions(part)


class Block(BaseModel):
    """A block of the stack file: closed, frozen, documented by its own docstrings.

    A field's docstring is its description in the JSON Schema and in the reference (see ``documentation``). Lists are
    written as tuples, because a frozen block with a list inside is not frozen. Nothing is converted in silence: ``"2"``
    is no number, ``1`` is no ``true``. Dates are strings that hold an ISO date, so that the engine cannot rewrite them.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        # The report of problems shows values itself, and never one that may be a secret.
        hide_input_in_errors=True,
        # The settings have keys such as model_cache, which pydantic would warn about.
        protected_namespaces=(),
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        """Make numbers and truth values strict, and leave lists and enumerations to be read from YAML's types."""
        schema = handler(source)
        _refuse_conversions(schema)
        return schema
