"""WORK007: the budget covers the start.

The image's size counts where it is declared, or measured for exactly this image; otherwise what is needed without it
may already be too much. A first start that fills an empty cache is slower than those that follow, which are judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from eks_gpu.facts import declarations, resources, storage
from eks_gpu.facts.images import GB
from eks_gpu.planning.model_source import bytes_to_read
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, attempt, need
from eks_gpu.planning.start_up import (
    NODE_SECONDS,
    SAFETY_FACTOR,
    SETTLE_SECONDS,
    StartUpBudget,
    start_up_budget,
)
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.rollout import deadlines, most_pods, replicas, starts_before_it_stops, whole_gpus
from eks_gpu_policies.readers.start_up import (
    Speed,
    Surroundings,
    image_bytes,
    image_volume_speed,
    model_speed,
    startup_probe,
)
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Undecided, clauses
from eks_gpu_policies.rules.workloads import work006
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import INFERENCE_PODS

_DEPLOYMENT: Final = "Deployment"
_FASTER: Final = "read the model from a faster file system"
_UNTOLD: Final = f"how much the server reads; declare it by the annotation {declarations.MODEL_BYTES}"


def _check(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if any(isinstance(outcome, Problem) for outcome in work006.RULE.check(pod, stack)):
        return  # What is no probe cannot be too short.
    slow = (container for container in pod.gpu_containers if container.place["startupProbe"].exists)
    yield from clauses(*(_start(pod, container, stack) for container in slow), _surge(pod, stack))


def _start(pod: PodTemplate, container: Container, stack: Stack) -> Iterator[Outcome]:
    size = bytes_to_read(pod, container)
    if size is None:
        yield Undecided(f"{container.place.path}.args", _UNTOLD)
        return
    around = Surroundings(stack.storage, stack.landing(pod), stack.options.hub_megabytes_per_second * 10**6)
    speed = model_speed(pod, container, size, around)
    budget = _budget(size, speed)
    reading = f"{SAFETY_FACTOR} x {budget.read_seconds:.0f} s to read {size / GB:.3g} GB from {_at(speed)}"
    yield from clauses(
        _probe(container, budget, reading),
        _rollout(pod, container, budget, stack) if pod.owner_kind == _DEPLOYMENT else (),
    )


def _at(speed: Speed) -> str:
    return f"{speed.place} at {speed.bytes_per_second / storage.MIB:.3g} MiB/s"


def _budget(size: int, speed: Speed) -> StartUpBudget:
    return start_up_budget(
        model_bytes=size,
        read_bytes_per_second=speed.bytes_per_second,
        image_bytes=0,
        volume_bytes_per_second=1,
    )


def _probe(container: Container, budget: StartUpBudget, reading: str) -> Iterator[Outcome]:
    probe, needed = startup_probe(container), budget.container_seconds
    if needed > probe.allowed_seconds:
        failures = 1 + math.ceil((needed - probe.initial_delay_seconds) / max(1, probe.period_seconds))
        yield Problem(
            f"container {container.name} needs {needed:.0f} s to start ({reading}, {SETTLE_SECONDS} s to settle), and "
            f"its startup probe allows {probe.allowed_seconds} s ({probe.initial_delay_seconds} + "
            f"{probe.period_seconds} x {probe.failure_threshold - 1})",
            fix=f"set failureThreshold of the startup probe to {failures} at least, as VllmServer does, or {_FASTER}",
        )


def _rollout(pod: PodTemplate, container: Container, budget: StartUpBudget, stack: Stack) -> Iterator[Outcome]:
    """Judge what waits for a Deployment as a whole: a node and the image come before the container."""
    owner = stack.by_urn[pod.urn]
    pull = attempt(_pull, pod, container, stack)
    known = _Pull(0.0, "") if isinstance(pull, NotKnown) else pull
    whole = replace(budget, pull_seconds=known.seconds)
    needed = whole.rollout_seconds
    terms = f"{NODE_SECONDS} s for a node, {known.said}{budget.container_seconds:.0f} s to read the model and settle"
    for name, limit in deadlines(owner, awaited=not stack.options.manifests_only):
        if needed > limit:
            yield Problem(
                f"a rollout takes up to {needed:.0f} s ({terms}), most of it for {whole.largest_term}, and {name} "
                f"allows {limit:g} s",
                fix=f"set it to {math.ceil(needed)} s at least, as VllmServer does, or {_FASTER}",
            )
        elif isinstance(pull, NotKnown):
            yield Undecided(pull.path, pull.reason)
            return


@dataclass(frozen=True, slots=True)
class _Pull:
    """What pulling the image adds."""

    seconds: float
    said: str


def _pull(pod: PodTemplate, container: Container, stack: Stack) -> _Pull:
    size = image_bytes(pod, container)
    if size is None:
        path = f"{container.place.path}.image"
        raise NotKnownError(NotKnown(pod.urn, path, f"its size; declare it by {declarations.IMAGE_BYTES}"))
    speed = image_volume_speed(pod, stack.landing(pod))
    seconds = size / speed.bytes_per_second
    return _Pull(
        seconds, f"{SAFETY_FACTOR} x {seconds:.0f} s to write the image of {size / GB:.3g} GB to {_at(speed)}, "
    )


def _surge(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    """Tell when a rolling update waits for a GPU that no pool can ever have. It is advice: the first start works."""
    deployment = stack.by_urn[pod.urn].view
    gpus = whole_gpus(pod)
    pools = stack.landing(pod)
    if pod.owner_kind != _DEPLOYMENT or not gpus or not starts_before_it_stops(deployment):
        return
    most, count = sum(most_pods(pool, gpus) for pool in pools), replicas(deployment)
    if count <= most < count + 1 and all(need(pool.split) is None for pool in pools):
        yield Problem(
            f"a rolling update starts a pod before it stops one, and {_names(pools)} has no GPU to spare beside "
            f"{count} x {gpus}: the update never ends",
            advisory=True,
            fix="set strategy.rollingUpdate to maxSurge 0 and maxUnavailable 1, or let the pool grow by a node",
        )


def _names(pools: tuple[Pool, ...]) -> str:
    return ", ".join(pool.name for pool in pools)


_PROBE: Final = {"httpGet": {"path": "/health", "port": 8000}, "initialDelaySeconds": 15, "periodSeconds": 10}


def _example(failures: int) -> Example:
    """Return a server of 140 GB on an elastic file system whose probe may fail ``failures`` times."""
    server = examples.on_cache(
        {
            "args": ["--model", "meta-llama/Llama-3.1-70B-Instruct"],
            "startupProbe": {**_PROBE, "failureThreshold": failures},
            "resources": {"limits": {resources.GPU: "8", "memory": "400Gi"}},
        }
    )
    return Example((*examples.model_cache(), replace(server, type=tokens.STATEFUL_SET)))


RULE: Final = Rule(
    id="WORK007",
    title="The budget covers the start",
    severity=Severity.HIGH,
    why=(
        "A startup probe that is shorter than the loading of the weights kills the server each time shortly before it "
        "is ready, for ever, on a GPU that is paid. A deadline that is shorter than node, pull and load together calls "
        "a rollout failed that would have succeeded."
    ),
    fix=(
        "raise failureThreshold until initialDelaySeconds + periodSeconds x (failureThreshold - 1) covers what is "
        "needed, and progressDeadlineSeconds and Pulumi's timeout beyond it, as VllmServer does; or read from a faster "
        "file system"
    ),
    lessons=("W04", "W05"),
    looks_at=INFERENCE_PODS,
    check=_check,
    failing=_example(30),
    passing=_example(60),
)
