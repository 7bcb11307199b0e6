"""Resources of the other two providers, as the components make and meet them: by type and property names of the wire.

The SDKs' own classes are not needed for that, and importing them would double the plugin's start.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pulumi
from pulumi.runtime import register_resource_module
from pulumi.runtime.rpc import ResourceModule
from semver import Version as VersionInfo

_SDKS: Final = {"aws": "pulumi-aws", "kubernetes": "pulumi-kubernetes"}

# The outputs that the components read, by type.
OUTPUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "aws:autoscaling/group:Group": ("name",),
    "aws:ec2/keyPair:KeyPair": ("keyName",),
    "aws:ec2/launchTemplate:LaunchTemplate": ("latestVersion", "name"),
    "aws:ec2/placementGroup:PlacementGroup": ("name",),
    "aws:ec2/securityGroup:SecurityGroup": (),
    "aws:ec2/securityGroupRule:SecurityGroupRule": ("securityGroupRuleId",),
    "aws:eks/cluster:Cluster": (
        "accessConfig",
        "arn",
        "certificateAuthority",
        "endpoint",
        "identities",
        "kubernetesNetworkConfig",
        "name",
        "version",
        "vpcConfig",
    ),
    "aws:iam/instanceProfile:InstanceProfile": ("name",),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ("arn",),
    "aws:iam/role:Role": ("arn", "name"),
}


@cache
def package_version(package: str) -> str | None:
    """Return the version of the plugin `package` for children: that of the SDK here, if it is installed.

    A program's own resources ask for the version of its SDK; with the same version, children share that plugin. A
    program with another SDK has another version installed, and the engine then chooses.
    """
    version = metadata.version(_SDKS[package])
    home = os.environ.get("PULUMI_HOME")
    if home is not None and not (Path(home) / "plugins" / f"resource-{package}-v{version}").is_dir():
        return None
    return version


class Child(pulumi.CustomResource):
    """A resource of any type, made by a component or met by reference."""

    def __init__(
        self, token: str, name: str, properties: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Register `token` with `properties`; outputs that a component reads are listed in `OUTPUTS`."""
        outputs: dict[str, Any] = dict.fromkeys(OUTPUTS.get(token, ()))
        given = {key: value for key, value in properties.items() if value is not None}
        if not (opts and opts.urn):
            opts = pulumi.ResourceOptions.merge(
                opts, pulumi.ResourceOptions(version=package_version(token.split(":", maxsplit=1)[0]))
            )
        super().__init__(token, name, {**outputs, **given}, opts)

    def output(self, name: str) -> pulumi.Output[Any]:
        """Return the output `name`, one of those listed in `OUTPUTS` or given as an input."""
        value: pulumi.Output[Any] = self.__dict__[name]
        return value


def output_of(resource: pulumi.Input[Any], name: str) -> pulumi.Output[Any]:
    """Return the output `name` of a resource that a program gave, itself or as an output."""
    return pulumi.Output.from_input(resource).apply(lambda found: found.id if name == "id" else found.output(name))


def latest_version(template: Child) -> pulumi.Output[str]:
    """Return the newest version of a launch template as node groups take it; numbers come as floats."""
    return template.output("latestVersion").apply(lambda found: str(int(found)))


class KubernetesProvider(pulumi.ProviderResource):
    """The provider that a cluster component makes for itself."""

    def __init__(self, name: str, settings: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        """Register a `kubernetes` provider with `settings`."""
        given = {key: value for key, value in settings.items() if value is not None}
        version = pulumi.ResourceOptions(version=package_version("kubernetes"))
        super().__init__("kubernetes", name, given, pulumi.ResourceOptions.merge(opts, version))


class Met(pulumi.ComponentResource):
    """A component of this provider that a program passes back in, such as the cluster of a node group."""

    def __init__(self, token: str, name: str, outputs: Sequence[str], urn: str) -> None:
        """Read the `outputs` of the component `urn`."""
        super().__init__(token, name, dict.fromkeys(outputs), pulumi.ResourceOptions(urn=urn))

    def output(self, name: str) -> pulumi.Output[Any]:
        """Return the output `name`."""
        value: pulumi.Output[Any] = self.__dict__[name]
        return value


class _Module(ResourceModule):
    """Turns references to resources into `Child` and `Met`."""

    def version(self) -> VersionInfo | None:
        return None

    def construct(self, name: str, typ: str, urn: str) -> pulumi.Resource:
        if typ.startswith("eks:"):
            return Met(typ, name, ("core", "eksCluster"), urn)
        return Child(typ, name, {}, pulumi.ResourceOptions(urn=urn))


def accept_references() -> None:
    """Let programs pass the resources that the components take: roles, security groups and clusters."""
    for token in (*OUTPUTS, "eks:index:Cluster"):
        package, module, _ = token.split(":")
        if (package, module) not in _registered:
            _registered.add((package, module))
            register_resource_module(package, module, _Module())


_registered: set[tuple[str, str]] = set()
