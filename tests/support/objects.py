"""Kubernetes objects as other people write them, as a program would declare them."""

from __future__ import annotations

import yaml

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource


def objects(manifests: str) -> tuple[Resource, ...]:
    """Return the objects of a file of manifests."""
    return tuple(_resource(document) for document in yaml.safe_load_all(manifests))


def _resource(document: dict[str, object]) -> Resource:
    group, metadata = str(document["apiVersion"]), document["metadata"]
    assert isinstance(metadata, dict)
    token = f"kubernetes:{group if '/' in group else f'core/{group}'}:{document['kind']}"
    return examples.resource(token, metadata["name"], document)
