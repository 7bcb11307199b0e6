"""The ``cluster`` block: an EKS cluster of our own, or one that exists."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator

from eks_gpu.facts.versions import KUBERNETES_VERSIONS
from eks_gpu.settings.block import Block
from eks_gpu.settings.log_retention import RetentionDays
from eks_gpu.settings.network import EXISTING, PRIVATE_RANGES, kind_of

LOG_RETENTION_DAYS: Final = 90
"""How long control-plane logs are kept. EKS on its own keeps them, and charges for them, for ever."""

_WIDEST_PUBLIC_PREFIX: Final = 8
"""Wider ranges would be the whole internet in pieces."""

_PRINCIPAL: Final = re.compile(r"arn:aws(?:-[a-z]+)*:iam::\d{12}:(?:role|user)/[\w+=,.@/-]{1,576}")
_ASSUMED_ROLE: Final = re.compile(r"arn:aws(?:-[a-z]+)*:sts::\d{12}:assumed-role/")
"""ARNs as IAM writes them (IAM user guide, "IAM identifiers", checked 2026-11-21)."""

_CLUSTER_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")


def _known_version(version: str) -> str:
    if version not in KUBERNETES_VERSIONS:
        raise ValueError(
            f"{version!r} is no Kubernetes version that this release builds for; choose one of "
            f"{', '.join(KUBERNETES_VERSIONS)}, in quotes"
        )
    return version


KubernetesVersion = Annotated[
    str,
    AfterValidator(_known_version),
    Field(json_schema_extra={"enum": list(KUBERNETES_VERSIONS)}),
]
"""A Kubernetes minor version for which every add-on's exact version is known; a quoted string."""


def _principal(arn: str) -> str:
    if _ASSUMED_ROLE.match(arn):
        raise ValueError(
            f"{arn!r} is one session of a role; give the role itself, such as arn:aws:iam::123456789012:role/platform"
        )
    if not _PRINCIPAL.fullmatch(arn):
        raise ValueError(
            f"{arn!r} is no ARN of an IAM role or user; write one such as arn:aws:iam::123456789012:role/platform"
        )
    return arn


AdministratorName = Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=40)]
"""What an administrator is called here: lowercase letters, digits and hyphens."""

Principal = Annotated[str, AfterValidator(_principal)]
"""ARN of an IAM role or user."""


class EndpointAccess(Block):
    """From where the API server may be reached. From inside the VPC always."""

    public_cidrs: tuple[str, ...] = ()
    """Public address ranges that may reach the API server as well, such as an office's; none by default, and then there
    is no public endpoint: whoever deploys must be inside the network. The whole internet is refused."""

    @field_validator("public_cidrs")
    @classmethod
    def _are_narrow_public_ranges(cls, blocks: tuple[str, ...]) -> tuple[str, ...]:
        for text in blocks:
            _check_public_range(text)
        return blocks


class NewCluster(Block):
    """An EKS cluster whose control plane is ours."""

    version: KubernetesVersion
    """Kubernetes minor version. Raising it by one updates in place, nodes after the control plane; lowering it replaces
    the cluster. No default: an upgrade is a decision."""

    endpoint_access: EndpointAccess = EndpointAccess()
    """From where the API server may be reached; from inside the VPC only by default."""

    administrators: Mapping[AdministratorName, Principal] = Field(default_factory=dict)
    """IAM roles and users that may do everything in the cluster, by a name of your choice, such as
    ``{platform: "arn:aws:iam::123456789012:role/platform"}``. Whoever creates the cluster may do so anyway and must not
    be listed: EKS refuses a second entry for them. Without others, nobody else gets in."""

    log_retention_days: RetentionDays = LOG_RETENTION_DAYS
    """How long control-plane logs are kept, in days. All five kinds are always on."""


class ExistingControlPlane(Block):
    """The name and version of a cluster that exists."""

    name: str
    """Name of the cluster in the account and region of the stack."""

    version: KubernetesVersion
    """The Kubernetes version that it runs. Compared with the cluster when it is read."""

    cni_uses_node_role: bool = False
    """Whether the cluster's VPC CNI has no identity of its own (Pod Identity or IRSA) and works with the rights of the
    nodes. Nodes then get its policy; without one or the other none of them ever becomes ready."""

    @field_validator("name")
    @classmethod
    def _is_a_cluster_name(cls, name: str) -> str:
        if not _CLUSTER_NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is no cluster name; it has up to 100 letters, digits, hyphens and underscores and starts "
                "with a letter or digit"
            )
        return name


class ExistingCluster(Block):
    """A cluster that exists; add-ons and system nodes are its owner's, the Pod Identity agent must be among them."""

    existing: ExistingControlPlane
    """Which one."""


Cluster = Annotated[
    Annotated[NewCluster, Tag("new")] | Annotated[ExistingCluster, Tag(EXISTING)],
    Discriminator(kind_of),
]
"""The ``cluster`` block: exactly one of the two, told apart by the key ``existing``."""


def _check_public_range(text: str) -> None:
    try:
        block = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no IPv4 network ({error}); write one such as 203.0.113.0/24") from error
    if block.prefixlen < _WIDEST_PUBLIC_PREFIX:
        raise ValueError(
            f"{text} is {'the whole internet' if block.prefixlen == 0 else 'a large part of the internet'}; list the "
            f"ranges that deployers and operators come from, each /{_WIDEST_PUBLIC_PREFIX} or narrower"
        )
    if any(block.subnet_of(private) for private in PRIVATE_RANGES):
        raise ValueError(
            f"{text} is private, but only public addresses reach a public endpoint; leave it out, because the VPC "
            "always has access"
        )
