"""What the library emits, before the API server: schemas, CEL rules, admission. Every verdict is a dry run."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import pytest

from eks_gpu.facts import labels
from tests.e2e.custom_resources import variety
from tests.e2e.custom_resources.judge import Judge
from tests.support.crds import cel_problems, schema_problems
from tests.support.manifests import Manifest, manifests

REQUIREMENTS: Final = "template.spec.requirements"
IMAGES: Final = "amiSelectorTerms"
INTERFACES: Final = "networkInterfaces"
RESTRICTED_TAGS: Final = (*sorted(labels.KARPENTER_OWN_TAGS), f"{labels.CLUSTER_TAG_PREFIX}/prod")

BROKEN_POOLS: Final[Mapping[str, tuple[str, Any]]] = {
    "a label of Karpenter's AWS domain that it does not know": (
        REQUIREMENTS,
        [{"key": "karpenter.k8s.aws/instance-pods", "operator": "Exists"}],
    ),
    "the same, set on nodes": ("template.metadata.labels", {"karpenter.k8s.aws/instance-colour": "red"}),
    "a label of Karpenter's own domain": (REQUIREMENTS, [{"key": "karpenter.sh/colour", "operator": "Exists"}]),
    "a domain below it": ("template.metadata.labels", {"my.karpenter.sh/colour": "red"}),
    "the pool's own name": ("template.metadata.labels", {labels.KARPENTER_NODEPOOL: "mine"}),
    "one host": (REQUIREMENTS, [{"key": labels.HOSTNAME, "operator": "In", "values": ["here"]}]),
    "In with no value": (REQUIREMENTS, [{"key": labels.ZONE, "operator": "In", "values": []}]),
    "Gt with two values": (REQUIREMENTS, [{"key": labels.INSTANCE_CPU, "operator": "Gt", "values": ["4", "8"]}]),
    "Lt with a negative value": (REQUIREMENTS, [{"key": labels.INSTANCE_CPU, "operator": "Lt", "values": ["-1"]}]),
    "more values wanted than named": (
        REQUIREMENTS,
        [{"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.xlarge"], "minValues": 2}],
    ),
    "a budget with a schedule and no duration": ("disruption.budgets", [{"nodes": "0", "schedule": "0 8 * * *"}]),
    "a budget with a duration and no schedule": ("disruption.budgets", [{"nodes": "0", "duration": "8h"}]),
    "a static pool with a weight": ("replicas", 2),
}
"""What is put into the spec of a NodePool, and where."""

BROKEN_CLASSES: Final[Mapping[str, tuple[str, Any]]] = {
    "an alias beside another term": (IMAGES, [{"alias": "al2023@latest"}, {"id": "ami-0"}]),
    "an alias with a name": (IMAGES, [{"alias": "al2023@latest", "name": "mine"}]),
    "an image by id and owner": (IMAGES, [{"id": "ami-0", "owner": "self"}]),
    "an image by id, of no family": (IMAGES, [{"id": "ami-0"}]),
    "an alias of another family": ("amiFamily", "Bottlerocket"),
    "a role and an instance profile": ("instanceProfile", "node-profile"),
    "no subnet": ("subnetSelectorTerms", []),
    "a subnet by id and tags": ("subnetSelectorTerms", [{"id": "subnet-0a", "tags": {"tier": "private"}}]),
    "no security group": ("securityGroupSelectorTerms", []),
    "a security group by id and name": ("securityGroupSelectorTerms", [{"id": "sg-0a", "name": "nodes"}]),
    "a reservation by id and owner": (
        "capacityReservationSelectorTerms",
        [{"id": "cr-0123456789abcdef0", "ownerID": "123456789012"}],
    ),
    # All of no terms are mixed, so the server's rule holds.
    "no reservation": ("capacityReservationSelectorTerms", []),
    "images collected up to more than where it begins": (
        "kubelet",
        {"imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 80},
    ),
    "a volume of no size": ("blockDeviceMappings", [{"deviceName": "/dev/xvda", "ebs": {"volumeType": "gp3"}}]),
    "no interface for IP traffic": (
        INTERFACES,
        [{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}],
    ),
    "two interfaces in one place": (
        INTERFACES,
        [{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}] * 2,
    ),
    **{f"the tag {tag}": ("tags", {tag: "mine"}) for tag in RESTRICTED_TAGS},
}
"""The same for an EC2NodeClass."""

TAKEN_CLASSES: Final[Mapping[str, tuple[str, Any]]] = {
    "one subnet of two by id and tags": (
        "subnetSelectorTerms",
        [{"id": "subnet-0a", "tags": {"tier": "private"}}, {"id": "subnet-0b"}],
    ),
    "images collected from a point on, with no end": ("kubelet", {"imageGCHighThresholdPercent": 70}),
    "a tag of one's own": ("tags", {"karpenter.sh/owner": "mine"}),
    "an alias and a family of one's own": ("amiFamily", "Custom"),
}
"""What looks wrong, and is not."""

MISSPELT: Final = {
    "NodePool": ("template.spec", "expireAftr"),
    "EC2NodeClass": ("metadataOptions", "httpTokns"),
    "ServiceMonitor": ("endpoints.0", "intervall"),
    "PrometheusRule": ("groups.0.rules.0", "expression"),
    "Deployment": ("template.spec.containers.0", "imagePullPolicies"),
    "PersistentVolumeClaim": ("resources", "request"),
    "PodDisruptionBudget": ("", "minAvailible"),
}
"""A field that a kind does not have, and where it stands."""


@pytest.fixture(scope="module")
def pools() -> list[Manifest]:
    """Every kind of pool."""
    return manifests(variety.pools())


@pytest.fixture(scope="module")
def prod() -> list[Manifest]:
    """The largest stack."""
    return manifests(variety.stack("Pulumi.prod.yaml"))


def test_every_node_pool_and_node_class_that_settings_can_make_is_accepted(judge: Judge, pools: list[Manifest]) -> None:
    assert {each["kind"] for each in pools} == {"NodePool", "EC2NodeClass", "PriorityClass", "Deployment"}
    assert judge.refusals(pools) == []
    assert judge.refusals_of_pods(pools) == [], "the pods that keep nodes warm"


@pytest.mark.parametrize("file", variety.STACKS)
def test_every_object_of_a_stack_is_accepted_and_so_are_its_pods(judge: Judge, file: str) -> None:
    objects = manifests(variety.stack(file))

    assert {"NodePool", "EC2NodeClass", "ServiceMonitor", "PrometheusRule", "PersistentVolumeClaim"} <= {
        each["kind"] for each in objects
    }
    assert judge.refusals(objects) == []
    assert judge.refusals_of_pods(objects) == []


@pytest.mark.parametrize("name", variety.PLATFORMS)
def test_every_object_of_a_platform_with_other_settings_is_accepted(judge: Judge, name: str) -> None:
    objects = manifests(variety.platform(variety.PLATFORMS[name]))

    assert judge.refusals(objects) == []
    assert judge.refusals_of_pods(objects) == []


@pytest.mark.parametrize("kind", MISSPELT)
def test_a_misspelt_field_is_refused_by_its_name(judge: Judge, prod: list[Manifest], kind: str) -> None:
    path, field = MISSPELT[kind]
    original = next(each for each in prod if each["kind"] == kind)
    judge.refusals(prod)

    said = judge.refusal(_with(original, f"{path}.{field}".removeprefix("."), "x"))

    assert field in said


@pytest.mark.parametrize("example", BROKEN_POOLS)
def test_a_broken_node_pool_is_refused_in_the_words_of_our_own_check(
    judge: Judge, pools: list[Manifest], example: str
) -> None:
    assert _agreed(judge, _with(_first(pools, "NodePool"), *BROKEN_POOLS[example]))


@pytest.mark.parametrize("example", BROKEN_CLASSES)
def test_a_broken_node_class_is_refused_in_the_words_of_our_own_check(
    judge: Judge, pools: list[Manifest], example: str
) -> None:
    assert _agreed(judge, _with(_first(pools, "EC2NodeClass"), *BROKEN_CLASSES[example]))


@pytest.mark.parametrize("example", TAKEN_CLASSES)
def test_what_only_looks_broken_is_accepted_by_both(judge: Judge, pools: list[Manifest], example: str) -> None:
    node_class = _with(_first(pools, "EC2NodeClass"), *TAKEN_CLASSES[example])

    assert judge.refusal(node_class) == ""
    assert [*schema_problems(node_class), *cel_problems(node_class)] == []


def _agreed(judge: Judge, broken: Manifest) -> list[str]:
    """Return the reasons for which server and check refuse an object, which must be the same."""
    said = judge.refusal(broken)
    problems = cel_problems(broken)

    assert schema_problems(broken) == [], "only CEL states it"
    assert [problem for problem in problems if problem not in said] == [], said
    return problems


def _first(objects: list[Manifest], kind: str) -> Manifest:
    return next(each for each in objects if each["kind"] == kind)


def _with(original: Manifest, path: str, value: object) -> Manifest:
    """Return an object with another value at a path in its spec."""
    changed = copy.deepcopy(original)
    place: Any = changed["spec"]
    *parents, last = path.split(".")
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[last] = value
    return changed
