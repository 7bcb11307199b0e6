"""Where a pod can run in a pool that somebody describes by hand, at what price, or the first reason why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.taints import GPU, Effect, Taint, dedicated
from eks_gpu.planning.placement import place
from eks_gpu.planning.pod_template import (
    Preference,
    VolumeAffinity,
)
from eks_gpu.planning.requirements import Requirement, from_labels
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split
from tests.support.placing import ANYWHERE, UNKNOWN, group, names, pod, pool

# --- the answer -------------------------------------------------------------------------------------------------------


def test_w02_the_types_that_admit_a_pod_come_with_their_price_the_cheapest_first() -> None:
    found = place(pod(asks={"cpu": "6"}), pool("g5.xlarge", "g5.4xlarge", "g5.2xlarge"))
    assert [(each.instance.name, each.usd_per_hour) for each in found.candidates] == [
        ("g5.2xlarge", 1.212),
        ("g5.4xlarge", 1.624),
    ]
    assert (found.admits, found.refuses, found.reason, found.unclear) == (True, False, "", None)
    assert found.usd_per_hour == 1.212


def test_a_type_without_a_price_comes_last() -> None:
    found = place(pod("8"), pool("p5e.48xlarge", "p5en.48xlarge"))
    assert names(found) == ["p5en.48xlarge", "p5e.48xlarge"]
    assert found.candidates[1].usd_per_hour is None


def test_w02_what_is_preferred_ranks_and_never_refuses() -> None:
    l4 = Preference(10, (Requirement(labels.INSTANCE_GPU_NAME, "In", ("l4",)),))
    large = Preference(4, (Requirement(labels.INSTANCE_CPU, "Gt", ("4",)),))
    nowhere = Preference(100, (Requirement("team", "In", ("x",)),))
    found = place(pod(preferred=(l4, large, nowhere)), pool("g5.xlarge", "g5.2xlarge", "g6.xlarge", "g6.2xlarge"))
    assert [(each.instance.name, each.preference) for each in found.candidates] == [
        ("g6.2xlarge", 14),
        ("g6.xlarge", 10),
        ("g5.2xlarge", 4),
        ("g5.xlarge", 0),
    ]


def test_a_pool_without_gpu_types_has_nothing() -> None:
    assert place(pod(), replace(pool(), types=())).reason == "finds no instance type with a GPU there"


# --- taints -----------------------------------------------------------------------------------------------------------


def test_n05_eks_tolerates_the_taint_that_is_called_as_the_resource() -> None:
    assert place(pod(), pool()).admits
    assert place(pod("0", {"cpu": "1"}), pool()).reason == (
        "does not tolerate the taint nvidia.com/gpu=present:NoSchedule"
    )


@pytest.mark.parametrize("resource", [resources.GPU_SHARED, resources.mig("1g.5gb")])
def test_n05_shares_and_slices_have_keys_of_their_own(resource: str) -> None:
    asking = pod("0", {resource: "1"})
    split: Split = Shares(4, resources.GPU_SHARED) if resource == resources.GPU_SHARED else Partitions("all-1g.5gb")
    static = group("p4d.24xlarge", split=split)
    assert place(asking, static).reason.startswith("does not tolerate")
    assert place(replace(asking, tolerations=ANYWHERE), static).admits
    own = replace(static, taints=(Taint(resource, "x", Effect.NO_SCHEDULE),))
    assert place(asking, own).admits


def test_n05_an_effect_that_evicts_is_not_tolerated_for_anybody() -> None:
    evicting = pool(taints=(Taint(GPU.key, GPU.value, Effect.NO_EXECUTE),))
    assert place(pod(), evicting).reason.endswith("nvidia.com/gpu=present:NoExecute")


def test_the_first_taint_that_is_not_tolerated_is_named() -> None:
    assert place(pod(), pool(taints=(GPU, dedicated("a10g")))).reason == (
        "does not tolerate the taint gpu-type=a10g:NoSchedule"
    )


# --- zones and volumes ------------------------------------------------------------------------------------------------


IN_B = ((Requirement(labels.ZONE, "In", ("b",)),),)


def test_the_zones_of_a_pool_are_its_subnets_within_its_requirements() -> None:
    in_b = pod(selector=from_labels({labels.ZONE: "b"}))
    assert place(in_b, pool(zones=frozenset("abc"))).admits
    assert place(in_b, pool(zones=frozenset("ac"))).reason.endswith(f"{labels.ZONE}=b, nodes there have a, c")
    narrowed = (Requirement(labels.ZONE, "NotIn", ("b",)),)
    assert place(in_b, pool(zones=frozenset("abc"), requirements=narrowed)).refuses
    assert place(in_b, pool(requirements=(Requirement(labels.ZONE, "In", ("a",)),))).refuses
    assert place(in_b, pool()).admits
    assert place(in_b, pool(zones=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(), pool(zones=UNKNOWN)).admits


def test_s01_a_pod_goes_where_its_volume_is() -> None:
    bound = pod(volume_affinity=(VolumeAffinity("disk", IN_B),))
    assert place(bound, pool(zones=frozenset("ab"))).admits
    assert place(bound, pool(zones=frozenset("a"))).reason == (
        f"mounts disk, and the volume requires {labels.ZONE}=b, nodes there have a"
    )


def test_s01_a_volume_and_a_selector_may_exclude_each_other() -> None:
    torn = pod(selector=from_labels({labels.ZONE: "a"}), volume_affinity=(VolumeAffinity("disk", IN_B),))
    assert place(torn, pool(zones=frozenset("ab"))).reason == (
        f"mounts disk, and the volume requires {labels.ZONE}=b, which does not go with what the pod requires itself"
    )


def test_s01_two_volumes_in_two_zones_are_nowhere() -> None:
    in_a = ((Requirement(labels.ZONE, "In", ("a",)),),)
    torn = pod(volume_affinity=(VolumeAffinity("one", IN_B), VolumeAffinity("other", in_a)))
    assert place(torn, pool(zones=frozenset("ab"))).reason.startswith("mounts one, and the volume requires")
    assert place(pod(volume_affinity=UNKNOWN), pool()).unclear == UNKNOWN


# --- what is not known ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["taints", "labels", "types"])
def test_what_a_pool_does_not_say_yet_is_told(field: str) -> None:
    blind = replace(pool(labels={"team": "x"}), **{field: UNKNOWN})  # type: ignore[arg-type]  # any field may be unknown
    asking = pod(selector=from_labels({"team": "x"}))
    assert place(asking, blind).unclear == UNKNOWN


@pytest.mark.parametrize("field", ["selector", "affinity", "tolerations", "containers"])
def test_what_a_pod_does_not_say_yet_is_told(field: str) -> None:
    blind = replace(pod(), **{field: UNKNOWN})  # type: ignore[arg-type]  # any field may be unknown
    assert place(blind, pool(taints=(dedicated("a10g"),) if field == "tolerations" else (GPU,))).unclear == UNKNOWN


def test_what_is_not_known_does_not_hide_what_is_wrong_anyway() -> None:
    greedy = pod(asks={"cpu": "8"})
    assert place(greedy, pool(taints=UNKNOWN)).reason == "asks 8 CPU, g5.xlarge has 3.92"
    assert place(replace(greedy, selector=UNKNOWN), pool()).refuses
    assert place(replace(pod(), containers=UNKNOWN), pool(taints=(dedicated("x"),))).refuses


def test_a_type_that_nobody_knows_may_have_anything() -> None:
    new = replace(pool(), unlisted=("g9.xlarge",))
    assert names(place(pod(), new)) == ["g5.xlarge"]
    unclear = place(pod("8"), new).unclear
    assert unclear is not None
    assert unclear.reason == "nothing is known of g9.xlarge"
    assert place(pod(selector=from_labels({"team": "x"})), new).refuses, "its labels come from the pool"
