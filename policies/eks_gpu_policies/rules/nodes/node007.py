"""NODE007: the AMI can drive the GPU.

EKS does not look at the instance types where ``amiType`` is unset: it documents that a GPU type wants "an applicable
GPU AMI type" beside it (EKS API reference, CreateNodegroup, ``instanceTypes``, checked 2026-11-21). The component
``eks.ManagedNodeGroup`` chooses an image only where it is given an ``operatingSystem`` or user data of its own, and
then NVIDIA's for ``gpu`` alone, whatever the instance types (pulumi-eks 4.4.0, nodejs/eks/nodes/nodegroup.ts, the same
day). Karpenter's aliases choose the NVIDIA image for GPU types by themselves. An image of somebody's own is taken at
its word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.facts.ami import AL2, AMI_TYPES
from eks_gpu.planning.images.public_image import public_image
from eks_gpu.planning.instance_choice import only_gpus
from eks_gpu.planning.pool import ImageChoice, ImageSource, Pool, PoolKind
from eks_gpu.planning.reading import View, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.node_groups import has_component_user_data
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

_ENDED: Final = "Amazon Linux 2, of which EKS publishes no images since November 2025"
_AL2_PREFIX: Final = "AL2_"
_CUSTOM: Final = "CUSTOM"
_NVIDIA: Final = "_NVIDIA"
_NAMED: Final = frozenset({ImageSource.NAME, ImageSource.SSM_PARAMETER})
_EVERY_TYPE: Final = frozenset({ImageSource.ID, ImageSource.NAME, ImageSource.TAGS, ImageSource.SSM_PARAMETER})


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    if pool.kind is PoolKind.NODE_GROUP:
        yield from clauses(_ami_type(pool, stack))
    yield from clauses(_karpenter(pool), *(_named(pool, choice) for choice in need(pool.image).choices))


def _ami_type(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    view = stack.by_urn[pool.urn].view
    name = view["amiType"].text()
    if name is None:
        if _left_to_eks(pool):
            yield from _unset(view)
    elif name.startswith(_AL2_PREFIX):
        yield Problem(f"has the AMI type {name}: {_ENDED}")
    elif name != _CUSTOM and _NVIDIA not in name:
        yield _without_driver(name) if _left_to_eks(pool) else _beside_an_image(name)
    elif name in AMI_TYPES:
        yield from _architecture(pool, AMI_TYPES[name].arch, f"the AMI type {name}")


def _without_driver(name: str) -> Problem:
    return Problem(f"has the AMI type {name}, which brings no NVIDIA driver")


def _beside_an_image(name: str) -> Problem:
    return Problem(
        f"has the AMI type {name} beside an image of its own, which EKS refuses",
        fix="leave amiType out, so that the image is the launch template's, or leave the image out",
    )


def _left_to_eks(pool: Pool) -> bool:
    """Return whether a node group's image is left to EKS."""
    (choice,) = need(pool.image).choices
    return choice.source in {ImageSource.RELEASE, ImageSource.LATEST}


def _unset(view: View) -> Iterator[Outcome]:
    """Judge a group that names no AMI type; only the component ``eks.ManagedNodeGroup`` may say something else."""
    gpu = view["gpu"].boolean() is True
    if not view["operatingSystem"].exists and not has_component_user_data(view):
        yield Problem(_GPU_ALONE if gpu else "names no AMI type: EKS's standard image brings no NVIDIA driver")
    elif not gpu:
        yield Problem(
            "names no AMI type and does not say gpu: eks.ManagedNodeGroup then takes the standard image whatever the "
            "instance types, and it brings no NVIDIA driver",
            fix="say gpu: true beside operatingSystem, or name AL2023_x86_64_NVIDIA as amiType",
        )


_GPU_ALONE: Final = (
    "says gpu but neither amiType nor operatingSystem: gpu alone chooses no image, and the nodes boot EKS's standard "
    "one, which brings no NVIDIA driver"
)


def _karpenter(pool: Pool) -> Iterator[Outcome]:
    if pool.kind is not PoolKind.NODE_POOL:
        return
    image = need(pool.image)
    if need(image.family) == AL2 and not any(choice.source in _NAMED for choice in image.choices):
        yield Problem(f"boots {_ENDED}")
    ways = sorted({choice.source.value for choice in image.choices if choice.source in _EVERY_TYPE})
    if ways and not only_gpus(need(pool.requirements)):
        yield Problem(
            f"chooses its image by {' and '.join(ways)}, which Karpenter boots on every type that the pool may buy, "
            "and nothing limits the pool to types with GPUs",
            fix=(
                f"require types with GPUs ({labels.INSTANCE_GPU_COUNT} Gt 0, {labels.INSTANCE_FAMILY} or "
                f"{labels.INSTANCE_TYPE}), or name the image by alias, which knows which types have GPUs"
            ),
        )


def _named(pool: Pool, choice: ImageChoice) -> Iterator[Outcome]:
    """Judge an image by what the public name or parameter says that chooses it."""
    if choice.source not in _NAMED:
        return
    name = need(choice.value)
    image = public_image(name)
    if image is None:
        return
    if image.family == AL2:
        yield Problem(f"boots {name}: {_ENDED}")
        return
    if image.nvidia is False:
        yield Problem(f"boots {name}, which brings no NVIDIA driver")
    if image.arch:
        yield from _architecture(pool, image.arch, name)


def _architecture(pool: Pool, arch: str, what: str) -> Iterator[Outcome]:
    wrong = [item.name for item in pool.gpu_types if item.arch != arch]
    if wrong and (pool.kind is not PoolKind.NODE_POOL or len(wrong) == len(pool.gpu_types)):
        yield Problem(f"boots {what}, which is for {arch} and does not run on {', '.join(wrong)}")


_TEMPLATE = examples.launch_template()

RULE: Final = Rule(
    id="NODE007",
    title="The AMI can drive the GPU",
    severity=Severity.HIGH,
    why=(
        "Without NVIDIA's driver in the image the node joins, costs what a GPU node costs, and advertises no GPU: pods "
        "wait for ever. Amazon Linux 2 gets no more drivers or fixes."
    ),
    fix=(
        "take AL2023_x86_64_NVIDIA or BOTTLEROCKET_x86_64_NVIDIA (for g5g the ARM_64 ones) as amiType, or an alias of "
        "al2023 or bottlerocket in the EC2NodeClass, as GpuNodeGroup and GpuNodePool do"
    ),
    lessons=("N07", "G02"),
    levels=EVERYWHERE,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_TEMPLATE, examples.node_group(_TEMPLATE, amiType="AL2023_x86_64_STANDARD"))),
    passing=Example((_TEMPLATE, examples.node_group(_TEMPLATE))),
)
