"""What the scheduler reserves for a pod."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import resources
from eks_gpu.planning.placement.demand import demand, in_units, requests
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import NotKnown, NotKnownError

MILLICORES = st.integers(0, 4000)


def box(cpu: int = 0, more: Mapping[str, str] | None = None, *, restarts: bool = False) -> Container:
    return Container(name="c", requests={resources.CPU: f"{cpu}m", **(more or {})}, restarts=restarts)


def pod(*containers: Container, init: tuple[Container, ...] = (), **more: dict[str, str]) -> PodTemplate:
    return PodTemplate(name="pod", containers=containers, init_containers=init, **more)  # type: ignore[arg-type]  # maps


def cpu(of: PodTemplate) -> int:
    return requests(of)[resources.CPU]


def test_w02_containers_add_up() -> None:
    assert cpu(pod(box(500), box(700))) == 1200


def test_w02_the_hungriest_init_container_counts_if_it_asks_for_more() -> None:
    assert cpu(pod(box(500), init=(box(300), box(900), box(100)))) == 900
    assert cpu(pod(box(500), init=(box(300),))) == 500


def test_w02_a_sidecar_runs_beside_the_containers_and_the_init_containers_after_it() -> None:
    sidecar = box(200, restarts=True)
    assert cpu(pod(box(500), init=(sidecar,))) == 700
    assert cpu(pod(box(500), init=(box(900), sidecar))) == 900
    assert cpu(pod(box(500), init=(sidecar, box(900)))) == 1100


def test_w02_the_overhead_of_the_runtime_is_added() -> None:
    assert cpu(pod(box(500), init=(box(900),), overhead={resources.CPU: "250m"})) == 1150


def test_w02_what_a_pod_asks_for_as_a_whole_takes_the_place_of_the_sum() -> None:
    whole = pod(box(500, {resources.GPU: "1"}), pod_requests={resources.CPU: "2", resources.GPU: "4"})
    assert requests(whole) == {resources.CPU: 2000, resources.GPU: 1}


def test_w01_what_is_limited_and_not_requested_is_requested_as_much() -> None:
    limited = Container(
        name="c",
        requests={resources.CPU: "1"},
        limits={resources.CPU: "4", resources.MEMORY: "8Gi", resources.GPU: "2"},
    )
    assert requests(pod(limited)) == {resources.CPU: 1000, resources.MEMORY: 8 * 2**30, resources.GPU: 2}


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        (resources.CPU, "1500m", 1500),
        (resources.CPU, "0.1", 100),
        (resources.CPU, "100u", 1),
        (resources.MEMORY, "1Gi", 2**30),
        (resources.MEMORY, "128974848000m", 128974848),
        (resources.GPU, "8", 8),
        (resources.GPU, "many", None),
    ],
)
def test_quantities_in_the_units_that_are_reckoned_in(resource: str, text: str, amount: int | None) -> None:
    assert in_units(resource, text) == amount


def test_what_is_not_known_is_not_taken_for_nothing() -> None:
    unknown = NotKnown("urn", "resources.requests")
    blind = pod(Container(name="c", requests=unknown))
    with pytest.raises(NotKnownError):
        requests(blind)
    assert demand(blind).asks == unknown


def test_nothing_is_not_asked_for_and_gpus_come_first() -> None:
    more = {resources.MEMORY: "1", resources.GPU: "1", "example.com/fuse": "0", "a/b": "1"}
    asks = demand(pod(box(100, more))).asks
    assert asks == ((resources.GPU, 1), (resources.CPU, 100), (resources.MEMORY, 1), ("a/b", 1))


def test_pods_that_ask_for_the_same_have_equal_demands() -> None:
    one, other = pod(box(100)), PodTemplate(name="other", urn="urn:other", containers=(box(100),))
    assert demand(one) == demand(other)
    assert hash(demand(one)) == hash(demand(other))
    assert demand(one) != demand(pod(box(101)))


@given(st.lists(MILLICORES, min_size=1, max_size=4), st.lists(st.tuples(MILLICORES, st.booleans()), max_size=4))
def test_w02_a_pod_is_reserved_what_it_needs_at_its_worst_moment(
    containers: list[int], init: list[tuple[int, bool]]
) -> None:
    """Play the start: init containers one after the other, sidecars staying, then all containers."""
    running, worst = 0, 0
    for amount, restarts in init:
        worst = max(worst, running + amount)
        running += amount if restarts else 0
    worst = max(worst, running + sum(containers))
    boxes = tuple(box(amount, restarts=restarts) for amount, restarts in init)
    assert cpu(pod(*(box(amount) for amount in containers), init=boxes)) == worst
