"""Validates Karpenter's custom resources against the CRDs of the version that is deployed.

The CRDs are read from the Go module of that version, which is in Go's module cache after the first run.

A JSON schema holds types, enums, patterns and required fields, but not the rules that a CRD states in CEL; those that
our resources could break are in ``cel_problems``, by hand.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema
import yaml

from eks_gpu.facts import labels
from sandbox.toolchain.go_module import GoModule

KARPENTER = GoModule("github.com/aws/karpenter-provider-aws", "karpenter")
_FILES = {
    "karpenter.sh/v1/NodePool": "karpenter.sh_nodepools.yaml",
    "karpenter.k8s.aws/v1/EC2NodeClass": "karpenter.k8s.aws_ec2nodeclasses.yaml",
}

VALIDATED = tuple(f"kubernetes:{kind.replace('/v1/', '/v1:')}" for kind in _FILES)
"""Type tokens of the resources that can be validated."""


def chart_defaults() -> dict[str, Any]:
    """Return the values of Karpenter's chart, as it has them where nobody gives any."""
    text = (KARPENTER.folder / "charts" / "karpenter" / "values.yaml").read_text(encoding="utf-8")
    defaults: dict[str, Any] = yaml.safe_load(text)
    return defaults


def schema_problems(resource: Mapping[str, Any]) -> list[str]:
    """Return what the CRD's schema refuses in a resource, unknown fields included, each with its path."""
    validator = jsonschema.Draft202012Validator(_schema(f"{resource['apiVersion']}/{resource['kind']}"))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(dict(resource))]


def cel_problems(resource: Mapping[str, Any]) -> list[str]:
    """Return which of the CRD's CEL rules, as far as they are known here, a resource breaks."""
    checks = _node_pool_rules if resource["kind"] == "NodePool" else _node_class_rules
    return list(checks(resource["spec"]))


def _node_pool_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    template = spec["template"]
    requirements = template["spec"]["requirements"]
    keys = [*(requirement["key"] for requirement in requirements), *template.get("metadata", {}).get("labels", {})]
    for key in keys:
        yield from _key_rules(key)
    for requirement in requirements:
        if requirement["operator"] == "In" and not requirement["values"]:
            yield f"{requirement['key']}: In needs a value"
    for budget in spec.get("disruption", {}).get("budgets", []):
        if ("schedule" in budget) != ("duration" in budget):
            yield "a budget has schedule and duration, or neither"
    if "replicas" in spec and "weight" in spec:
        yield "a pool with replicas has no weight"


def _key_rules(key: str) -> Iterator[str]:
    domain = key.partition("/")[0]
    if key in {labels.HOSTNAME, labels.KARPENTER_NODEPOOL}:
        yield f"{key} is forbidden"
    if domain.endswith("karpenter.sh") and key not in {labels.CAPACITY_TYPE, labels.KARPENTER_NODEPOOL}:
        yield f"{key} is in a restricted domain"
    if domain == labels.KARPENTER_AWS_DOMAIN and key not in labels.KARPENTER_AWS_ALLOWED:
        yield f"{key} is not in the allow-list"


def _node_class_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    terms = spec["amiSelectorTerms"]
    if any("alias" in term for term in terms) and (len(terms) > 1 or len(terms[0]) > 1):
        yield "an alias stands alone"
    if not any("alias" in term for term in terms) and "amiFamily" not in spec:
        yield "amiFamily is needed without an alias"
    if ("role" in spec) == ("instanceProfile" in spec):
        yield "exactly one of role and instanceProfile is given"
    for kind in ("subnetSelectorTerms", "securityGroupSelectorTerms", "capacityReservationSelectorTerms"):
        yield from (f"{kind}: id stands alone" for term in spec.get(kind, []) if "id" in term and len(term) > 1)
        if kind in spec and not spec[kind]:
            yield f"{kind} is empty"
    kubelet = spec.get("kubelet", {})
    if kubelet.get("imageGCHighThresholdPercent", 85) <= kubelet.get("imageGCLowThresholdPercent", 80):
        yield "imageGCHighThresholdPercent is above imageGCLowThresholdPercent"
    yield from _interface_rules(spec.get("networkInterfaces", []))
    for tag in spec.get("tags", {}):
        if tag in labels.KARPENTER_OWN_TAGS or tag.startswith(labels.CLUSTER_TAG_PREFIX):
            yield f"tag {tag} is Karpenter's own"


def _interface_rules(interfaces: list[Mapping[str, Any]]) -> Iterator[str]:
    places = [(interface["networkCardIndex"], interface["deviceIndex"]) for interface in interfaces]
    if interfaces and ((0, 0), "interface") not in zip(
        places, (interface["interfaceType"] for interface in interfaces), strict=True
    ):
        yield "networkInterfaces need a primary interface"
    if len(set(places)) < len(places):
        yield "networkInterfaces repeat a place"
    cards = [interface["networkCardIndex"] for interface in interfaces if interface["interfaceType"] == "efa-only"]
    if len(set(cards)) < len(cards):
        yield "a network card has two adapters"


@cache
def _schema(kind: str) -> dict[str, Any]:
    text = (KARPENTER.folder / "pkg" / "apis" / "crds" / _FILES[kind]).read_text(encoding="utf-8")
    definition = yaml.safe_load(text)
    version = kind.split("/")[1]
    found = next(entry for entry in definition["spec"]["versions"] if entry["name"] == version)
    return strict(found["schema"]["openAPIV3Schema"])


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a CRD's schema that refuses fields it does not name, as ``fieldValidation=Strict`` does."""
    closed = copy.deepcopy(dict(schema))
    _close(closed)
    # A CRD's schema leaves metadata to the API server.
    closed["properties"]["metadata"] = {"type": "object"}
    return closed


def _close(schema: dict[str, Any]) -> None:
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields", False)
    if "properties" in schema and "additionalProperties" not in schema and not open_ended:
        schema["additionalProperties"] = False
    for child in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(child, dict):
            _close(child)
