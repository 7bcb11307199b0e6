"""IAM policy documents as plain data: what they say is decided in pure functions, Pulumi only turns them into text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pulumi

_LANGUAGE_VERSION: Final = "2012-10-17"
"""Version of the policy language (IAM user guide, "IAM JSON policy elements: Version", checked 2026-11-21)."""


def document(*statements: Mapping[str, object]) -> dict[str, object]:
    """Return a policy document of ``statements``; see :func:`allow` and :func:`deny`."""
    return {"Version": _LANGUAGE_VERSION, "Statement": [dict(statement) for statement in statements]}


def allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[pulumi.Input[str]],
    *,
    condition: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return a statement that allows ``actions`` on ``resources``.

    ``sid`` says what it is for, in letters and digits. Values may be Outputs: turn the document into text with
    ``pulumi.Output.json_dumps``. A wildcard action is refused, so that a policy says what it grants.
    """
    return _statement("Allow", sid, _spelt_out(sid, actions), resources, condition)


def deny(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[pulumi.Input[str]],
    *,
    condition: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return a statement that denies ``actions`` on ``resources``; wildcards are welcome here."""
    return _statement("Deny", sid, actions, resources, condition)


def trust(
    service: str,
    actions: Sequence[str] = ("sts:AssumeRole",),
    *,
    condition: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Return the trust policy of a role that the AWS service ``service`` (``ec2.amazonaws.com``) may assume."""
    statement: dict[str, object] = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    if condition is not None:
        statement["Condition"] = dict(condition)
    return document(statement)


def _spelt_out(sid: str, actions: Sequence[str]) -> Sequence[str]:
    wild = [action for action in actions if "*" in action]
    if wild:
        raise ValueError(f"statement {sid} allows {', '.join(wild)}; spell out the actions that are needed")
    return actions


def _statement(
    effect: str,
    sid: str,
    actions: Sequence[str],
    resources: Sequence[pulumi.Input[str]],
    condition: Mapping[str, object] | None,
) -> dict[str, object]:
    statement: dict[str, object] = {
        "Sid": sid,
        "Effect": effect,
        "Action": list(actions),
        "Resource": list(resources),
    }
    if condition is not None:
        statement["Condition"] = dict(condition)
    return statement
