"""Why the other rules cannot be said of one object in CEL."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from eks_gpu_policies import tokens
from eks_gpu_policies.admission.manifests import SAID
from eks_gpu_policies.rule import Rule, Scope

_NO_OBJECT: Final = "it looks at what no API server of Kubernetes sees: AWS resources, add-ons, releases of charts"
_NOT_YET: Final = "nobody has written it yet"
_SEVERAL: Final = "it needs several objects together, and CEL sees one"

_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "WORK003": "the API server refuses it by itself, in pods and in the templates of its own kinds",
        "WORK008": "it has to know where each server keeps what it downloads, which its image and its arguments say",
        "SEC002": "it needs the words that dashboards are called by, and the values of their charts",
        "OBS003": "it takes PromQL apart, which CEL cannot",
        "NODE006": "whether an EC2NodeClass is for GPUs is said by the node pools that use it",
    }
)


def why_not(rule: Rule[Any]) -> str | None:
    """Return why nothing of a rule is an admission policy; None for one that is."""
    if any(said.rule == rule.id for said in SAID):
        return None
    if rule.id in _REASONS:
        return _REASONS[rule.id]
    types = rule.looks_at.types
    if types and not any(_is_object(token) for token in types):
        return _NO_OBJECT
    return _SEVERAL if rule.scope is Scope.STACK else _NOT_YET


def _is_object(token: str) -> bool:
    return tokens.is_kubernetes(token) and token not in tokens.HELM | tokens.YAML_FILES


def leaves(rule: Rule[Any]) -> str:
    """Return what a rule says besides its admission policies; empty where that is nothing."""
    return "; ".join(said.leaves for said in SAID if said.rule == rule.id and said.leaves)
