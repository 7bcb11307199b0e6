from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from sandbox.errors import SandboxError
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_side.__main__ import Work
from sandbox.kubernetes.node_side.world import BUILT_IN, CUSTOM, Cache, World
from sandbox.kubernetes.rest import ApiError, Kind, Rest


def found(name: str, version: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of an object
    metadata = {"name": name, "uid": name, "resourceVersion": version, "managedFields": []}
    return {"metadata": metadata, **fields}


class Server:
    """Answers as an API server whose objects, and what happens to them, a test decides."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.refusal: ApiError | None = None
        self.going_on = threading.Event()

    def list(self, _: Kind) -> dict[str, Any]:
        if self.refusal is not None:
            raise self.refusal
        return {"items": self.items, "metadata": {"resourceVersion": "1"}}

    def watch(self, _: Kind, version: str) -> Iterator[tuple[str, dict[str, Any]]]:
        assert version == "1"
        yield from self.events
        self.events = []
        self.going_on.wait()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.going_on.set()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cache_of(server: Server) -> Cache:
    return Cache(cast("Rest", server), rest.NODES, threading.Event())


def test_what_is_there_and_what_happens_then_is_known(server: Server) -> None:
    server.items = [found("a", "1"), found("b", "1")]
    server.events = [("ADDED", found("c", "2")), ("MODIFIED", found("a", "3", spec={})), ("DELETED", found("b", "4"))]
    cache = cache_of(server)
    assert not cache.synced.is_set()

    cache.start()

    until(lambda: cache.by_name().keys() == {"a", "c"} and "spec" in cache.by_name()["a"])
    assert cache.synced.is_set()
    assert all("managedFields" not in each["metadata"] for each in cache)


def test_a_kind_whose_definition_is_not_there_has_no_objects(server: Server) -> None:
    server.refusal = ApiError(404, "no such kind")
    cache = cache_of(server)
    cache.start()
    until(cache.synced.is_set)
    assert list(cache) == []

    server.refusal, server.items = None, [found("a", "1")]
    until(lambda: cache.by_name().keys() == {"a"})


def test_a_refusal_is_told_and_asked_again(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.refusal = ApiError(401, "not for you")
    cache = cache_of(server)
    cache.start()
    until(lambda: "nodes: not for you" in caplog.text)
    assert not cache.synced.is_set()
    server.refusal = None
    until(cache.synced.is_set)


class Failing:
    """A duty that cannot be done."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error

    def step(self, _: World) -> None:
        if self.error is not None:
            raise self.error


class Counting:
    """A duty that is always done."""

    def __init__(self) -> None:
        self.times = 0

    def step(self, _: World) -> None:
        self.times += 1


@pytest.fixture
def world(server: Server) -> World:
    world = World(cast("Rest", server))
    world.start()
    until(lambda: world.complete)
    return world


def test_nothing_is_done_before_everything_was_seen(server: Server) -> None:
    counting = Counting()
    Work((counting,)).do(World(cast("Rest", server)))
    assert counting.times == 0


@pytest.mark.parametrize("error", [ApiError(500, "broken"), SandboxError("not built"), OSError("gone"), KeyError("k")])
def test_a_duty_that_fails_is_told_once_and_stops_no_other(
    world: World, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failing, counting = Failing(error), Counting()
    work = Work((failing, counting))
    with caplog.at_level(logging.WARNING):
        work.do(world)
        work.do(world)
        failing.error = None
        work.do(world)
        failing.error = error
        work.do(world)
    assert counting.times == 4
    assert len([record for record in caplog.records if record.message.startswith("Failing: ")]) == 2


@pytest.mark.parametrize("code", [404, 409])
def test_what_has_changed_meanwhile_is_no_problem(world: World, code: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Work((Failing(ApiError(code, "gone")),)).do(world)
    assert caplog.records == []


def test_every_kind_is_watched(world: World) -> None:
    assert all(world.of(kind).synced.is_set() for kind in (*BUILT_IN, *CUSTOM))
