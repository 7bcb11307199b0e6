"""WORK014: Triton carries only its backends.

A runtime of KServe serves whatever model somebody hands it later, of any of the formats that it lists: every backend
in its image is the reason for the whole image, and nothing is said about it. The slim image is right once backends
are put into it or mounted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.declarations import FULL_IMAGE_REASON
from eks_gpu.facts.images import GB, TRITON_FULL
from eks_gpu.planning.images.image_reference import ImageReference, image_reference
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Level, Levels, Outcome, Problem, Rule, Scope, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

REPOSITORY: Final = TRITON_FULL.repository.partition("/")[2]
FULL: Final = re.compile(r"\d\d\.\d\d-py3(?:-igpu)?")
SLIM: Final = re.compile(r"\d\d\.\d\d-py3-min")
_SERVES_ANYTHING: Final = frozenset({"ServingRuntime", "ClusterServingRuntime", "InferenceService"})
BACKENDS: Final = "/opt/tritonserver/backends"
BACKEND_OPTION: Final = "--backend-directory"


def _runs_triton(pod: PodTemplate, _stack: Stack) -> bool:
    return any(_triton(container) is not None for container in need(pod.containers))


def _triton(container: Container) -> ImageReference | None:
    """Return NVIDIA's image of Triton that a container runs; None for any other, one's own Triton among them."""
    image = image_reference(need(container.image))
    return image if image.is_of(REPOSITORY) else None


def _check(pod: PodTemplate, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(*(_container(container, pod) for container in need(pod.containers)))


def _container(container: Container, pod: PodTemplate) -> Iterator[Outcome]:
    image = _triton(container)
    tag = None if image is None else image.tag
    if tag is None:
        return
    if SLIM.fullmatch(tag) and not _brings_backends(container):
        yield Problem(
            f"container {container.name} runs {tag} as it is, which has no backend: no model can be loaded",
            fix=f"copy the backends you need onto it from the full image, or mount some and say {BACKEND_OPTION}",
        )
    elif FULL.fullmatch(tag) and not _has_reason(pod):
        yield Problem(
            f"container {container.name} runs {tag} with every backend, {TRITON_FULL.size_bytes // GB} GB on each node "
            "before the first answer, and nothing says why"
        )


def _brings_backends(container: Container) -> bool:
    said = (*container.place["command"].texts(), *container.place["args"].texts())
    mounted = (mount.path for mount in need(container.mounts))
    return any(BACKEND_OPTION in text for text in said) or any(path.startswith(BACKENDS) for path in mounted)


def _has_reason(pod: PodTemplate) -> bool:
    return pod.owner_kind in _SERVES_ANYTHING or bool(need(pod.annotations).get(FULL_IMAGE_REASON))


_ADVICE: Final = Level.ADVISORY

RULE: Final = Rule(
    id="WORK014",
    title="Triton carries only its backends",
    severity=Severity.LOW,
    why=(
        "NVIDIA's full Triton image brings every framework. A server of ONNX or TensorRT models needs a fraction of "
        "its 16 GB, and every new node pulls all of them while the request waits."
    ),
    fix=(
        "copy the backends you need from the full image onto the py3-min image, whose own tag has none; or annotate "
        f"the pod with {FULL_IMAGE_REASON}, as TritonServer does from its settings"
    ),
    lessons=("W10",),
    levels=Levels(_ADVICE, _ADVICE, _ADVICE),
    scope=Scope.RESOURCE,
    looks_at=Subjects[PodTemplate]("pods of Triton", frozenset(), lambda stack: stack.pods, _runs_triton),
    check=_check,
    failing=Example((examples.deployment(examples.container(image=TRITON_FULL.reference)),)),
    passing=Example(
        (
            examples.deployment(
                examples.container(
                    image=f"{TRITON_FULL.repository}:{TRITON_FULL.tag}-min", args=[f"{BACKEND_OPTION}=/backends"]
                )
            ),
        )
    ),
)
