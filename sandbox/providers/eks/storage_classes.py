"""The storage classes that a cluster component makes for EBS volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi

from sandbox.providers.eks.resources import Child

_TOKEN: Final = "kubernetes:storage.k8s.io/v1:StorageClass"  # noqa: S105 - a type token
_PROVISIONER: Final = "kubernetes.io/aws-ebs"
_DEFAULT: Final = {"storageclass.kubernetes.io/is-default-class": "true"}
_AS_GIVEN: Final = ("allowVolumeExpansion", "mountOptions", "reclaimPolicy", "volumeBindingMode")
_PARAMETERS: Final = ("type", "zones", "iopsPerGb", "encrypted", "kmsKeyId")


def storage_classes(
    name: str, given: str | Mapping[str, Any] | None, opts: pulumi.ResourceOptions
) -> dict[str, pulumi.Resource]:
    """Make the classes asked for: by name, or a volume type alone, which is then the cluster's default."""
    wanted = {given: {"type": given, "default": True}} if isinstance(given, str) else given or {}
    return {key: _storage_class(f"{name.lower()}-{key}", each, opts) for key, each in wanted.items()}


def _storage_class(name: str, given: Mapping[str, Any], opts: pulumi.ResourceOptions) -> Child:
    metadata = pulumi.Output.all(given.get("metadata"), given.get("default")).apply(lambda found: _metadata(*found))
    parameters = pulumi.Output.from_input({key: given.get(key) for key in _PARAMETERS}).apply(_texts)
    properties = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata,
        "provisioner": _PROVISIONER,
        "parameters": parameters,
        **{key: given.get(key) for key in _AS_GIVEN},
    }
    return Child(_TOKEN, name, properties, opts)


def _metadata(given: Mapping[str, Any] | None, default: object) -> dict[str, Any]:
    metadata = dict(given or {})
    if default:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **_DEFAULT}
    return metadata


def _texts(parameters: Mapping[str, Any]) -> dict[str, str]:
    return {key: _text(value) for key, value in parameters.items() if value}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true"
    return ", ".join(value) if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else str(value)
