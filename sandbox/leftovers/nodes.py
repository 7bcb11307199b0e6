"""Nodes in the real Kubernetes of the sandbox whose node group is removed here, and not by the provider."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"


def leave(checkout: Checkout, groups: Iterable[str]) -> None:
    """Let the nodes of some node groups (``cluster:group``) leave, if the sandbox's Kubernetes runs.

    Raises:
        SandboxError: Kubernetes refuses, or does not answer.

    """
    wanted = list(groups)
    if not wanted:
        return
    # Imported where they are used: a sandbox without Kubernetes does not pay for them.
    from sandbox.kubernetes import control_plane, nodes, rest  # noqa: PLC0415 - see above

    plane = control_plane.running(checkout)
    if plane is None:
        return
    try:
        for group in wanted:
            nodes.leave(plane, *group.split(":", 1))
    except (rest.ApiError, OSError) as error:
        raise SandboxError(f"the sandbox's Kubernetes does not let the nodes of {wanted[0]} leave: {error}") from None
