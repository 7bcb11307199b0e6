"""What must hold of any pod and any pool."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU, Effect, Taint, dedicated
from eks_gpu.planning.placement import Placement, Supply, demand, place
from eks_gpu.planning.pod_template import Container, PodTemplate, Preference, Toleration
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.requirements import Requirement

TEAM = "team"
TAINTS = st.lists(
    st.sampled_from(
        [GPU, dedicated("a10g"), Taint(TEAM, "x", Effect.NO_EXECUTE), Taint(TEAM, "x", Effect.NO_SCHEDULE)]
    ),
    max_size=3,
    unique=True,
).map(tuple)
TOLERATIONS = st.lists(
    st.builds(
        Toleration,
        st.sampled_from([None, GPU.key, labels.GPU_TYPE, TEAM]),
        st.sampled_from(["Exists", "Equal"]),
        st.sampled_from(["", "x", "present", "a10g"]),
        st.sampled_from([None, "NoSchedule", "NoExecute"]),
    ),
    max_size=3,
).map(tuple)
KEYS = st.sampled_from([TEAM, labels.INSTANCE_GPU_NAME, labels.INSTANCE_CPU, labels.ZONE, labels.GFD_PRODUCT])
REQUIREMENTS = st.builds(
    Requirement,
    KEYS,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
    st.lists(st.sampled_from(["x", "y", "a10g", "l4", "4", "16"]), min_size=1, max_size=2).map(tuple),
)
SELECTORS = st.lists(REQUIREMENTS, max_size=2).map(tuple)
TYPES = st.lists(st.sampled_from(list(CATALOGUE.values())), min_size=1, max_size=5, unique=True).map(tuple)

AMOUNTS = st.sampled_from([resources.CPU, resources.MEMORY, resources.EPHEMERAL_STORAGE])
POOLS = st.builds(
    Pool,
    name=st.just("p"),
    kind=st.sampled_from([PoolKind.NODE_POOL, PoolKind.NODE_GROUP]),
    types=TYPES,
    taints=TAINTS,
    labels=st.sampled_from([{}, {TEAM: "x"}]),
    requirements=st.lists(REQUIREMENTS, max_size=1).map(tuple),
    zones=st.sampled_from([None, frozenset({"x"}), frozenset({"x", "y"})]),
    limits=st.sampled_from([{}, {resources.GPU: "4"}, {resources.CPU: "64"}]),
)


def _pod(gpus: int, cpu: int, memory: int, **settings: object) -> PodTemplate:
    asks = {resources.GPU: str(gpus), resources.CPU: f"{cpu}m", resources.MEMORY: f"{memory}Mi"}
    return PodTemplate(name="pod", containers=(Container(name="c", limits=asks),), **settings)  # type: ignore[arg-type]  # settings


PODS = st.builds(
    _pod,
    st.integers(0, 8),
    st.integers(0, 64000),
    st.integers(0, 200000),
    tolerations=TOLERATIONS,
    selector=SELECTORS,
    affinity=st.lists(SELECTORS, max_size=2).map(tuple),
)


def possible(placement: Placement, pool: Pool) -> set[str]:
    """Return the types that may admit: those that do, or all where nobody can tell."""
    kinds = pool.gpu_types if placement.unclear else placement.types
    return {kind.name for kind in kinds}


def more(pod: PodTemplate, name: str, extra: int) -> PodTemplate:
    """Return the pod with more of a resource."""
    box = Container(name="more", requests={name: str(extra)})
    return replace(pod, containers=(*pod.all_containers, box))


@given(PODS, POOLS)
def test_exactly_one_of_three_is_the_answer(pod: PodTemplate, pool: Pool) -> None:
    found = place(pod, pool)
    assert [found.admits, found.refuses, found.unclear is not None].count(True) == 1
    assert bool(found.reason) is found.refuses
    assert set(found.types) <= set(pool.gpu_types)


@given(PODS, POOLS, TOLERATIONS)
def test_w02_a_toleration_more_never_takes_a_type_away(
    pod: PodTemplate, pool: Pool, tolerations: tuple[Toleration, ...]
) -> None:
    assert isinstance(pod.tolerations, tuple)
    consenting = replace(pod, tolerations=pod.tolerations + tolerations)
    assert possible(place(pod, pool), pool) <= possible(place(consenting, pool), pool)


@given(
    PODS, POOLS, st.sampled_from([resources.CPU, resources.MEMORY, resources.EPHEMERAL_STORAGE]), st.integers(1, 2**36)
)
def test_n03_who_asks_for_more_never_gets_more_types(pod: PodTemplate, pool: Pool, name: str, extra: int) -> None:
    assert possible(place(more(pod, name, extra), pool), pool) <= possible(place(pod, pool), pool)


@given(PODS, POOLS, st.integers(1, 4000))
def test_n03_a_daemon_set_more_never_makes_room(pod: PodTemplate, pool: Pool, cpu: int) -> None:
    daemon = PodTemplate(name="d", containers=(Container(name="d", requests={resources.CPU: f"{cpu}m"}),))
    assert possible(place(pod, pool, (daemon,)), pool) <= possible(place(pod, pool), pool)


@given(PODS, POOLS, REQUIREMENTS)
def test_n04_who_requires_more_never_gets_more_types(pod: PodTemplate, pool: Pool, wanted: Requirement) -> None:
    assert isinstance(pod.selector, tuple)
    pickier = replace(pod, selector=(*pod.selector, wanted))
    assert possible(place(pickier, pool), pool) <= possible(place(pod, pool), pool)


@given(PODS, POOLS, TAINTS)
def test_n05_a_taint_more_never_lets_anybody_on(pod: PodTemplate, pool: Pool, taints: tuple[Taint, ...]) -> None:
    assert isinstance(pool.taints, tuple)
    guarded = replace(pool, taints=pool.taints + taints)
    assert possible(place(pod, guarded), guarded) <= possible(place(pod, pool), pool)


@given(PODS, POOLS, st.lists(st.builds(Preference, st.integers(1, 100), SELECTORS), max_size=3).map(tuple))
def test_w02_preferences_change_the_order_and_nothing_else(
    pod: PodTemplate, pool: Pool, preferred: tuple[Preference, ...]
) -> None:
    plain, choosy = place(pod, pool), place(replace(pod, preferred=preferred), pool)
    assert set(plain.types) == set(choosy.types)
    assert (plain.refusal, plain.unclear) == (choosy.refusal, choosy.unclear)
    assert [each.rank for each in choosy.candidates] == sorted(each.rank for each in choosy.candidates)


@given(PODS, POOLS)
def test_a_pool_of_several_types_admits_what_a_pool_of_one_of_them_admits(pod: PodTemplate, pool: Pool) -> None:
    together = place(pod, pool)
    alone = {kind.name for kind in pool.gpu_types if place(pod, replace(pool, types=(kind,))).admits}
    assert {kind.name for kind in together.types} == alone


@given(st.lists(PODS, max_size=6), POOLS)
def test_the_answer_does_not_depend_on_who_asked_before(pods: list[PodTemplate], pool: Pool) -> None:
    shared = Supply(pool)
    asked = [demand(pod) for pod in pods]
    assert [shared.place(each) for each in (*asked, *asked)] == [place(pod, pool) for pod in (*pods, *pods)]
