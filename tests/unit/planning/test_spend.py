"""What pools cost: the least, what is to be expected, the most; prices and their days."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import labels, prices, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.quotas import QUOTAS, quota_of
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.spend.demand import Berth, Demand, FixedNodes, needed
from eks_gpu.planning.spend.difference import Change, difference
from eks_gpu.planning.spend.figures import Amount, Nodes, Unpriced, cost_of, total
from eks_gpu.planning.spend.overhead import overhead
from eks_gpu.planning.spend.prices import Prices, SpotHistoryError, SpotPrices, read_spot_history
from eks_gpu.planning.spend.report import Bound, StackSpend, spend
from eks_gpu_policies import examples
from eks_gpu_policies.questions.spend import stack_spend, whole_gpus
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, unknown

G5, G5_2X, P4D = CATALOGUE["g5.xlarge"], CATALOGUE["g5.2xlarge"], CATALOGUE["p4d.24xlarge"]
SPOT = {"spot": ["spot", "on-demand"]}


def spend_of(*found: Resource, with_prices: Prices | None = None) -> StackSpend:
    return stack_spend(Stack(found), with_prices or Prices())


def figures(*found: Resource) -> dict[str, object]:
    """Return the figures of the only pool: dollars an hour, or why there are none."""
    (pool,) = spend_of(*found).pools
    return {
        bound.value: round(figure.on_demand, 3) if isinstance(figure, Amount) else figure.because
        for bound, figure in pool.figures.items()
    }


def server(replicas: int = 1, gpus: str = "1", name: str = "llm", **pod: object) -> Resource:
    box = examples.container(resources={"limits": {resources.GPU: gpus, "cpu": "2", "memory": "8Gi"}})
    return changed(examples.deployment(box, name=name, **pod), "spec.replicas", replicas)


def on_spot(pool: Resource, *values: str) -> Resource:
    return changed(pool, "spec.template.spec.requirements.1.values", list(values))


# --- figures of a pool -------------------------------------------------------------------------------------------


def test_m05_a_group_costs_its_minimum_its_desired_and_its_largest_size() -> None:
    sizes = {"minSize": 1, "desiredSize": 2, "maxSize": 4}
    group = examples.node_group(instanceTypes=["g5.2xlarge", "g5.xlarge"], scalingConfig=sizes)
    # The least of the cheapest type, what is expected of the first, the most of the dearest.
    assert figures(group) == {"minimum": 1.006, "expected": 2.424, "ceiling": 4.848}


def test_m05_static_replicas_are_there_without_any_work() -> None:
    pool = examples.node_pool(types=("g5.xlarge",), limits={"nodes": "3"}, replicas=2)
    assert figures(pool) == {"minimum": 2.012, "expected": 2.012, "ceiling": 3.018}


def test_m05_a_pool_that_follows_demand_costs_nothing_without() -> None:
    assert figures(examples.node_pool()) == {"minimum": 0, "expected": 0, "ceiling": 9.696}


def test_m05_workloads_of_the_stack_get_nodes_of_the_cheapest_type_that_admits_them() -> None:
    assert figures(examples.node_pool(), server(3))["expected"] == pytest.approx(3 * 1.006, abs=1e-3)


def test_n03_a_pod_that_needs_more_than_the_small_type_has_gets_the_larger() -> None:
    # Four CPUs are more than a g5.xlarge has for pods.
    pools = (examples.node_pool(), examples.node_class())
    assert figures(*pools, examples.deployment())["expected"] == pytest.approx(1.212)


def test_m05_placeholders_make_up_the_minimum_and_give_way_to_work() -> None:
    pause = changed(server(2, name="warm"), "spec.template.spec.containers.0.image", "registry.k8s.io/pause:3.10")
    assert figures(examples.node_pool(), pause)["minimum"] == pytest.approx(2.012)
    assert figures(examples.node_pool(), pause)["expected"] == pytest.approx(2.012)


def test_m05_what_ends_is_not_expected_for_a_month() -> None:
    template = server().view.at("spec", "template").data
    job = examples.resource("kubernetes:batch/v1:Job", "train", {"spec": {"template": template}})
    assert figures(examples.node_pool(), job)["expected"] == 0


def test_m05_nodes_that_are_there_take_what_they_hold_first() -> None:
    group = examples.node_group(scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1})
    found = spend_of(group, examples.node_pool(), server(3))
    # One of three runs on the group's node.
    assert {pool.name: pool.figures[Bound.EXPECTED] for pool in found.pools} == {
        "inference": Amount(1.212, 1.212, "1 x g5.2xlarge"),
        "g5": Amount(2.012, 2.012, "2 x g5.xlarge for llm"),
    }


def test_n12_karpenter_tries_the_pool_of_the_highest_weight_then_names_from_z_to_a() -> None:
    first = changed(examples.node_pool("a", types=("g5.xlarge",)), "spec.weight", 10)
    second, third = examples.node_pool("b", types=("g5.xlarge",)), examples.node_pool("c", types=("g5.xlarge",))
    for pools, chosen in (((first, second, third), "a"), ((second, third), "c")):
        found = spend_of(*pools, server())
        assert [pool.name for pool in found.pools if pool.figures[Bound.EXPECTED] != Amount(0, 0, "no node")] == [
            chosen
        ]


def expected(*found: Resource) -> list[str]:
    return [
        figure.because for pool in spend_of(*found).pools if isinstance(figure := pool.figures[Bound.EXPECTED], Amount)
    ]


def test_a_type_without_a_price_is_no_cheap_one() -> None:
    sizes = {"minSize": 1, "desiredSize": 1, "maxSize": 1}
    group = examples.node_group(instanceTypes=["p5e.48xlarge", "p5.48xlarge"], scalingConfig=sizes)
    assert figures(group)["minimum"] == CATALOGUE["p5.48xlarge"].usd_per_hour
    pool = examples.node_pool(types=("p5e.48xlarge", "p5.48xlarge"))
    assert expected(pool, examples.node_class(), server()) == ["1 x p5.48xlarge for llm"]
    assert expected(pool, server()) == ["1 x p5.48xlarge for llm"]


def test_without_a_node_class_the_types_with_gpus_enough_count() -> None:
    pool = examples.node_pool(types=("g5.xlarge", "g5.12xlarge", "g5.48xlarge"))
    assert expected(pool, server(gpus="4")) == ["1 x g5.12xlarge for llm"]


def test_gpus_that_are_only_requested_count_and_those_of_several_containers_add_up() -> None:
    pool = examples.node_pool(types=("g5.xlarge", "g5.12xlarge"))
    asks = examples.container(resources={"requests": {resources.GPU: "2"}})
    both = examples.container(
        name="second", resources={"requests": {resources.GPU: "1"}, "limits": {resources.GPU: "1"}}
    )
    plain = examples.container(name="plain", resources={"limits": {"cpu": "1"}})
    workload = examples.deployment(asks, name="llm")
    assert expected(pool, workload) == ["1 x g5.12xlarge for llm"]
    several = changed(workload, "spec.template.spec.containers", [asks, both, plain])
    assert needed_gpus(several) == 3


def needed_gpus(workload: Resource) -> int:
    (pod,) = Stack((workload,)).pods
    return whole_gpus(pod)


def test_what_is_suspended_needs_nothing() -> None:
    box = examples.container(resources={"limits": {resources.GPU: "1"}})
    spec = {"headGroupSpec": {"template": {"spec": {"containers": [box]}}}}
    ray = examples.resource("kubernetes:ray.io/v1:RayCluster", "ray", {"spec": spec})
    pool = examples.node_pool(types=("g5.2xlarge",))
    assert expected(pool, ray) == ["1 x g5.2xlarge for ray"]
    assert expected(pool, changed(ray, "spec.suspend", True)) == ["no node"]


def test_what_no_pool_has_room_for_is_told() -> None:
    assert spend_of(examples.node_pool(), server(9)).unplaced == ("llm",)
    assert spend_of(examples.node_pool(), server(8)).unplaced == ()


def test_parts_of_gpus_are_left_out_and_told() -> None:
    box = examples.container(resources={"limits": {resources.GPU_SHARED: "1"}})
    assert spend_of(examples.node_pool(), examples.deployment(box)).uncounted == ("llm (asks for parts of GPUs)",)


def test_replicas_that_are_not_known_are_told() -> None:
    said = spend_of(examples.node_pool(), unknown(server(), "spec.replicas")).uncounted
    assert said == ("llm (spec.replicas is not known before creation)",)


def test_sizes_and_types_that_are_not_known_have_no_figure() -> None:
    group = examples.node_group()
    assert set(figures(unknown(group, "scalingConfig")).values()) == {"scalingConfig is not known before creation"}
    found = spend_of(unknown(group, "instanceTypes"))
    assert (found.pools, found.unclear) == ((), ("inference: instanceTypes is not known before creation",))


def test_a_type_without_price_has_no_figure() -> None:
    group = examples.node_group(
        instanceTypes=["p5e.48xlarge"], scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 1}
    )
    assert figures(group) == {
        "minimum": 0,
        "expected": "the price of p5e.48xlarge is not known",
        "ceiling": "may buy p5e.48xlarge, whose price is not known",
    }


def test_a_type_that_nobody_knows_has_no_figure() -> None:
    group = examples.node_group(instanceTypes=["p9.48xlarge"])
    assert set(figures(group).values()) == {"may buy p9.48xlarge, whose price is not known"}


@pytest.mark.parametrize(
    ("kind", "spec", "pods"),
    [
        ("apps/v1:StatefulSet", {"replicas": 2, "template": None}, 2),
        ("leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", {"replicas": 2, "leaderWorkerTemplate": {"size": 3}}, 6),
    ],
)
def test_pods_are_counted_where_each_kind_says_so(kind: str, spec: dict[str, object], pods: int) -> None:
    template = server().view.at("spec", "template").data
    inner = spec.get("leaderWorkerTemplate")
    whole = (
        {**spec, "template": template}
        if inner is None
        else {**spec, "leaderWorkerTemplate": {"size": 3, "workerTemplate": template}}
    )
    found = spend_of(examples.node_pool(), examples.resource(f"kubernetes:{kind}", "llm", {"spec": whole}))
    assert found.total(Bound.EXPECTED).on_demand == pytest.approx(pods * 1.006)


# --- spot --------------------------------------------------------------------------------------------------------


def test_spot_counts_only_where_the_pool_may_buy_it() -> None:
    pool = examples.node_pool(types=("g5.xlarge",))
    assert spend_of(pool).total(Bound.CEILING).spot == pytest.approx(8 * 1.006)
    both = on_spot(pool, "spot", "on-demand")
    assert spend_of(both).total(Bound.CEILING).spot == pytest.approx(8 * prices.SPOT["g5.xlarge"])


def test_a_spot_price_that_is_not_known_is_no_price() -> None:
    pool = on_spot(examples.node_pool(types=("g5.xlarge", "g5.2xlarge")), "spot")
    measured = Prices(SpotPrices({"g5.xlarge": 0.4}, "2026-11-20", "measured"))
    found = spend_of(pool, server(2), with_prices=measured)
    assert found.total(Bound.EXPECTED).spot == pytest.approx(0.8)
    assert found.total(Bound.CEILING).spot is None


def test_spot_prices_are_of_types_of_the_catalogue_and_below_on_demand() -> None:
    for name, usd in prices.SPOT.items():
        on_demand = CATALOGUE[name].usd_per_hour
        assert on_demand is None or 0 < usd <= on_demand


def history(*entries: tuple[str, str, str, str]) -> dict[str, object]:
    keys = ("InstanceType", "AvailabilityZone", "Timestamp", "SpotPrice")
    return {"SpotPriceHistory": [dict(zip(keys, entry, strict=True)) for entry in entries]}


def test_measured_prices_are_the_mean_over_zones_of_each_zones_newest() -> None:
    found = read_spot_history(
        history(
            ("g5.xlarge", "us-east-1a", "2026-11-19T10:00:00Z", "0.90"),
            ("g5.xlarge", "us-east-1a", "2026-11-20T10:00:00Z", "0.40"),
            ("g5.xlarge", "us-east-1b", "2026-11-18T10:00:00Z", "0.60"),
        )
    )
    assert found.usd_per_hour == {"g5.xlarge": pytest.approx(0.5)}
    assert found.as_of == "2026-11-20"


def test_the_first_of_two_prices_of_one_moment_counts_and_a_later_one_replaces_it() -> None:
    def price(*entries: tuple[str, str, str, str]) -> float:
        return read_spot_history(history(*entries)).usd_per_hour["g5.xlarge"]

    first = ("g5.xlarge", "a", "2026-11-20T08:00:00Z", "0.5")
    assert price(first, ("g5.xlarge", "a", "2026-11-20T08:00:00Z", "0.7")) == 0.5
    assert price(first, ("g5.xlarge", "a", "2026-11-20T07:00:00Z", "0.7")) == 0.5
    assert price(first, ("g5.xlarge", "a", "2026-11-20T09:00:00Z", "0.7")) == 0.7
    assert read_spot_history(history(first)).source == "measured"


@pytest.mark.parametrize("price", [None, True, [], "nan", "inf", "-0.1", "dear", 10**400])
def test_a_price_that_is_no_amount_is_refused(price: object) -> None:
    content = {"SpotPriceHistory": [{**ENTRY, "SpotPrice": price}]}
    with pytest.raises(SpotHistoryError, match=r"SpotPriceHistory\[0\] lacks .* a SpotPrice that is a number"):
        read_spot_history(content)


@pytest.mark.parametrize(("price", "usd"), [("0.5", 0.5), (0.5, 0.5), (0, 0.0)])
def test_a_price_may_be_a_text_or_a_number(price: object, usd: float) -> None:
    content = {"SpotPriceHistory": [{**ENTRY, "SpotPrice": price}]}
    assert read_spot_history(content).usd_per_hour == {"g5.xlarge": usd}


ENTRY = {"InstanceType": "g5.xlarge", "AvailabilityZone": "a", "Timestamp": "2026-11-20T08:00:00Z"}


def test_prices_of_windows_are_left_out() -> None:
    entries = history(("g5.xlarge", "us-east-1a", "2026-11-20T10:00:00Z", "0.40"))
    windows = {**entries["SpotPriceHistory"][0], "ProductDescription": "Windows", "SpotPrice": "2"}  # type: ignore[index]  # a list, made above
    both = {"SpotPriceHistory": [*entries["SpotPriceHistory"], windows]}  # type: ignore[misc]  # the same list
    assert read_spot_history(both).usd_per_hour == {"g5.xlarge": 0.4}
    with pytest.raises(SpotHistoryError, match="has no price of Linux/UNIX in its 1 entries"):
        read_spot_history({"SpotPriceHistory": [windows]})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([], "has no list SpotPriceHistory; write it with: aws ec2 describe-spot-price-history"),
        ({"SpotPriceHistory": ["x"]}, r"SpotPriceHistory\[0\] is no mapping"),
        (history(("g5.xlarge", "a", "2026-11-20", "free")), r"\[0\] lacks InstanceType, .* SpotPrice that is a number"),
        (history(("g5.xlarge", "a", "2026-11-20", "-1")), r"\[0\] lacks"),
    ],
)
def test_another_file_is_refused_in_a_sentence(content: object, says: str) -> None:
    with pytest.raises(SpotHistoryError, match=says):
        read_spot_history(content)


# --- demand ------------------------------------------------------------------------------------------------------


def demand(pods: int, gpus: int, *berths: Berth, placeholder: bool = False) -> Demand:
    return Demand(name="w", pods=pods, gpus=gpus, berths=berths, placeholder=placeholder)


def test_pods_share_a_node_as_its_gpus_allow() -> None:
    found = needed([demand(5, 3, Berth("p", P4D))], {}, {"p": 100})
    assert found.nodes == {"p": [Nodes(3, P4D, "w")]}


def test_a_placeholder_has_a_node_to_itself() -> None:
    found = needed([demand(2, 1, Berth("p", P4D), placeholder=True)], {}, {"p": 100})
    assert found.nodes == {"p": [Nodes(2, P4D, "w")]}


def test_a_type_that_ec2_counts_no_gpu_on_holds_one_pod_where_an_overlay_says_so() -> None:
    part = CATALOGUE["g6f.xlarge"]
    assert part.gpu_count == 0
    for placeholder in (False, True):
        found = needed([demand(2, 1, Berth("p", part), placeholder=placeholder)], {}, {"p": 8})
        assert (found.nodes, found.unplaced) == ({"p": [Nodes(2, part, "w")]}, [])


def test_what_is_there_takes_what_it_holds_and_nothing_is_bought_for_the_rest_of_none() -> None:
    berths = (Berth("fixed", P4D), Berth("p", P4D))
    assert needed([demand(2, 3, *berths)], {"fixed": FixedNodes(1, 8)}, {"p": 100}).nodes == {}
    third = needed([demand(3, 3, *berths)], {"fixed": FixedNodes(1, 8)}, {"p": 100})
    assert third.nodes == {"p": [Nodes(1, P4D, "w")]}


def test_pods_fill_the_nodes_that_a_limit_allows_and_the_rest_goes_on() -> None:
    found = needed([demand(5, 3, Berth("p", P4D), Berth("q", P4D))], {}, {"p": 16, "q": 8})
    assert (found.nodes, found.unplaced) == ({"p": [Nodes(2, P4D, "w")], "q": [Nodes(1, P4D, "w")]}, [])


def test_a_pod_that_no_node_holds_and_a_pool_below_one_node_buy_nothing() -> None:
    too_many = needed([demand(1, 16, Berth("p", P4D))], {}, {"p": 100})
    assert (too_many.nodes, too_many.unplaced) == ({}, ["w"])
    too_small = needed([demand(1, 1, Berth("p", P4D))], {}, {"p": 4})
    assert (too_small.nodes, too_small.unplaced) == ({}, ["w"])


def test_a_full_pool_spills_into_the_next() -> None:
    found = needed([demand(3, 1, Berth("cheap", G5), Berth("dear", P4D))], {}, {"cheap": 2, "dear": 8})
    assert found.nodes == {"cheap": [Nodes(2, G5, "w")], "dear": [Nodes(1, P4D, "w")]}


@given(
    pods=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=6),
    nodes=st.integers(0, 4),
    limit=st.integers(0, 64),
)
def test_no_limit_is_exceeded_and_no_pod_is_lost(pods: list[tuple[int, int]], nodes: int, limit: int) -> None:
    demands = [
        replace(demand(count, gpus, Berth("fixed", P4D), Berth("pool", P4D)), name=str(number))
        for number, (count, gpus) in enumerate(pods)
    ]
    found = needed(demands, {"fixed": FixedNodes(nodes, P4D.gpu_count)}, {"pool": limit})
    bought = sum(item.count for item in found.nodes.get("pool", ()))
    assert bought * P4D.gpu_count <= limit
    assert "fixed" not in found.nodes
    asked = sum(count * gpus for count, gpus in pods)
    if not found.unplaced:
        assert asked <= (bought + nodes) * P4D.gpu_count
    if asked == 0:
        assert bought == 0


# --- sums, differences, overhead, quotas ----------------------------------------------------------------------------


def test_a_sum_says_what_is_not_in_it() -> None:
    found = total([("a", Amount(1, 0.5, "")), ("b", Unpriced("has no price")), ("c", Amount(2, None, ""))])
    assert (found.on_demand, found.spot, found.missing) == (3, None, ("b has no price",))


def test_nodes_without_a_price_have_no_cost() -> None:
    assert cost_of([Nodes(1, CATALOGUE["p5e.48xlarge"])], lambda _kind: None) == Unpriced(
        "the price of p5e.48xlarge is not known"
    )


def test_a_difference_tells_what_came_went_and_changed() -> None:
    kept, more = examples.node_pool("kept"), examples.node_pool("more", types=("g5.xlarge",))
    larger = changed(more, "spec.limits", {resources.GPU: "16"})
    now = spend_of(kept, larger, examples.node_pool("new", types=("p4d.24xlarge",)))
    then = spend_of(kept, more, examples.node_pool("old", types=("g6.xlarge",)))
    found = {item.name: (item.change, item.usd_per_hour[Bound.CEILING]) for item in difference(now, then)}
    assert found == {
        "kept": (Change.SAME, 0),
        "more": (Change.CHANGED, pytest.approx(8 * 1.006)),
        "new": (Change.ADDED, pytest.approx(21.957642)),
        "old": (Change.REMOVED, pytest.approx(-8 * 0.8048)),
    }


def test_a_difference_with_what_has_no_price_has_no_figure() -> None:
    free, bound = examples.node_pool("p", limits={}), examples.node_pool("p")
    (item,) = difference(spend_of(free), spend_of(bound))
    assert (item.change, item.usd_per_hour[Bound.CEILING]) == (Change.CHANGED, None)


def test_n05_daemon_sets_cost_their_share_of_a_node() -> None:
    agent = Stack([examples.deployment(examples.container(resources={"requests": {"cpu": "392m", "memory": "1Gi"}}))])
    found = overhead(G5, [("agent", agent.pods[0]), ("agent", agent.pods[0])])
    assert (found.cpu_millicores, found.memory_mib, found.daemons) == (392, 1024, ("agent",))
    assert found.share == pytest.approx(0.1)
    assert found.usd_per_day == pytest.approx(0.1 * 1.006 * 24)
    assert overhead(CATALOGUE["p5e.48xlarge"], ()).usd_per_day is None


def test_daemon_sets_that_cannot_be_read_are_told() -> None:
    pod = Stack([unknown(examples.deployment(), "spec.template.spec.containers")]).pods[0]
    found = overhead(G5, [("agent", pod)])
    assert (found.daemons, found.uncounted, found.share) == ((), ("agent",), 0)


def test_n05_daemon_sets_of_the_stack_that_reach_a_pool_are_counted() -> None:
    template = server().view.at("spec", "template").data
    agent = examples.resource(
        "kubernetes:apps/v1:DaemonSet", "agent", {"metadata": {"name": "agent"}, "spec": {"template": template}}
    )
    box = {"name": "agent", "image": "x/agent:1", "resources": {"requests": {"cpu": "196m"}}}
    agent = changed(agent, "spec.template.spec.containers", [box])
    keeps_off = spend_of(examples.node_pool(), agent).pools[0].daemons
    comes = changed(agent, "spec.template.spec.tolerations", [{"operator": "Exists"}])
    reaches = spend_of(examples.node_pool(), comes).pools[0].daemons
    assert keeps_off is not None
    assert keeps_off.daemons == ()
    assert reaches is not None
    assert reaches.daemons == ("agent",)
    assert reaches.share == pytest.approx(0.05)


def test_every_family_of_the_catalogue_has_a_quota_on_demand() -> None:
    for instance in CATALOGUE.values():
        quota = quota_of(instance.family, spot=False)
        assert quota is not None
        assert quota.families[0] == instance.family[0]
    assert len({quota.code for quota in QUOTAS}) == len(QUOTAS)


def test_spend_needs_no_pods() -> None:
    assert spend((), (), Prices()).pools == ()
    (pool,) = Stack([examples.node_pool()]).pools
    open_capacity: Pool = replace(pool, capacity_types=NotKnown(pool.urn, "spec.requirements"))
    (found,) = spend((open_capacity,), (), Prices()).pools
    assert found.capacity_types == ()
    assert isinstance(found.figures[Bound.CEILING], Unpriced)
    assert labels.CAPACITY_TYPE not in found.name
