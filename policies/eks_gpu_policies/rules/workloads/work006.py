"""WORK006: inference has a startup probe.

Ray and KServe inject probes of their own. In a LeaderWorkerSet only the leader serves: its workers are not asked. Nor
is a container that tries out a GPU, or that waits for somebody to log in: nobody waits for its answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import View, attempt
from eks_gpu.planning.trials import NO_SERVER, WAITING
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import INFERENCE_PODS

_INJECTED: Final = frozenset(
    {
        "RayService",
        "RayCluster",
        "RayJob",
        "InferenceService",
        "LLMInferenceService",
        "ServingRuntime",
        "ClusterServingRuntime",
    }
)
_LEADER: Final = "spec.leaderWorkerTemplate.leaderTemplate"
_WORKER: Final = "spec.leaderWorkerTemplate.workerTemplate"
_LONG_DELAY_SECONDS: Final = 120

_PROBES: Final = ("readinessProbe", "livenessProbe")
ANSWERING: Final = ("ports", *_PROBES)
"""Fields of containers that somebody asks."""


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if pod.owner_kind in _INJECTED or _is_worker(pod, stack):
        return
    yield from clauses(*(_container(container) for container in pod.gpu_containers))


def _is_worker(pod: PodTemplate, stack: Stack) -> bool:
    """Return whether the pods only compute for a leader."""
    has_leader = stack.by_urn[pod.urn].view.at(*_LEADER.split(".")).exists
    return pod.path.startswith(_WORKER) and has_leader


def _container(container: Container) -> Iterator[Outcome]:
    if container.place["startupProbe"].exists or _answers_nobody(container):
        return
    path, because = attempt(_asked, container), attempt(_instead, container)
    missing = f"no startup probe on {path}" if isinstance(path, str) else "no startup probe"
    reason = f": {because}" if isinstance(because, str) else ""
    yield Problem(f"container {container.name} has {missing}{reason}")


def _asked(container: Container) -> str | None:
    """Return the path by which its other probes ask a container."""
    paths = (container.place[name].at("httpGet", "path").text() for name in _PROBES)
    return next((path for path in paths if path), None)


def _instead(container: Container) -> str | None:
    """Return what stands in the place of a startup probe, and fails."""
    delays = {name: container.place[name]["initialDelaySeconds"].number() or 0 for name in _PROBES}
    delayed = [f"{name} waits {delay:g} s instead" for name, delay in delays.items() if delay >= _LONG_DELAY_SECONDS]
    if not delayed and container.place["livenessProbe"].exists:
        return "its liveness probe kills it while it loads"
    return "; ".join(delayed) or None


def _answers_nobody(container: Container) -> bool:
    if any(attempt(_is_there, container.place[name]) is not False for name in ANSWERING):
        return False
    if isinstance(container.image, str) and NO_SERVER.search(container.image):
        return True
    words = attempt(_words, container.place)
    return isinstance(words, tuple) and WAITING.search(" ".join(words)) is not None


def _is_there(place: View) -> bool:
    return place.exists


def _words(container: View) -> tuple[str, ...]:
    return (*container["command"].texts(), *container["args"].texts())


RULE: Final = Rule(
    id="WORK006",
    title="Inference has a startup probe",
    severity=Severity.HIGH,
    why=(
        "A model server answers only when its weights are loaded, which takes minutes. A liveness probe that starts "
        "earlier kills it every time; a long initial delay hides a dead server for as long at every restart."
    ),
    fix=(
        "add a startupProbe on the server's health path whose period x failureThreshold covers pull and load, as "
        "TritonServer and VllmServer do; then readiness and liveness need no delay"
    ),
    lessons=("W04",),
    scope=Scope.RESOURCE,
    looks_at=INFERENCE_PODS,
    check=_check,
    failing=Example((examples.deployment(examples.container(startupProbe=None)),)),
    passing=Example((examples.deployment(),)),
)
