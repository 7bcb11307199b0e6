"""IAM policy documents as AWS resources take them."""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

from sandbox.providers.wire import Properties, contains_unknown

_VERSION: Final = "2012-10-17"
# How the statement of `getIamPolicyDocument` names what IAM's JSON names.
_LISTS: Final = {
    "actions": "Action",
    "notActions": "NotAction",
    "resources": "Resource",
    "notResources": "NotResource",
}
_PRINCIPALS: Final = {"principals": "Principal", "notPrincipals": "NotPrincipal"}
_DOCUMENTS: Final = ("policy", "assumeRolePolicy", "inlinePolicy", "accessPolicy", "redrivePolicy")


def as_text(inputs: Properties) -> Properties:
    """Return `inputs` with policy documents that came as objects turned into JSON text, as the real provider does."""
    return {
        key: json.dumps(value)
        if key in _DOCUMENTS and isinstance(value, dict) and not contains_unknown(value)
        else value
        for key, value in inputs.items()
    }


def render(arguments: Properties) -> Properties:
    """Answer `getIamPolicyDocument`: the arguments with the document they describe, as indented and as compact JSON."""
    document: Properties = {"Version": arguments.get("version", _VERSION)}
    if arguments.get("policyId"):
        document["Id"] = arguments["policyId"]
    statements: list[Any] = []
    for text in arguments.get("sourcePolicyDocuments", ()):
        statements.extend(json.loads(text).get("Statement", ()))
    statements.extend(_statement(statement) for statement in arguments.get("statements", ()))
    for text in arguments.get("overridePolicyDocuments", ()):
        statements = _overridden(statements, json.loads(text).get("Statement", ()))
    document["Statement"] = statements
    compact = json.dumps(document, separators=(",", ":"))
    return {
        **arguments,
        "id": str(zlib.crc32(compact.encode())),
        "json": json.dumps(document, indent=2),
        "minifiedJson": compact,
    }


def _statement(given: Properties) -> Properties:
    statement: Properties = {"Sid": given["sid"]} if given.get("sid") else {}
    statement["Effect"] = given.get("effect", "Allow")
    for name, key in _LISTS.items():
        if given.get(name):
            statement[key] = _one_or_many(given[name])
    for name, key in _PRINCIPALS.items():
        if given.get(name):
            statement[key] = _principals(given[name])
    conditions: Properties = {}
    for condition in given.get("conditions", ()):
        conditions.setdefault(condition["test"], {})[condition["variable"]] = _one_or_many(condition["values"])
    if conditions:
        statement["Condition"] = conditions
    return statement


def _principals(given: list[Properties]) -> object:
    if [(each["type"], each["identifiers"]) for each in given] == [("*", ["*"])]:
        return "*"
    return {each["type"]: _one_or_many(each["identifiers"]) for each in given}


def _one_or_many(values: list[str]) -> object:
    return values[0] if len(values) == 1 else values


def _overridden(statements: list[Any], overriding: list[Any]) -> list[Any]:
    sids = {statement.get("Sid") for statement in overriding if statement.get("Sid")}
    return [each for each in statements if each.get("Sid") not in sids] + list(overriding)
