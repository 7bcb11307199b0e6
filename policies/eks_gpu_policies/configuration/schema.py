"""The options of the policy ``eks-gpu`` in ``--policy-pack-config``, as JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from eks_gpu_policies.options import Options
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.waivers import FIELDS


class Unanswered(StrEnum):
    """How questions that could not be answered are shown."""

    COUNT = "count"
    LIST = "list"


_DEFAULTS: Final = Options()
_TEXTS: Final = MappingProxyType({"type": "array", "items": {"type": "string"}})

SCHEMA: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "environment": {
            "type": "string",
            "enum": [item.value for item in Environment],
            "description": "Sets every rule's level. Unset: EKS_GPU_ENVIRONMENT, the stack's own configuration, prod.",
        },
        "monthlyBudgetUsd": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "The most the stack's GPU pools may cost in a month if all ran at their limits.",
        },
        "approvedImages": {
            **_TEXTS,
            "description": "Image ids, aliases and release versions that have been qualified. Unset: any pinned one.",
        },
        "volumesEncryptedByAccount": {
            "type": "boolean",
            "description": "Whether the AWS account encrypts every new EBS volume by itself.",
        },
        "requiredPoolLabels": {
            **_TEXTS,
            "description": "Keys of labels that every GPU pool must carry. Unset: this project's set for its own "
            "stacks, none for others.",
        },
        "clusterClasses": {
            **_TEXTS,
            "description": "StorageClasses that the cluster has besides those of the stack. Unset: nobody knows.",
        },
        "monitoringStack": {
            "type": "string",
            "description": "Where the GPUs are watched, if not by this stack: a name for people to find it by.",
        },
        "hubMegabytesPerSecond": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "How fast models come from a hub on the internet. "
            f"Unset: {_DEFAULTS.hub_megabytes_per_second:g}.",
        },
        "smallestShareMib": {
            "type": "integer",
            "exclusiveMinimum": 0,
            "description": f"The least memory of a share of a GPU. Unset: {_DEFAULTS.smallest_share_mib}.",
        },
        "vcpuQuotas": {
            "type": "object",
            "required": ["recorded", "vcpus"],
            "additionalProperties": False,
            "properties": {
                "recorded": {"type": "string", "format": "date"},
                "vcpus": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
            },
            "description": "The account's EC2 quotas by code (L-DB2E81BA: 768), and the day they were read.",
        },
        "waivers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": list(FIELDS),
                "additionalProperties": False,
                "properties": {name: {"type": "string"} for name in FIELDS},
            },
            "description": "Findings that somebody accepts until a day.",
        },
        "notEvaluated": {
            "type": "string",
            "enum": [item.value for item in Unanswered],
            "description": "Whether questions that could not be answered are counted or listed.",
        },
        "failOnNotEvaluated": {
            "type": "boolean",
            "description": "Whether a question that could not be answered refuses the deployment.",
        },
    }
)
"""JSON schema of the properties of the policy ``eks-gpu``."""
