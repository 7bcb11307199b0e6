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
    """Return which of the CRD's CEL rules, as far as they are known here, a resource breaks: in the CRD's own words."""
    checks = _node_pool_rules if resource["kind"] == "NodePool" else _node_class_rules
    return list(dict.fromkeys(checks(resource["spec"])))


def _node_pool_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    template = spec["template"]
    requirements = template["spec"]["requirements"]
    keys = [*(requirement["key"] for requirement in requirements), *template.get("metadata", {}).get("labels", {})]
    for key in keys:
        yield from _key_rules(key)
    for requirement in requirements:
        yield from _requirement_rules(requirement)
    if any(
        ("schedule" in budget) != ("duration" in budget) for budget in spec.get("disruption", {}).get("budgets", [])
    ):
        yield "'schedule' must be set with 'duration'"
    if "replicas" in spec and "weight" in spec:
        yield "'weight' is not supported on static NodePools"
    if "replicas" in spec and set(spec.get("limits", {})) - {"nodes"}:
        yield "only 'limits.nodes' is supported on static NodePools"


def _key_rules(key: str) -> Iterator[str]:
    domain = key.partition("/")[0]
    if key in {labels.HOSTNAME, labels.KARPENTER_NODEPOOL}:
        yield f'label "{key}" is restricted'
    if domain.endswith("karpenter.sh") and key not in {labels.CAPACITY_TYPE, labels.KARPENTER_NODEPOOL}:
        yield 'label domain "karpenter.sh" is restricted'
    if domain.endswith(labels.KARPENTER_AWS_DOMAIN) and key not in labels.KARPENTER_AWS_ALLOWED:
        yield f'label domain "{labels.KARPENTER_AWS_DOMAIN}" is restricted'


def _requirement_rules(requirement: Mapping[str, Any]) -> Iterator[str]:
    operator, values = requirement["operator"], requirement.get("values", [])
    if operator == "In" and not values:
        yield "requirements with operator 'In' must have a value defined"
    if operator in {"Gt", "Lt", "Gte", "Lte"} and not (len(values) == 1 and int(values[0]) >= 0):
        yield "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
    if operator == "In" and len(values) < requirement.get("minValues", 0):
        yield "requirements with 'minValues' must have at least that many values specified in the 'values' field"


def _node_class_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from _image_rules(spec)
    if ("role" in spec) == ("instanceProfile" in spec):
        yield "must specify exactly one of ['role', 'instanceProfile']"
    yield from _selector_rules(spec)
    kubelet = spec.get("kubelet", {})
    limits = [kubelet.get(f"imageGC{limit}ThresholdPercent") for limit in ("High", "Low")]
    if None not in limits and limits[0] <= limits[1]:
        yield "imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent"
    if any(not {"snapshotID", "volumeSize"} & set(each.get("ebs", {})) for each in spec.get("blockDeviceMappings", [])):
        yield "snapshotID or volumeSize must be defined"
    yield from _interface_rules(spec.get("networkInterfaces", []))
    for tag in spec.get("tags", {}):
        restricted = "kubernetes.io/cluster/" if tag.startswith(labels.CLUSTER_TAG_PREFIX) else tag
        if restricted != tag or tag in labels.KARPENTER_OWN_TAGS:
            yield f"tag contains a restricted tag matching {restricted}"


def _image_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    terms = spec["amiSelectorTerms"]
    alone = "is mutually exclusive, cannot be set with a combination of other"
    for key in ("alias", "id"):
        others = {"alias", "id", "tags", "name", "owner"} - {key}
        if any(key in term and others & set(term) for term in terms):
            yield f"'{key}' {alone} fields in amiSelectorTerms"
    aliases = [term["alias"] for term in terms if "alias" in term]
    if aliases and len(terms) > 1:
        yield f"'alias' {alone} amiSelectorTerms"
    if not aliases and "amiFamily" not in spec:
        yield "must specify amiFamily if amiSelectorTerms does not contain an alias"
    for family in ("AL2", "AL2023", "Bottlerocket"):
        named = any(alias.partition("@")[0] == family.lower() for alias in aliases)
        if named and spec.get("amiFamily", family) not in {family, "Custom"}:
            article = "a" if family == "Bottlerocket" else "an"
            yield f"if set, amiFamily must be '{family}' or 'Custom' when using {article} {family} alias"


_SELECTORS = {
    "subnetSelectorTerms": ("a subnet selector term", ("tags",)),
    "securityGroupSelectorTerms": ("a security group selector term", ("tags", "name")),
}


def _selector_rules(spec: Mapping[str, Any]) -> Iterator[str]:
    for selector, (term_name, others) in _SELECTORS.items():
        terms = spec.get(selector, [])
        if not terms:
            yield f"{selector} cannot be empty"
        # As the CRD has it: only if all terms are mixed.
        elif all("id" in term and set(others) & set(term) for term in terms):
            yield f"'id' is mutually exclusive, cannot be set with a combination of other fields in {term_name}"
    terms = spec.get("capacityReservationSelectorTerms")
    # Of no terms that is true, too.
    if terms is not None and all("id" in term and len(term) > 1 for term in terms):
        yield (
            "'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term"
        )


def _interface_rules(interfaces: list[Mapping[str, Any]]) -> Iterator[str]:
    places = [(interface["networkCardIndex"], interface["deviceIndex"]) for interface in interfaces]
    if interfaces and ((0, 0), "interface") not in zip(
        places, (interface["interfaceType"] for interface in interfaces), strict=True
    ):
        yield "networkInterfaces must include a primary interface with interfaceType='interface'"
    cards = [interface["networkCardIndex"] for interface in interfaces if interface["interfaceType"] == "efa-only"]
    if len(set(places)) < len(places) or len(set(cards)) < len(cards):
        yield (
            "networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most "
            "one efa device per network card"
        )


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
