"""What a run holds that no rule could see, so that it does not pass in silence.

Some components are expanded by the engine only. ``eks-gpu check``, which runs without it, sees what they were given and
not what they make; nor does the engine before the cluster exists that their objects go to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.pool import looks_like_gpu_type
from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

_UNEXPANDED: Final = "only the engine knows what it makes"
_GROUPS: Final = (tokens.AUTO_SCALING_GROUP, tokens.NODE_GROUP, tokens.CLOUD_FORMATION)


def unseen(program: Program) -> Iterator[NotKnown]:
    """Yield the place of every resource that stands for others which are not there."""
    for component in program.of_type(*sorted(tokens.YAML_FILES)):
        if not any(True for _ in program.graph.descendants(component.urn)):
            yield NotKnown(component.urn, "the objects in it", _UNEXPANDED)
    for component in program.of_type(*sorted(tokens.SELF_MANAGED), tokens.CLUSTER_COMPONENT):
        if not program.contains(component, *_GROUPS) and attempt(_buys_gpus, component) is not False:
            yield NotKnown(component.urn, "the GPU nodes in it", _UNEXPANDED)


def _buys_gpus(component: Resource) -> bool:
    if component.view["skipDefaultNodeGroup"].boolean():
        return False
    return any(_names_gpus(place) for place in (component.view, component.view["nodeGroupOptions"]))


def _names_gpus(options: View) -> bool:
    return bool(options["gpu"].boolean()) or looks_like_gpu_type(options["instanceType"].text() or "")
