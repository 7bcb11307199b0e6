"""The base of every block of settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Block(BaseModel):
    """A block of the stack file: closed, frozen, documented by its own docstrings.

    A field's docstring is its description in the JSON Schema and in the reference. Lists are written as tuples,
    because a frozen block with a list inside is not frozen. Nothing is converted in silence: ``"2"`` is no
    number, ``1`` is no ``true``. Dates are strings that hold an ISO date, so that the engine cannot rewrite them.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        validate_default=True,
        # Error messages quote values themselves, and never one that may be a secret.
        hide_input_in_errors=True,
        # Every union in the settings is discriminated, so a name may start with model_ (model_cache).
        protected_namespaces=(),
    )
