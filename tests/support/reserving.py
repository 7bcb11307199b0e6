"""Programs around reserved capacity, for the tests of NODE010: pools of p5 and what they are launched into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eks_gpu.facts import labels
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed

ID = {"capacityReservationTarget": {"capacityReservationId": "cr-0123"}}
GROUP_ARN = {"capacityReservationTarget": {"capacityReservationResourceGroupArn": "arn:aws:resource-groups:x"}}
SUBNETS = {
    zone: examples.resource(tokens.SUBNET, zone, {"availabilityZone": f"us-east-1{zone}", "tags": {"zone": zone}})
    for zone in "abc"
}
CLUSTER = examples.resource(tokens.PLACEMENT_GROUP, "together", {"name": "together", "strategy": "cluster"})


def reservation(name: str = "held", /, *, group: Resource | None = None, **props: object) -> Resource:
    held = {"instanceType": "p5.48xlarge", "availabilityZone": "us-east-1a", "instanceCount": 2, **props}
    links = {} if group is None else {"placementGroupArn": (group,)}
    return examples.resource(
        tokens.CAPACITY_RESERVATION, name, {key: value for key, value in held.items() if value is not None}, **links
    )


def group(
    *sources: Resource,
    zones: str = "a",
    target: Mapping[str, object] | None = None,
    placed: Sequence[Resource] = (),
    template: Mapping[str, object] | None = None,
    **props: object,
) -> tuple[Resource, ...]:
    """Return a group of p5 in ``zones`` that is launched into ``sources``."""
    sound = examples.launch_template(capacityReservationSpecification=target or ID, **(template or {}))
    lt = examples.resource(
        tokens.LAUNCH_TEMPLATE,
        "gpu",
        sound.props,
        capacityReservationSpecification=sources,
        placement=placed,
    )
    subnets = tuple(SUBNETS[zone] for zone in zones)
    settings = {
        "instanceTypes": ["p5.48xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
        "subnetIds": [f"subnet-{zone}" for zone in zones],
        **props,
    }
    return (*sources, *placed, lt, *subnets, examples.node_group(lt, "train", {"subnetIds": subnets}, **settings))


def pool(
    *sources: Resource,
    terms: Sequence[object] = ({"id": "cr-0123"},),
    capacity: Sequence[str] = ("reserved",),
    zones: Sequence[str] | None = None,
    **spec: object,
) -> tuple[Resource, ...]:
    sound = examples.node_class(
        "p5",
        capacityReservationSelectorTerms=list(terms),
        subnetSelectorTerms=[{"tags": {"zone": "*"}}],
        **spec,
    )
    node_class = examples.resource(tokens.NODE_CLASS, "p5", sound.props, spec=sources)
    required: list[object] = [
        {"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["p5.48xlarge"]},
        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": list(capacity)},
    ]
    if zones is not None:
        required.append({"key": labels.ZONE, "operator": "In", "values": list(zones)})
    nodes = changed(examples.node_pool("p5"), "spec.template.spec.requirements", required)
    return (*sources, *SUBNETS.values(), node_class, nodes)


def of_group(*held: Resource, zones: str = "a", **props: object) -> tuple[Resource, ...]:
    """Return a group that is launched into the resource group of ``held``."""
    of_all = examples.resource(tokens.RESOURCE_GROUP, "reserved", {})
    members = [
        examples.resource(tokens.RESOURCE_GROUP_MEMBER, each.name, {}, groupArn=(of_all,), resourceArn=(each,))
        for each in held
    ]
    return (*held, *members, *group(of_all, target=GROUP_ARN, zones=zones, **props))  # type: ignore[arg-type]  # properties by name
