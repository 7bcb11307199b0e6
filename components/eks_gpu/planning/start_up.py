"""How long a model server takes to start, and the probe and deadlines that wait for it.

Two clocks run one after the other. The node boots and pulls the image before the container exists: the Deployment's
progress deadline and Pulumi's own wait count that. Only then does the startup probe's clock start, which has to cover
reading the weights. Everything is in seconds and bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import storage

NODE_SECONDS: Final = 180
"""From the pod's being pending to a Ready GPU node: Karpenter, EC2, boot, device plugin."""

SETTLE_SECONDS: Final = 60
"""Import of CUDA libraries, compilation of graphs, warm-up: what a start takes beside reading."""

SAFETY_FACTOR: Final = 2
"""Reads and pulls are planned at half the speed that storage promises: the first pod of the day shares it."""

SHORTEST_PROBE_SECONDS: Final = 600
"""A startup probe of ours allows no less. Small models on a fast cache are read in seconds, and then what nobody can
work out beforehand decides: a language server that starts cold compiles and captures its graphs for minutes. A probe
that is too short kills it each time; one that is too long costs nothing, because the first answer ends it. vLLM's own
chart waits as long (vllm-project/production-stack: 15 s + 60 x 10 s, checked 2026-11-21)."""

DEFAULT_DEADLINE_SECONDS: Final = 600
"""Kubernetes' own ``progressDeadlineSeconds`` and Pulumi's wait for a Deployment, where nothing is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartUpProbe:
    """The timing of a startup probe."""

    initial_delay_seconds: int = 0
    period_seconds: int = 10
    failure_threshold: int = 3

    @property
    def allowed_seconds(self) -> int:
        """How long a container may take before the kubelet kills it: until the last probe that may still fail."""
        return self.initial_delay_seconds + self.period_seconds * (self.failure_threshold - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartUpBudget:
    """What a start needs, term by term."""

    read_seconds: float
    """Reading the weights once, at the speed that storage promises."""

    pull_seconds: float
    """Pulling and unpacking the image once, at the speed of the node's volume."""

    @property
    def container_seconds(self) -> float:
        """What the startup probe must allow at least."""
        return SAFETY_FACTOR * self.read_seconds + SETTLE_SECONDS

    @property
    def patience_seconds(self) -> float:
        """What a startup probe of ours allows."""
        return max(self.container_seconds, float(SHORTEST_PROBE_SECONDS))

    @property
    def rollout_seconds(self) -> float:
        """What a Deployment's progress deadline and Pulumi's wait must allow at least."""
        return self._before_container_seconds + self.container_seconds

    @property
    def _before_container_seconds(self) -> float:
        return NODE_SECONDS + SAFETY_FACTOR * self.pull_seconds

    @property
    def largest_term(self) -> str:
        """The part that takes longest, in words: where an improvement pays."""
        terms = {
            "reading the model": SAFETY_FACTOR * self.read_seconds,
            "pulling the image": SAFETY_FACTOR * self.pull_seconds,
            "getting a node": float(NODE_SECONDS),
        }
        return max(terms, key=lambda term: terms[term])

    def probe(self, *, initial_delay_seconds: int = 15, period_seconds: int = 10) -> StartUpProbe:
        """Return the startup probe of this rhythm that allows ``patience_seconds``, rounded up to a period.

        The first question is asked early and often rather than late: a server that is ready sooner serves sooner.
        """
        remaining = max(0.0, self.patience_seconds - initial_delay_seconds)
        return StartUpProbe(
            initial_delay_seconds=initial_delay_seconds,
            period_seconds=period_seconds,
            failure_threshold=1 + math.ceil(remaining / period_seconds),
        )

    def deadline_seconds(self) -> int:
        """Return the progress deadline of the Deployment: never below Kubernetes' default.

        It outlasts the startup probe, so that a rollout is not called failed while a pod may still start.
        """
        return max(DEFAULT_DEADLINE_SECONDS, math.ceil(self._before_container_seconds + self.patience_seconds))


def start_up_budget(
    *,
    model_bytes: int,
    read_bytes_per_second: float,
    image_bytes: int,
    volume_bytes_per_second: float,
) -> StartUpBudget:
    """Return the budget of a server that pulls ``image_bytes`` onto its node and reads ``model_bytes``.

    ``read_bytes_per_second`` is the speed of where the weights are (see the functions below),
    ``volume_bytes_per_second`` the throughput of the node volume that holds images. Raises ``ValueError`` for a speed
    that is not above zero, such as that of a bursting file system with nothing stored: such a start never ends.
    """
    for name, speed in {
        "read_bytes_per_second": read_bytes_per_second,
        "volume_bytes_per_second": volume_bytes_per_second,
    }.items():
        if not speed > 0:
            raise ValueError(f"{name} is {speed}; a start needs a speed above 0")
    return StartUpBudget(
        read_seconds=model_bytes / read_bytes_per_second,
        pull_seconds=image_bytes / volume_bytes_per_second,
    )


def efs_bytes_per_second(
    throughput_mode: str, *, stored_bytes: int = 0, provisioned_mib_per_second: float | None = None
) -> float:
    """Return what one client may count on reading from an EFS file system.

    Bursting speed depends on how much is stored: 50 KiB/s for each GiB, and nothing can be read from an empty one.
    """
    if throughput_mode == storage.EFS_THROUGHPUT_BURSTING:
        return storage.EFS_BURSTING_BYTES_PER_SECOND_PER_GIB * stored_bytes / storage.GIB
    if provisioned_mib_per_second is not None:
        return min(provisioned_mib_per_second * storage.MIB, storage.EFS_ELASTIC_CLIENT_BYTES_PER_SECOND)
    return storage.EFS_ELASTIC_CLIENT_BYTES_PER_SECOND


def volume_bytes_per_second(throughput_mib_per_second: float) -> float:
    """Return the speed of an EBS volume from its throughput in MiB/s, as EC2 states it."""
    return throughput_mib_per_second * storage.MIB
