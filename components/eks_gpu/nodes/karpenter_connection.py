"""What a node pool needs to know of Karpenter, whoever installed it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, kw_only=True)
class KarpenterConnection:
    """A running Karpenter. Whoever has installed their own gives its node role, and what must go after the pools."""

    node_role_name: pulumi.Input[str]
    """Name of the IAM role that its nodes run as; the role needs an access entry of type EC2_LINUX."""

    instance_profile_name: pulumi.Input[str] | None = None
    """Instance profile that holds the role. Without one Karpenter makes its own, for which it needs the right to, and a
    way to IAM, which no private network has."""

    ready: tuple[pulumi.Resource, ...] = ()
    """What must exist before a pool and go after it: the controller, which alone can remove the pool's nodes, and the
    CRDs."""
