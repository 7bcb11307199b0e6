"""The objects of a cluster that hold the rules: a ValidatingAdmissionPolicy and its binding for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

from eks_gpu.facts import labels, namespaces
from eks_gpu_policies.admission.others import OTHERS
from eks_gpu_policies.admission.pools import POOLS
from eks_gpu_policies.admission.said import Kinds, Said, text
from eks_gpu_policies.admission.workloads import WORKLOADS
from eks_gpu_policies.rule import Environment, Level, Rule
from eks_gpu_policies.rules import BY_ID

Manifest = dict[str, Any]

SAID: Final[tuple[Said, ...]] = (*WORKLOADS, *POOLS, *OTHERS)
"""Everything that is said in CEL, in the order of ids within a file."""

API_VERSION: Final = "admissionregistration.k8s.io/v1"
POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"

EXEMPT_NAMESPACES: Final = (
    namespaces.KUBE_SYSTEM,
    namespaces.GPU_OPERATOR,
    namespaces.NVIDIA,
    namespaces.GPU_VALIDATION,
    namespaces.NODE_VALIDATION,
)
"""Where what the cluster itself needs runs: nobody wants that refused in the night in which it must restart. The
software of the GPUs and what proves them see every GPU of a node and ask for none."""

_ACTIONS: Final[Mapping[Level, tuple[str, ...]]] = MappingProxyType(
    {Level.MANDATORY: ("Deny", "Audit"), Level.ADVISORY: ("Warn", "Audit")}
)
_OPERATIONS: Final = ("CREATE", "UPDATE")
_PART_OF: Final = "eks-gpu"
_DESCRIPTION: Final = "kubernetes.io/description"


def manifests(
    environment: Environment,
    *,
    rules: Collection[str] | None = None,
    levels: Mapping[str, Level] = MappingProxyType({}),
    exempt: Collection[str] = EXEMPT_NAMESPACES,
) -> list[Manifest]:
    """Return policies and bindings for an environment: what is mandatory there is refused, the rest is a warning.

    ``rules`` are the ids that are wanted; None: all that can be said. ``levels`` overrides those of the environment,
    by id. Objects in the namespaces ``exempt`` are not judged.
    """
    found: list[Manifest] = []
    for said in SAID:
        rule = BY_ID[said.rule]
        level = levels.get(rule.id) or rule.levels.in_environment(environment)
        if level is Level.DISABLED or (rules is not None and rule.id not in rules):
            continue
        found.append(policy(said, rule))
        found.append(binding(said, Level.ADVISORY if said.advice else level, exempt))
    return found


def policy(said: Said, rule: Rule[Any]) -> Manifest:
    """Return the policy that holds what ``said`` says of ``rule``."""
    return {
        "apiVersion": API_VERSION,
        "kind": POLICY,
        "metadata": {
            "name": said.name,
            "labels": {labels.APP_PART_OF: _PART_OF},
            "annotations": {_DESCRIPTION: f"{rule.id}: {rule.title}. {rule.why} Fix: {rule.fix}."},
        },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [_constraint(kinds) for kinds in said.kinds]},
            **({"matchConditions": _named(said.conditions)} if said.conditions else {}),
            **({"variables": _named(said.variables)} if said.variables else {}),
            "validations": [
                {
                    "expression": said.expression,
                    "message": f"{rule.id}: {rule.title}; eks-gpu explain {rule.id} says why and what to do",
                    "messageExpression": f"{text(f'{rule.id} {rule.title}: ')} + ({said.message})",
                    "reason": "Invalid",
                }
            ],
        },
    }


def binding(said: Said, level: Level, exempt: Collection[str]) -> Manifest:
    """Return the binding by which a policy refuses or warns."""
    spared: Manifest = {
        "namespaceSelector": {
            "matchExpressions": [{"key": labels.NAMESPACE_NAME, "operator": "NotIn", "values": sorted(exempt)}]
        }
    }
    return {
        "apiVersion": API_VERSION,
        "kind": BINDING,
        "metadata": {"name": said.name, "labels": {labels.APP_PART_OF: _PART_OF}},
        "spec": {
            "policyName": said.name,
            "validationActions": list(_ACTIONS[level]),
            **({"matchResources": spared} if exempt and not said.cluster_scoped else {}),
        },
    }


def _constraint(kinds: Kinds) -> Manifest:
    return {
        "apiGroups": [kinds.group],
        "apiVersions": [kinds.version],
        "operations": list(_OPERATIONS),
        "resources": list(kinds.resources),
    }


def _named(pairs: tuple[tuple[str, str], ...]) -> list[Manifest]:
    return [{"name": name, "expression": expression} for name, expression in pairs]
