"""Auto Scaling groups whose instances join an EKS cluster by themselves.

Labels and taints are what their user data tells the kubelet.
"""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.pool import Image, Pool, PoolKind, Size
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu.planning.volume import read_launch_template_volumes
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.kubelets import told_kubelet
from eks_gpu_policies.readers.launch_templates import (
    own_family,
    own_image,
    properties_of,
    template_of,
    types_of,
    urn_of,
)
from eks_gpu_policies.readers.node_groups import listed, unlisted
from eks_gpu_policies.readers.node_registration import registered_labels, registered_taints
from eks_gpu_policies.readers.user_data import UserData, of_group
from eks_gpu_policies.resource import Resource


def self_managed_groups(program: Program) -> tuple[Resource, ...]:
    """Return the Auto Scaling groups that belong to a cluster, by the tag that makes them its nodes or as its parts."""
    return tuple(
        group
        for group in program.of_type(tokens.AUTO_SCALING_GROUP)
        if _joins_a_cluster(group, program) or _is_part(group, program)
    )


def _is_part(group: Resource, program: Program) -> bool:
    """Return whether a component of nodes has made a group: its tags may hold a cluster's name not known yet."""
    parent = program.by_urn.get(group.parent or "")
    return parent is not None and parent.type in tokens.SELF_MANAGED


def _joins_a_cluster(group: Resource, program: Program) -> bool:
    """Return whether a tag names a cluster, or is made from the name of one that is not known yet."""
    tags = attempt(_tags, group)
    if isinstance(tags, NotKnown):
        return bool(program.computed_from(group, "tags", *tokens.CLUSTERS))
    return any(key.startswith(f"{labels.CLUSTER_TAG_PREFIX}/") for key in tags)


def _tags(group: Resource) -> tuple[str, ...]:
    return tuple(tag["key"].text() or "" for tag in group.view["tags"].items())


def read_self_managed(group: Resource, program: Program) -> Pool:
    """Read an Auto Scaling group with its launch template."""
    mixed = group.view["mixedInstancesPolicy"]
    prop, place = ("launchTemplate", group.view["launchTemplate"])
    if not place.exists and mixed.exists:
        prop, place = "mixedInstancesPolicy", mixed.at("launchTemplate", "launchTemplateSpecification")
    template = attempt(lambda: template_of(group, prop, place, program))
    types = attempt(lambda: _overrides(mixed) or types_of(template))
    told = attempt(lambda: _told(group, properties_of(template)))
    return Pool(
        urn=group.urn,
        name=group.name,
        kind=PoolKind.SELF_MANAGED,
        types=types if isinstance(types, NotKnown) else listed(types),
        unlisted=() if isinstance(types, NotKnown) else unlisted(types),
        by_omission=False,
        requirements=(),
        labels=attempt(lambda: registered_labels(need(told), group.urn)),
        taints=attempt(lambda: registered_taints(need(told), group.urn)),
        capacity_types=attempt(lambda: _mixed(mixed) if mixed.exists else _bought(properties_of(template))),
        size=attempt(lambda: _size(group.view)),
        limits={},
        image=attempt(lambda: _image(properties_of(template)["imageId"])),
        volumes=attempt(lambda: read_launch_template_volumes(properties_of(template)["blockDeviceMappings"])),
        disk_size_gib=None,
        instance_store_raid0=attempt(lambda: need(told).raid_holds_images),
        kubelet=attempt(lambda: told_kubelet(need(told))),
        template=urn_of(template),
    )


_MARKETS: Final = {None: "on-demand", "spot": "spot", "capacity-block": "reserved"}
_EVERYTHING: Final = 100
"""Percent of on-demand instances in a mixed group that says nothing (EC2 Auto Scaling API reference,
InstancesDistribution, checked 2026-11-21)."""


def _bought(template: View) -> frozenset[str]:
    market = template.at("instanceMarketOptions", "marketType").text()
    return frozenset({_MARKETS.get(market, "on-demand")})


def _mixed(policy: View) -> frozenset[str]:
    distribution = policy["instancesDistribution"]
    said = distribution["onDemandPercentageAboveBaseCapacity"].number()
    share = _EVERYTHING if said is None else said
    base = distribution["onDemandBaseCapacity"].number() or 0
    spot = {"spot"} if share < _EVERYTHING else set()
    return frozenset(spot | ({"on-demand"} if share > 0 or base > 0 else set()))


def _told(group: Resource, template: View) -> UserData:
    """Return the user data of a group; without any no node would join, so that somebody else tells them."""
    if not template["userData"].exists:
        raise NotKnownError(
            NotKnown(group.urn, "userData", "self-managed nodes are told their labels and taints there")
        )
    return of_group(group.view, template)


def _overrides(mixed: View) -> tuple[str, ...]:
    named = (override["instanceType"].text() for override in mixed.at("launchTemplate", "overrides").items())
    return tuple(name for name in named if name is not None)


def _size(view: View) -> Size:
    return Size(
        minimum=view["minSize"].integer(), desired=view["desiredCapacity"].integer(), maximum=view["maxSize"].integer()
    )


def _image(image_id: View) -> Image:
    return Image(family=attempt(own_family, image_id), choices=(own_image(image_id),))
