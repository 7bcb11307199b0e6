"""What the states of the stacks say of AWS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sandbox import stacks
from sandbox.checkout import Checkout
from sandbox.environment import REGION
from sandbox.leftovers.kinds import Leftover
from sandbox.programs import Program

_AWS: Final = "aws:"
_EC2: Final = "aws:ec2/"
_PROVIDER: Final = "pulumi:providers:aws"
_Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What all stacks of a sandbox hold in AWS."""

    resources: tuple[_Resource, ...]
    arns: frozenset[str]
    ec2_ids: frozenset[str]
    """They are random, and name one thing in all regions; other ids are names, which a role and a queue may share."""

    def knows(self, thing: Leftover) -> bool:
        """Tell whether a stack holds it."""
        return thing.arn in self.arns or thing.id in self.ec2_ids

    def holds(self, token: str, inputs: Mapping[str, Any], names: tuple[str, ...]) -> bool:
        """Tell whether a stack holds a resource of a type whose inputs are the same as far as they are named."""
        wanted = [inputs.get(name) for name in names]
        return any(
            resource["type"] == token and [(resource.get("inputs") or {}).get(name) for name in names] == wanted
            for resource in self.resources
        )


@dataclass(frozen=True, slots=True)
class Operation:
    """What an engine had begun with a resource in AWS, and never noted as done."""

    action: str
    """As the engine calls it: ``creating``, ``updating``, ``deleting``."""
    token: str
    region: str
    id: str
    """Empty while the resource is being created."""
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def recorded(checkout: Checkout) -> Recorded:
    """Return what the stacks of the sandbox hold in AWS, all of them."""
    found = [
        resource
        for resource in stacks.resources(checkout)
        if resource["type"].startswith(_AWS) and resource.get("custom")
    ]
    arns = (str((resource.get("outputs") or {}).get("arn", "")) for resource in found)
    ids = (str(resource.get("id", "")) for resource in found if resource["type"].startswith(_EC2))
    return Recorded(tuple(found), frozenset(arns), frozenset(ids))


def operations(checkout: Checkout, program: Program, stack: str) -> list[Operation]:
    """Return what the state of a stack says was under way in AWS when its engine ended."""
    held = stacks.snapshot(stacks.state_file(checkout, program, stack))
    regions = dict(_providers(held))
    return [
        Operation(
            pending["type"],
            resource["type"],
            _region(resource, regions),
            resource.get("id", ""),
            resource.get("inputs") or {},
            resource.get("outputs") or {},
        )
        for pending in held.get("pending_operations") or ()
        for resource in [pending["resource"]]
        if resource["type"].startswith(_AWS) and resource.get("custom")
    ]


def _providers(held: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the reference of each AWS provider and its region."""
    for resource in held.get("resources") or ():
        if resource["type"] == _PROVIDER:
            yield f"{resource['urn']}::{resource['id']}", (resource.get("inputs") or {}).get("region") or REGION


def _region(resource: _Resource, regions: Mapping[str, str]) -> str:
    own = (resource.get("outputs") or {}).get("region") or (resource.get("inputs") or {}).get("region")
    return str(own or regions.get(resource.get("provider", ""), REGION))
