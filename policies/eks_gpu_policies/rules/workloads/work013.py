"""WORK013: images are pinned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.images.image_reference import image_reference, is_filled_in_later
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_PODS


def _check(pod: PodTemplate, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(*(_container(container) for container in pod.all_containers))


def _container(container: Container) -> Iterator[Outcome]:
    image = need(container.image)
    if not image:
        return
    if is_filled_in_later(image):
        yield Undecided(container.place["image"].path, f"filled in later: {image}")
        return
    moving = image_reference(image).moving
    if moving is not None:
        yield Problem(f"container {container.name} runs {image}: {moving}")


RULE: Final = Rule(
    id="WORK013",
    title="Images are pinned",
    severity=Severity.HIGH,
    why=(
        "A tag that moves gives tomorrow's pod another CUDA than today's, which the node's driver may not support, "
        "and replicas of one Deployment that answer differently. Every node pulls its 15 GB again to find out."
    ),
    fix="name a release's tag or, better, a digest, as TritonServer and VllmServer do",
    lessons=("W10", "G07"),
    scope=Scope.RESOURCE,
    looks_at=GPU_PODS,
    check=_check,
    failing=Example((examples.deployment(examples.container(image="vllm/vllm-openai:latest")),)),
    passing=Example((examples.deployment(),)),
)
