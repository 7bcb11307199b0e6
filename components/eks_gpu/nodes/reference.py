"""How GPU nodes start and what mends them, as a page: rendered by what renders them for real."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import ami, node_repair, xid
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.nodes import user_data
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import Family, NodeImage

_SHOWN: Final = "g5.2xlarge"
"""The type whose user data is shown: one with a disk of its own."""

_INTRODUCTION: Final = """\
# Nodes

Generated from the code: which images GPU nodes boot, what they are told, and what EKS does when a GPU is unwell.

A node group has a fixed size, and only Karpenter scales ([why](decisions/0010-node-groups-have-a-fixed-size.md)).
EKS adds its own part to the user data below, Karpenter its own: cluster, labels and taints. The same text serves both.

## Images

Pinned by the library; `image.release` tries another on one group or pool first, and a changed pin rolls the nodes: a
group one node at a time, a node pool within its disruption budgets. Kernel and driver come with the image and are never
upgraded on a node: where a driver does not load, the node is replaced.
"""

_BOOTSTRAP: Final = """
## User data

What is set beside the image's defaults: when unused images go (the disk is 80 % full, or they are a week old; kubelet
never removes the pinned pause image), the local disks as one for images and scratch, and that a pod sees the GPUs that
it asked for and no other. `image` adds registry mirrors, a proxy, files and reservations of kubelet.

There is no package upgrade in it, and no timer that prunes images: kubelet does that, by age.
"""

_REPAIR: Final = """
## Repair

What `node_repair` of a group does when the node monitoring agent says that a GPU is unwell. A reboot resets every GPU
of the node and keeps the instance. Karpenter always replaces.

| the agent's reason | meaning | repair |
|-|-|-|
"""


def nodes_page() -> str:
    """Return the page, in Markdown."""
    return "".join((_INTRODUCTION, *_images(), _BOOTSTRAP, *_rendered(), _REPAIR, *_repairs()))


def _images() -> Iterator[str]:
    yield "\n| `image.family` | Karpenter | node group, by Kubernetes version | images are on |\n|-|-|-|-|\n"
    for family in Family:
        image = NodeImage(family=family)
        releases = ", ".join(f"{version}: {release}" for version, release in _releases(image.ami_family))
        yield f"| `{family}` | `{image.alias}` | {releases} | `{image.ami_family.image_device}` |\n"


def _releases(family: AmiFamily) -> Iterator[tuple[str, str]]:
    yield from ami.release_versions(family).items()


def _rendered() -> Iterator[str]:
    for family in Family:
        group = NodeGroup(instance_types=(_SHOWN,), count=1, image=NodeImage(family=family))
        yield f"\n`{family}`, on {_SHOWN}:\n\n```\n{user_data.render(group)}```\n"


def _repairs() -> Iterator[str]:
    named = {node_repair.xid_reason(each.id): each.name for each in xid.table().values()}
    for reason, action in node_repair.repairs().items():
        yield f"| `{reason}` | {named.get(reason, '')} | {action} |\n"
