"""Admission policies by an interpreter of CEL, for tests that have no API server.

Kubernetes' own functions are added, as far as our policies call them. Types are not checked: that is the server's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel

from eks_gpu.planning.quantity import quantity
from eks_gpu_policies.admission.said import Said


class _Quantity:
    """A Kubernetes quantity within an expression."""

    def __init__(self, text: str) -> None:
        amount = quantity(text)
        assert amount is not None, text
        self.amount: Fraction = amount


def _compare(left: _Quantity, right: _Quantity) -> celtypes.IntType:
    return celtypes.IntType((left.amount > right.amount) - (left.amount < right.amount))


def _substring(text: str, start: int, end: int | None = None) -> celtypes.StringType:
    return celtypes.StringType(str(text)[int(start) : None if end is None else int(end)])


def _found(text: str, pattern: str) -> celtypes.ListType:
    return celtypes.ListType([celtypes.StringType(item) for item in re.findall(str(pattern), str(text))])


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "quantity": lambda text: _Quantity(str(text)),
    "compareTo": _compare,
    "isLessThan": lambda left, right: celtypes.BoolType(left.amount < right.amount),
    "lowerAscii": lambda text: celtypes.StringType(str(text).lower()),
    "indexOf": lambda text, part: celtypes.IntType(str(text).find(str(part))),
    "lastIndexOf": lambda text, part: celtypes.IntType(str(text).rfind(str(part))),
    "substring": _substring,
    "replace": lambda text, old, new: celtypes.StringType(str(text).replace(str(old), str(new))),
    "findAll": _found,
    "join": lambda parts, between: celtypes.StringType(str(between).join(str(part) for part in parts)),
}


class Policy:
    """An admission policy that can be asked about an object."""

    def __init__(self, said: Said) -> None:
        """Compile its expressions."""
        self._environment = celpy.Environment(runner_class=celpy.InterpretedRunner)
        self._conditions = [self._program(expression) for _, expression in said.conditions]
        self._variables = [(name, self._program(expression)) for name, expression in said.variables]
        self._expression = self._program(said.expression)
        self._message = self._program(said.message)

    def _program(self, expression: str) -> Any:  # noqa: ANN401 - the library's own
        return self._environment.program(self._environment.compile(expression), functions=dict(FUNCTIONS))

    def refusal(self, manifest: Mapping[str, Any]) -> str | None:
        """Return what it has against the creation of an object; None if it lets it in."""
        known: dict[str, Any] = {
            "object": json_to_cel(dict(manifest)),
            "oldObject": json_to_cel({"spec": {}}),
            "request": json_to_cel({"operation": "CREATE"}),
            "variables": celtypes.MapType(),
        }
        if not all(condition.evaluate(known) for condition in self._conditions):
            return None
        for name, program in self._variables:
            known["variables"][celtypes.StringType(name)] = program.evaluate(known)
        if self._expression.evaluate(known):
            return None
        return str(self._message.evaluate(known))
