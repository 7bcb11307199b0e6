"""Gates: objects that the engine waits for until something about them has become true."""

from __future__ import annotations

from eks_gpu.facts.labels import WAIT_FOR
from eks_gpu_policies import tokens
from eks_gpu_policies.resource import Resource


def waits_for(resource: Resource) -> bool:
    """Return whether the engine waits for a Kubernetes object's own condition, said by annotation."""
    if not tokens.is_kubernetes(resource.type) or "metadata" not in resource.props:
        return False
    return resource.view.at("metadata", "annotations", WAIT_FOR).text() is not None
