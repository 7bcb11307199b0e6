"""EKS managed node groups, joined with their launch templates.

The component ``eks.ManagedNodeGroup`` counts as the node group it makes, as long as nothing has expanded it.
"""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.pool import (
    Family,
    Image,
    ImageChoice,
    ImageSource,
    Kubelet,
    Pool,
    PoolKind,
    Size,
    family_of_alias,
    family_of_ami_type,
    looks_like_gpu_type,
)
from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu.planning.volume import read_launch_template_volumes
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.kubelets import told_kubelet
from eks_gpu_policies.readers.launch_templates import (
    Template,
    own_family,
    own_image,
    properties_of,
    template_of,
    types_of,
    urn_of,
)
from eks_gpu_policies.readers.user_data import of_group
from eks_gpu_policies.resource import Resource

_CAPACITY: Final = {"SPOT": "spot", "ON_DEMAND": "on-demand", "CAPACITY_BLOCK": "reserved"}
_DEFAULT_CAPACITY: Final = "ON_DEMAND"
_COMPONENT_SIZE: Final = Size(minimum=1, desired=2, maximum=2)
"""What ``eks.ManagedNodeGroup`` asks for where it is not given a size (pulumi-eks 4.4.0, nodejs/eks/nodes/nodegroup.ts,
checked 2026-11-21)."""


def node_groups(program: Program) -> tuple[Resource, ...]:
    """Return the node groups of a program, and the components that nobody has made one of yet."""
    unexpanded = (
        component
        for component in program.of_type(tokens.MANAGED_NODE_GROUP)
        if component.props and not program.contains(component, tokens.NODE_GROUP)
    )
    return (*program.of_type(tokens.NODE_GROUP), *unexpanded)


def read_node_group(group: Resource, program: Program) -> Pool:
    """Read a node group. Where its launch template is not in the stack, what that would say is not known."""
    view = group.view
    template = attempt(lambda: template_of(group, "launchTemplate", view["launchTemplate"], program))
    types = attempt(lambda: view["instanceTypes"].texts() if view["instanceTypes"].exists else types_of(template))
    return Pool(
        urn=group.urn,
        name=group.name,
        kind=PoolKind.NODE_GROUP,
        types=types if isinstance(types, NotKnown) else listed(types),
        unlisted=() if isinstance(types, NotKnown) else unlisted(types),
        by_omission=False,
        requirements=(),
        labels=attempt(lambda: {**_given_by_eks(view), **view["labels"].text_map()}),
        taints=attempt(lambda: read_taints(view["taints"])),
        capacity_types=attempt(lambda: _capacity_types(view)),
        size=attempt(lambda: _size(group)),
        limits={},
        image=attempt(lambda: _image(view, template)),
        volumes=attempt(lambda: read_launch_template_volumes(properties_of(template)["blockDeviceMappings"])),
        disk_size_gib=attempt(view["diskSize"].number),
        instance_store_raid0=attempt(lambda: of_group(view, properties_of(template)).raid_holds_images),
        kubelet=Kubelet()
        if isinstance(template, NotKnown)
        else attempt(lambda: told_kubelet(of_group(view, properties_of(template)))),
        template=urn_of(template),
    )


def _given_by_eks(view: View) -> dict[str, str]:
    """Return the labels that EKS puts on the group's nodes by itself, as far as they are known."""
    name = attempt(view["nodeGroupName"].text)
    return {labels.EKS_NODE_GROUP: name} if isinstance(name, str) else {}


def listed(names: tuple[str, ...]) -> tuple[InstanceType, ...]:
    """Return those instance types that are GPU types of the catalogue."""
    return tuple(CATALOGUE[name] for name in names if name in CATALOGUE)


def unlisted(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those instance types that look like GPU types and are not in the catalogue."""
    return tuple(name for name in names if name not in CATALOGUE and looks_like_gpu_type(name))


def read_taints(place: View) -> tuple[Taint, ...]:
    """Read taints in Kubernetes' or EKS's spelling; one without key or with no effect that exists is left out."""
    effects = {spelling: effect for effect in Effect for spelling in (effect.value, effect.eks)}
    found = []
    for item in place.items():
        key, effect = item["key"].text(), effects.get(item["effect"].text() or "")
        if key is not None and effect is not None:
            found.append(Taint(key, item["value"].text() or "", effect))
    return tuple(found)


def _capacity_types(view: View) -> frozenset[str]:
    name = view["capacityType"].text() or _DEFAULT_CAPACITY
    return frozenset({_CAPACITY.get(name, name)})


def _size(group: Resource) -> Size:
    scaling = group.view["scalingConfig"]
    unsaid = _COMPONENT_SIZE if group.type == tokens.MANAGED_NODE_GROUP else Size()
    return Size(
        minimum=_said(scaling["minSize"], unsaid.minimum),
        desired=_said(scaling["desiredSize"], unsaid.desired),
        maximum=_said(scaling["maxSize"], unsaid.maximum),
    )


def _said(size: View, unsaid: int | None) -> int | None:
    number = size.integer()
    return unsaid if number is None else number


def _image(view: View, template: Template) -> Image:
    ami_type = view["amiType"]
    own = view["amiId"] if view["amiId"].exists else properties_of(template)["imageId"]
    if own.exists:
        return Image(
            family=attempt(lambda: family_of_ami_type(ami_type.text()) if ami_type.exists else own_family(own)),
            choices=(own_image(own),),
        )
    release = view["releaseVersion"]
    choice = (
        ImageChoice(ImageSource.RELEASE, attempt(lambda: release.text() or ""))
        if release.exists and not has_component_user_data(view)
        else ImageChoice(ImageSource.LATEST, attempt(lambda: ami_type.text() or "the default AMI type"))
    )
    return Image(family=attempt(lambda: _family(view)), choices=(choice,))


def has_component_user_data(view: View) -> bool:
    """Return whether ``eks.ManagedNodeGroup`` writes user data of its own: it then takes the newest image by itself.

    A ``releaseVersion`` beside it is dropped (pulumi-eks 4.4.0, nodejs/eks/nodes/nodegroup.ts, checked 2026-11-21).
    """
    return any(view[key].exists for key in _COMPONENT_USER_DATA)


_COMPONENT_USER_DATA: Final = (
    "kubeletExtraArgs",
    "bootstrapExtraArgs",
    "bottlerocketSettings",
    "nodeadmExtraOptions",
    "userData",
)


def _family(view: View) -> Family | None:
    """Return the family of the AMI type, or of the operating system that ``eks.ManagedNodeGroup`` takes instead."""
    system = view["operatingSystem"].text()
    if system is not None and not view["amiType"].exists:
        return family_of_alias(system) or family_of_ami_type(None)
    return family_of_ami_type(view["amiType"].text())
