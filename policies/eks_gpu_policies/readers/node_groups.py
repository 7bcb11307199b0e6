"""EKS managed node groups, joined with their launch templates."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.facts.taints import Effect, Taint
from eks_gpu.planning.pool import (
    Family,
    Image,
    ImageChoice,
    ImageSource,
    Pool,
    PoolKind,
    Size,
    family_of_ami_type,
    looks_like_gpu_type,
)
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt
from eks_gpu.planning.volume import read_launch_template_volumes
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

_CAPACITY: Final = {"SPOT": "spot", "ON_DEMAND": "on-demand", "CAPACITY_BLOCK": "reserved"}
_DEFAULT_CAPACITY: Final = "ON_DEMAND"

_RAID0: Final = re.compile(r"strategy:\s*[\"']?RAID0")
"""NodeConfig's ``localStorage.strategy`` in user data."""


def read_node_group(group: Resource, program: Program) -> Pool:
    """Read a node group. Where its launch template is not in the stack, what that would say is not known."""
    view = group.view
    template = attempt(lambda: launch_template_of(group, program))
    types = attempt(lambda: _instance_types(view, template))
    return Pool(
        urn=group.urn,
        name=group.name,
        kind=PoolKind.NODE_GROUP,
        types=types if isinstance(types, NotKnown) else _listed(types),
        unlisted=() if isinstance(types, NotKnown) else unlisted(types),
        by_omission=False,
        requirements=(),
        labels=attempt(view["labels"].text_map),
        taints=attempt(lambda: read_taints(view["taints"])),
        capacity_types=attempt(lambda: _capacity_types(view)),
        size=attempt(lambda: _size(view["scalingConfig"])),
        limits={},
        image=attempt(lambda: _image(view, template)),
        volumes=attempt(lambda: read_launch_template_volumes(_of(template)["blockDeviceMappings"])),
        disk_size_gib=attempt(view["diskSize"].number),
        instance_store_raid0=attempt(lambda: has_raid0(_of(template)["userData"])),
        template=_template_urn(template),
    )


def launch_template_of(group: Resource, program: Program) -> Resource | None:
    """Return the launch template of a node group: by what the property was computed from, else by its literal name.

    Raises ``NotKnownError`` when the node group has one that is not, or not plainly, in the stack.
    """
    place = group.view["launchTemplate"]
    if not place.exists:
        return None
    sources = program.computed_from(group, "launchTemplate", tokens.LAUNCH_TEMPLATE)
    if len(sources) == 1:
        return sources[0]
    name = place["name"].text()
    named = [
        template
        for template in program.of_type(tokens.LAUNCH_TEMPLATE)
        if name is not None and attempt(template.view["name"].text) == name
    ]
    if len(named) == 1:
        return named[0]
    raise NotKnownError(place.not_known("the launch template is not in the stack"))


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


def has_raid0(user_data: View) -> bool:
    """Return whether user data, plain or in base64, makes a RAID of the local disks for images."""
    text = user_data.text()
    if text is None:
        return False
    return _RAID0.search(decoded(text)) is not None


def decoded(user_data: str) -> str:
    """Return user data as text: launch templates carry it in base64."""
    try:
        return base64.b64decode(user_data, validate=True).decode()
    except (binascii.Error, ValueError):
        return user_data


def _template_urn(template: Resource | NotKnown | None) -> str | NotKnown | None:
    return template if template is None or isinstance(template, NotKnown) else template.urn


def _of(template: Resource | NotKnown | None) -> View:
    """Return the template's properties: nothing without one, an error when it is not known."""
    if isinstance(template, NotKnown):
        raise NotKnownError(template)
    return View(None, "") if template is None else template.view


def _instance_types(view: View, template: Resource | NotKnown | None) -> tuple[str, ...]:
    if view["instanceTypes"].exists:
        return view["instanceTypes"].texts()
    properties = _of(template)
    if properties["instanceRequirements"].exists:
        raise NotKnownError(properties["instanceRequirements"].not_known("chosen by attributes, not by name"))
    named = properties["instanceType"].text()
    return () if named is None else (named,)


def _listed(names: tuple[str, ...]) -> tuple[InstanceType, ...]:
    return tuple(CATALOGUE[name] for name in names if name in CATALOGUE)


def _capacity_types(view: View) -> frozenset[str]:
    name = view["capacityType"].text() or _DEFAULT_CAPACITY
    return frozenset({_CAPACITY.get(name, name)})


def _size(scaling: View) -> Size:
    return Size(
        minimum=scaling["minSize"].integer(),
        desired=scaling["desiredSize"].integer(),
        maximum=scaling["maxSize"].integer(),
    )


def _image(view: View, template: Resource | NotKnown | None) -> Image:
    own = _of(template)["imageId"]
    ami_type = view["amiType"]
    if own.exists:
        family: Family | NotKnown | None = attempt(
            lambda: family_of_ami_type(ami_type.text()) if ami_type.exists else None
        )
        return Image(family=family, choices=(_own_image(own),))
    release = view["releaseVersion"]
    choice = (
        ImageChoice(ImageSource.RELEASE, attempt(lambda: release.text() or ""))
        if release.exists
        else ImageChoice(ImageSource.LATEST, attempt(lambda: ami_type.text() or "the default AMI type"))
    )
    return Image(family=attempt(lambda: family_of_ami_type(ami_type.text())), choices=(choice,))


def _own_image(image_id: View) -> ImageChoice:
    value = attempt(lambda: image_id.text() or "")
    if isinstance(value, str) and value.startswith(_RESOLVED_BY_SSM):
        return ImageChoice(ImageSource.SSM_PARAMETER, value)
    return ImageChoice(ImageSource.ID, value)


_RESOLVED_BY_SSM: Final = "resolve:ssm:"
"""EC2 then looks the image up at every launch."""
