from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from eks_gpu.facts import labels, versions
from sandbox.checkout import Checkout
from sandbox.kubernetes import karpenter, rest
from sandbox.kubernetes.instance_types import Market
from sandbox.kubernetes.node_groups import ZONES_ANNOTATION
from sandbox.kubernetes.node_side import scaler
from sandbox.kubernetes.node_side.scaler import Scaler
from sandbox.kubernetes.node_side.world import World
from sandbox.kubernetes.rest import Kind

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
ENVIRONMENT = [{"name": "FEATURE_GATES", "value": "NodeRepair=true"}, {"name": "POD_NAME", "valueFrom": {}}]


@dataclass
class Process:
    exit_status: int | None = None
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True


@dataclass
class Seen:
    """A world of two kinds, and what was started in it."""

    pods: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    started: list[tuple[Market, Mapping[str, str], Process]] = field(default_factory=list)
    now: float = 1000.0

    def of(self, kind: Kind) -> Iterator[dict[str, Any]]:
        return iter({rest.PODS: self.pods, rest.NODES: self.nodes}[kind])

    def start(self, _: Checkout, __: Path, market: Market, settings: Mapping[str, str]) -> Process:
        self.started.append((market, settings, Process()))
        return self.started[-1][2]

    @property
    def world(self) -> World:
        return cast("World", self)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen = Seen()
    monkeypatch.setattr(karpenter, "start", seen.start)
    monkeypatch.setattr("sandbox.kubernetes.node_side.scaler.time", SimpleNamespace(monotonic=lambda: seen.now))
    return seen


def pod() -> dict[str, Any]:
    return {
        "metadata": {
            "name": "karpenter-1",
            "namespace": "kube-system",
            "labels": {labels.APP_NAME: versions.KARPENTER.name},
            "ownerReferences": [{"kind": "ReplicaSet"}],
        },
        "spec": {"containers": [{"name": "controller", "env": ENVIRONMENT}]},
        "status": READY,
    }


def node(zones: str) -> dict[str, Any]:
    metadata = {"name": "n", "labels": {labels.REGION: "eu-west-1"}, "annotations": {ZONES_ANNOTATION: zones}}
    return {"metadata": metadata}


@pytest.fixture
def duty(tmp_path: Path) -> Scaler:
    return Scaler(Checkout(tmp_path), tmp_path / "kubeconfig")


def test_it_is_started_once_with_the_settings_of_its_container_that_are_written_out(seen: Seen, duty: Scaler) -> None:
    duty.step(seen.world)
    assert seen.started == []
    seen.pods = [pod(), pod()]
    duty.step(seen.world)
    duty.step(seen.world)
    ((_, settings, process),) = seen.started
    assert settings == {"FEATURE_GATES": "NodeRepair=true"}

    seen.pods = []
    duty.step(seen.world)
    assert process.stopped
    assert duty.running is None


def test_it_is_started_again_when_it_ends_each_time_later(seen: Seen, duty: Scaler) -> None:
    seen.pods = [pod()]
    waited = []
    for _ in range(6):
        duty.step(seen.world)
        seen.started[-1][2].exit_status = 1
        count, began = len(seen.started), seen.now
        while len(seen.started) == count:
            seen.now += 0.5
            duty.step(seen.world)
        waited.append(seen.now - began)
    assert waited[0] < waited[1] < waited[2]
    assert waited[-1] == waited[-2]


def test_it_can_buy_in_every_zone_that_a_group_of_nodes_can_be_in(seen: Seen, duty: Scaler) -> None:
    seen.pods = [pod()]
    seen.nodes = [node("eu-west-1a,eu-west-1b"), node("eu-west-1b,eu-west-1c"), {"metadata": {"name": "bought"}}]
    duty.step(seen.world)
    market = seen.started[0][0]
    assert (market.region, market.zones) == ("eu-west-1", ("eu-west-1a", "eu-west-1b", "eu-west-1c"))


def test_without_a_group_it_can_buy_where_the_market_is_by_default(seen: Seen) -> None:
    assert scaler.market(seen.world) == Market()
