"""The options of the components, read and judged before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.schema import Failure, problems
from sandbox.providers.sdk import Sdk
from sandbox.providers.wire import UNKNOWN

_EXCLUSIVE: Final = (
    ("instanceRole", "instanceRoles"),
    ("subnetIds", "publicSubnetIds"),
    ("subnetIds", "privateSubnetIds"),
)
# What the real component can build and the stand-in cannot.
_BEYOND: Final = {
    "autoMode": "EKS Auto Mode",
    "creationRoleProvider": "a creation role",
    "fargate": "a Fargate profile",
    "nodeGroupOptions": "a default node group",
    "storageClasses": "storage classes",
    "userMappings": "user mappings",
}
_ACCESS_ENTRY_MODES: Final = ("API", "API_AND_CONFIG_MAP")
_CONFIG_MAP_MODES: Final = (None, "CONFIG_MAP", "API_AND_CONFIG_MAP")


def judge(sdk: Sdk, token: str, options: Mapping[str, Any]) -> None:
    """Refuse a wrong component with all its mistakes at once; raise `pulumi.InputPropertiesError`."""
    resource = sdk.resource(token)
    if resource is None:
        raise pulumi.InputPropertiesError(f'{sdk.package} {sdk.version} has no component "{token}"', [])
    failures = problems(sdk, resource, {key: plain(value) for key, value in options.items()})
    if token == "eks:index:Cluster":  # noqa: S105 - a type token
        failures += _cluster_problems(options)
    if failures:
        details = [pulumi.InputPropertyErrorDetails(property_path=each.path, reason=each.reason) for each in failures]
        raise pulumi.InputPropertiesError(f"the inputs of {token} are wrong", details)


def plain(value: object) -> object:
    """Return `value` with outputs and resources, whose insides are not judged, as unknown."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, str | bool | int | float) else UNKNOWN


def uses_access_entries(mode: object) -> bool:
    """Tell whether a cluster of this authentication mode knows access entries."""
    return mode in _ACCESS_ENTRY_MODES


def uses_config_map(mode: object) -> bool:
    """Tell whether a cluster of this authentication mode reads the `aws-auth` ConfigMap; it is the default."""
    return mode in _CONFIG_MAP_MODES


def _cluster_problems(options: Mapping[str, Any]) -> list[Failure]:
    found = [
        Failure(first, f'"{first}" and "{second}" cannot both be given')
        for first, second in _EXCLUSIVE
        if options.get(first) is not None and options.get(second) is not None
    ]
    found += [
        Failure(name, f"the stand-in does not build {what}; leave {name} out, or deploy against AWS")
        for name, what in _BEYOND.items()
        if options.get(name)
    ]
    if not options.get("skipDefaultNodeGroup"):
        reason = "the stand-in does not build the default node group; set skipDefaultNodeGroup and add a node group"
        found.append(Failure("skipDefaultNodeGroup", reason))
    if options.get("accessEntries") and not uses_access_entries(options.get("authenticationMode")):
        reason = f"access entries need authenticationMode to be one of {', '.join(_ACCESS_ENTRY_MODES)}"
        found.append(Failure("accessEntries", reason))
    if options.get("vpcId") is None:
        found.append(Failure("vpcId", "the stand-in has no default VPC to fall back on; give vpcId"))
    return found
