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
    *(
        ("nodeGroupOptions", each)
        for each in (
            "desiredCapacity",
            "gpu",
            "instanceProfileName",
            "instanceType",
            "maxSize",
            "minSize",
            "nodeAmiId",
            "nodeAssociatePublicIpAddress",
            "nodePublicKey",
            "nodeRootVolumeSize",
            "nodeSubnetIds",
            "nodeUserData",
        )
    ),
)
# What the real component can build and the stand-in cannot.
_BEYOND: Final = {
    "creationRoleProvider": "a creation role",
    "fargate": "a Fargate profile",
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


def refuse(token: str, mistakes: Mapping[str, str]) -> None:
    """Refuse a component for its `mistakes`, by property, if there are any; raise `pulumi.InputPropertiesError`."""
    if mistakes:
        details = [pulumi.InputPropertyErrorDetails(property_path=path, reason=text) for path, text in mistakes.items()]
        raise pulumi.InputPropertiesError(f"the inputs of {token} are wrong", details)


def plain(value: object) -> object:
    """Return `value` with outputs and resources, whose insides are not judged, as unknown."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, str | bool | int | float) else UNKNOWN


def is_auto(options: Mapping[str, Any]) -> bool:
    """Tell whether the cluster runs in EKS Auto Mode."""
    return bool((options.get("autoMode") or {}).get("enabled"))


def has_default_nodes(options: Mapping[str, Any]) -> bool:
    """Tell whether the cluster brings a default node group."""
    return not (options.get("skipDefaultNodeGroup") or is_auto(options))


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
    if options.get("accessEntries") and not uses_access_entries(options.get("authenticationMode")):
        reason = f"access entries need authenticationMode to be one of {', '.join(_ACCESS_ENTRY_MODES)}"
        found.append(Failure("accessEntries", reason))
    if is_auto(options) and not uses_access_entries(options.get("authenticationMode")):
        reason = f"EKS Auto Mode needs authenticationMode to be one of {', '.join(_ACCESS_ENTRY_MODES)}"
        found.append(Failure("autoMode", reason))
    if has_default_nodes(options) and options.get("instanceRoles") is not None:
        given = options.get("nodeGroupOptions") or {}
        if not (given.get("instanceProfile") or given.get("instanceProfileName")):
            reason = "a default node group with instanceRoles needs an instance profile in nodeGroupOptions"
            found.append(Failure("nodeGroupOptions", reason))
    return found
