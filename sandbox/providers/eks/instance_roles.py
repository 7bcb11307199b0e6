"""The IAM roles of a cluster's nodes, and the instance profile of its default node group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from sandbox.providers.eks.options import has_default_nodes
from sandbox.providers.eks.resources import Child, output_of
from sandbox.providers.eks.service_role import ServiceRole

_PROFILE: Final = "aws:iam/instanceProfile:InstanceProfile"
_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly")


@dataclass(frozen=True, slots=True)
class InstanceRoles:
    """The nodes' roles."""

    every: pulumi.Input[Sequence[pulumi.Input[Child]]]
    default: pulumi.Input[Child] | None = None
    """The one that gets an access entry: a role given alone, or made here."""
    profile: Child | None = None


def instance_roles(name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions) -> InstanceRoles:
    """Return the roles that the options give, else the one made for them, with the profile that nodes need."""
    if options.get("instanceRoles") is not None:
        return InstanceRoles(options["instanceRoles"])
    given: pulumi.Input[Child] | None = options.get("instanceRole")
    if given is not None:
        profile = _profile(name, options, given, opts) if has_default_nodes(options) else None
        return InstanceRoles([given], given, profile)
    if not options.get("createInstanceRole", not options.get("skipDefaultNodeGroup")):
        return InstanceRoles([])
    service = "ec2.amazonaws.com"
    made = ServiceRole(f"{name}-instanceRole", service, _POLICIES, {"tags": options.get("tags")}, opts)
    return InstanceRoles([made.role], made.role, _profile(name, options, made.role, opts))


def _profile(
    name: str, options: Mapping[str, Any], role: pulumi.Input[Child], opts: pulumi.ResourceOptions
) -> Child | None:
    """Make the role's instance profile, unless the options name one.

    The real component reads the one that is named; here its name is enough, because no account is there to have it.
    """
    together = options.get("nodeGroupOptions") or {}
    if options.get("instanceProfileName") is not None or together.get("instanceProfileName") is not None:
        return None
    return Child(_PROFILE, f"{name}-instanceProfile", {"role": output_of(role, "name")}, opts)
