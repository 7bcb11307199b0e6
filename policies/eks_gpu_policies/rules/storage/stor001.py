"""STOR001: EFS classes are complete.

A class without any parameter makes no volumes: it is the mere name by which claims find volumes made by hand, as in the
driver's own examples of static provisioning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.storage import EFS_ACCESS_POINTS, EFS_DRIVER, PROVISIONING_MODES
from eks_gpu.planning.reading import View
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Scope, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

FILE_SYSTEM_KEYS: Final = ("fileSystemId", "fileSystemIdConfigRef", "fileSystemIdSecretRef")


def _is_efs(storage_class: Resource, _stack: Stack) -> bool:
    return storage_class.view["provisioner"].text() == EFS_DRIVER


def _check(storage_class: Resource, _stack: Stack) -> Iterator[Outcome]:
    parameters = storage_class.view["parameters"]
    if not any(True for _ in parameters.entries()):
        return
    yield from clauses(_mode(parameters), _file_system(parameters), _ownership(parameters), _strings(parameters))


def _mode(parameters: View) -> Iterator[Outcome]:
    mode = parameters["provisioningMode"].text()
    if mode not in PROVISIONING_MODES:
        known = " and ".join(PROVISIONING_MODES)
        yield Problem(f"has provisioningMode {mode or 'unset'}; the driver knows only {known}")


def _file_system(parameters: View) -> Iterator[Outcome]:
    named = [key for key in FILE_SYSTEM_KEYS if parameters[key].exists]
    if len(named) != 1:
        said = f"names its file system by {' and '.join(named)}" if named else "names no file system"
        yield Problem(f"{said}; exactly one of {', '.join(FILE_SYSTEM_KEYS)} must")


def _ownership(parameters: View) -> Iterator[Outcome]:
    if not parameters["directoryPerms"].exists:
        yield Problem("has no directoryPerms, without which no volume is made")
    if parameters["uid"].exists and not parameters["gid"].exists:
        yield Problem("sets uid without gid; the driver wants both or neither")


def _strings(parameters: View) -> Iterator[Outcome]:
    for key, place in parameters.entries():
        if place.data is not UNKNOWN and place.data is not None and not isinstance(place.data, str):
            yield Problem(f"gives the parameter {key} as {type(place.data).__name__}; every parameter is a string")


_SOUND = {"provisioningMode": EFS_ACCESS_POINTS, "fileSystemId": "fs-0a1b2c3d", "directoryPerms": "700"}


def _class(parameters: examples.Props) -> Resource:
    return examples.resource(tokens.STORAGE_CLASS, "models", {"provisioner": EFS_DRIVER, "parameters": parameters})


EFS_CLASSES: Final = Subjects[Resource](
    "EFS storage classes",
    frozenset({tokens.STORAGE_CLASS}),
    lambda stack: stack.of_type(tokens.STORAGE_CLASS),
    _is_efs,
)

RULE: Final = Rule(
    id="STOR001",
    title="EFS classes are complete",
    severity=Severity.HIGH,
    why=(
        "The API server takes any parameters. The driver refuses the incomplete ones only when a claim arrives: the "
        "claim stays Pending, and with it every pod that mounts it."
    ),
    fix="set provisioningMode efs-ap, one file system, directoryPerms, all as strings, as ModelCache does",
    lessons=("S01",),
    levels=EVERYWHERE,
    scope=Scope.RESOURCE,
    looks_at=EFS_CLASSES,
    check=_check,
    failing=Example((_class({"fileSystemId": "fs-0a1b2c3d"}),)),
    passing=Example((_class(_SOUND),)),
)
