"""Karpenter node pools, joined with their EC2NodeClasses."""

from __future__ import annotations

from functools import partial
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.facts.taints import GPU
from eks_gpu.planning.images.public_image import public_image
from eks_gpu.planning.instance_labels import NAMES_INSTANCES, instance_labels
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
    looks_like_gpu_family,
)
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt
from eks_gpu.planning.requirements import Requirement, narrowed, read_requirements
from eks_gpu.planning.volume import read_node_class_volumes
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.kubelets import read_kubelet
from eks_gpu_policies.readers.node_groups import read_taints, unlisted
from eks_gpu_policies.readers.user_data import read_user_data
from eks_gpu_policies.resource import Resource

_CAPACITY_TYPES: Final = frozenset({"on-demand", "spot", "reserved"})
_NAMING: Final = frozenset({"In", "Exists", "Gt", "Gte"})
"""Operators that ask for something, rather than forbid something else."""


def read_node_pool(pool: Resource, program: Program) -> Pool:
    """Read a node pool. Where its EC2NodeClass is not in the stack, what that would say is not known."""
    spec = pool.view["spec"]
    template = spec["template"]
    node = template["spec"]
    requirements = attempt(lambda: read_requirements(node["requirements"].items()))
    node_class = attempt(lambda: node_class_of(pool, program))
    return Pool(
        urn=pool.urn,
        name=pool.name,
        kind=PoolKind.NODE_POOL,
        types=requirements if isinstance(requirements, NotKnown) else _may_buy(requirements),
        unlisted=() if isinstance(requirements, NotKnown) else _unlisted(requirements),
        by_omission=attempt(lambda: _by_omission(spec, requirements)) is True,
        requirements=requirements,
        labels=attempt(lambda: {**_given_to_nodes(pool), **template["metadata"]["labels"].text_map()}),
        taints=attempt(lambda: read_taints(node["taints"])),
        capacity_types=requirements
        if isinstance(requirements, NotKnown)
        else narrowed(requirements, labels.CAPACITY_TYPE, _CAPACITY_TYPES),
        size=attempt(lambda: Size(desired=spec["replicas"].integer(), maximum=spec["limits"]["nodes"].integer())),
        limits=attempt(spec["limits"].text_map),
        weight=attempt(spec["weight"].integer),
        image=attempt(lambda: read_image(_of(node_class))),
        volumes=attempt(lambda: read_node_class_volumes(_of(node_class).at("spec", "blockDeviceMappings"))),
        disk_size_gib=None,
        instance_store_raid0=attempt(lambda: _raid0(_of(node_class))),
        kubelet=Kubelet()
        if isinstance(node_class, NotKnown)
        else attempt(read_kubelet, node_class.view.at("spec", "kubelet")),
        template=node_class if isinstance(node_class, NotKnown) else node_class.urn,
    )


def node_class_of(pool: Resource, program: Program) -> Resource:
    """Return the EC2NodeClass of a node pool: by its literal name, else by what the reference was computed from.

    Raises ``NotKnownError`` when it is not in the stack.
    """
    reference = pool.view.at("spec", "template", "spec", "nodeClassRef")
    place = reference["name"]
    if reference["group"].text() == labels.EKS_AUTO_DOMAIN:
        raise NotKnownError(place.not_known("EKS Auto Mode decides it"))
    name = attempt(place.text)
    found = program.named(tokens.NODE_CLASS, name) if isinstance(name, str) else ()
    found = found or program.computed_from(pool, "spec", tokens.NODE_CLASS)
    if len(found) == 1:
        return found[0]
    raise NotKnownError(place.not_known("the EC2NodeClass is not in the stack"))


def read_image(node_class: View) -> Image:
    """Read what an EC2NodeClass boots."""
    spec = node_class["spec"]
    terms = spec["amiSelectorTerms"].items()
    return Image(
        family=attempt(lambda: _family(spec, terms)),
        choices=tuple(_choice(term) for term in terms) or (_newest(spec),),
    )


def _newest(spec: View) -> ImageChoice:
    """Return what a class without any term boots, where the API still takes one (v1beta1)."""
    return ImageChoice(ImageSource.LATEST, attempt(lambda: spec["amiFamily"].text() or "an unknown family"))


def _choice(term: View) -> ImageChoice:
    """Read one AMI selector term: the field that narrows most says how the image is chosen."""
    for source, key in _TERM_FIELDS:
        if term[key].exists:
            return ImageChoice(source, attempt(partial(_text, term[key])))
    return ImageChoice(ImageSource.TAGS, attempt(lambda: ", ".join(key for key, _ in term["tags"].entries())))


_TERM_FIELDS: Final = (
    (ImageSource.ALIAS, "alias"),
    (ImageSource.ID, "id"),
    (ImageSource.SSM_PARAMETER, "ssmParameter"),
    (ImageSource.NAME, "name"),
)


def _text(place: View) -> str:
    return place.text() or ""


def _of(node_class: Resource | NotKnown) -> View:
    if isinstance(node_class, NotKnown):
        raise NotKnownError(node_class)
    return node_class.view


def _family(spec: View, terms: tuple[View, ...]) -> Family | None:
    """Return the family of an image: by its alias, as the class says, or by the public name that chooses it."""
    for term in terms:
        alias = term["alias"].text()
        if alias is not None:
            return family_of_alias(alias)
    said = family_of_alias(spec["amiFamily"].text() or "")
    if said is not None:
        return said
    named = [public_image(term["name"].text() or term["ssmParameter"].text() or "") for term in terms]
    families = {None if image is None else image.family for image in named}
    return families.pop() if len(families) == 1 else None


def _raid0(node_class: View) -> bool:
    spec = node_class["spec"]
    return spec["instanceStorePolicy"].text() == "RAID0" or read_user_data(spec["userData"]).raid_holds_images


def _may_buy(requirements: tuple[Requirement, ...]) -> tuple[InstanceType, ...]:
    return tuple(instance for instance in CATALOGUE.values() if _admitted(instance, requirements))


def _admitted(instance: InstanceType, requirements: tuple[Requirement, ...]) -> bool:
    known = instance_labels(instance)
    return all(requirement.admits(known[requirement.key]) for requirement in requirements if requirement.key in known)


def _given_to_nodes(pool: Resource) -> dict[str, str]:
    """Return the labels that Karpenter puts on the pool's nodes by itself, as far as they are known."""
    name = attempt(pool.kubernetes_name)
    named = {labels.KARPENTER_NODEPOOL: name} if isinstance(name, str) else {}
    return {**named, **_given_by_auto_mode(pool)}


def _given_by_auto_mode(pool: Resource) -> dict[str, str]:
    group = pool.view.at("spec", "template", "spec", "nodeClassRef", "group").text()
    return {labels.EKS_AUTO_COMPUTE_TYPE: labels.EKS_AUTO_COMPUTE} if group == labels.EKS_AUTO_DOMAIN else {}


def _unlisted(requirements: tuple[Requirement, ...]) -> tuple[str, ...]:
    """Return the instance types and families that are asked for by name, look like GPUs and are not known."""
    types = _named(requirements, labels.INSTANCE_TYPE)
    if types:
        return unlisted(types)
    families = _named(requirements, labels.INSTANCE_FAMILY)
    return tuple(name for name in families if name not in _KNOWN_FAMILIES and looks_like_gpu_family(name))


_KNOWN_FAMILIES: Final = frozenset(instance.family for instance in CATALOGUE.values())


def _named(requirements: tuple[Requirement, ...], key: str) -> tuple[str, ...]:
    return tuple(
        value
        for requirement in requirements
        if requirement.key == key and requirement.operator == "In"
        for value in requirement.values
    )


def _by_omission(spec: View, requirements: tuple[Requirement, ...] | NotKnown) -> bool:
    """Return whether nothing about the pool says that GPUs are meant: no requirement, limit or taint."""
    if isinstance(requirements, NotKnown):
        return False
    asked = any(item.key in NAMES_INSTANCES and item.operator in _NAMING for item in requirements)
    limited = any(resources.is_gpu(key) for key, _ in spec["limits"].entries())
    tainted = any(taint.key == GPU.key for taint in read_taints(spec.at("template", "spec", "taints")))
    return not (asked or limited or tainted)
