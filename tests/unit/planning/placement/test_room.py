"""Whether there is room on a node, and under the limits of its pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.planning.placement import place
from eks_gpu.planning.pod_template import (
    Container,
    PodTemplate,
)
from eks_gpu.planning.pool import Image, Kubelet, Pool, Size
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement, from_labels
from eks_gpu.planning.volume import Volume
from tests.support.placing import ANYWHERE, UNKNOWN, group, names, pod, pool

# --- room -------------------------------------------------------------------------------------------------------------


def daemon(**asks: str) -> PodTemplate:
    box = Container(name="d", requests={key.replace("_", "-"): text for key, text in asks.items()})
    return PodTemplate(name="daemon", owner_kind="DaemonSet", containers=(box,))


@pytest.mark.parametrize(
    ("types", "admitted"),
    [(("g5.xlarge",), []), (("g5.2xlarge",), ["g5.2xlarge"]), (("g5.xlarge", "g5.2xlarge"), ["g5.2xlarge"])],
)
def test_n03_four_cpu_beside_daemon_sets_of_500m(types: tuple[str, ...], admitted: list[str]) -> None:
    assert names(place(pod(asks={"cpu": "4"}), pool(*types), (daemon(cpu="300m"), daemon(cpu="200m")))) == admitted


def test_n03_the_reason_says_what_is_asked_and_what_is_there() -> None:
    greedy = pod(asks={"cpu": "4"})
    assert place(greedy, pool()).reason == "asks 4 CPU, g5.xlarge has 3.92"
    assert place(greedy, pool(), (daemon(cpu="500m"),)).reason == "asks 4 CPU, g5.xlarge has 3.42 after DaemonSets"
    assert place(pod(asks={"memory": "16Gi"}), pool("g5.xlarge")).reason == (
        "asks 16 GiB of memory, g5.xlarge has 13.83 GiB"
    )


def test_n03_the_type_with_most_room_is_named() -> None:
    assert place(pod(asks={"cpu": "64"}), pool("g5.2xlarge", "g5.8xlarge", "g5.xlarge")).reason == (
        "asks 64 CPU, g5.8xlarge has 31.85"
    )


def test_n03_a_daemon_set_that_selects_other_types_takes_nothing() -> None:
    picky = replace(daemon(cpu="3"), selector=from_labels({labels.INSTANCE_TYPE: "g5.2xlarge"}))
    both = pool("g5.xlarge", "g5.2xlarge")
    assert names(place(pod(asks={"cpu": "3"}), both, (picky,))) == ["g5.xlarge", "g5.2xlarge"]
    assert names(place(pod(asks={"cpu": "6"}), both, (picky,))) == []


def test_n03_the_worked_example_of_a_g4dn_xlarge() -> None:
    assert place(pod(asks={"memory": "14481Mi"}), pool("g4dn.xlarge")).admits
    assert place(pod(asks={"memory": "14482Mi"}), pool("g4dn.xlarge")).refuses


@pytest.mark.parametrize(("gib", "free"), [(20, 17), (100, 89)])
def test_n01_ephemeral_storage_is_the_volume_without_a_tenth_and_a_gibibyte(gib: int, free: int) -> None:
    root = Volume(
        device="/dev/xvda", size_gib=gib, type="gp3", throughput_mib=None, encrypted=True, from_snapshot=False
    )
    nodes = pool(volumes=(root,))
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: f"{free}Gi"}), nodes).admits
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: f"{free + 1}Gi"}), nodes).reason == (
        f"asks {free + 1} GiB of ephemeral-storage, g5.xlarge has {free} GiB"
    )


def test_n01_on_local_disks_it_is_theirs() -> None:
    asking = pod(asks={resources.EPHEMERAL_STORAGE: "200Gi"})
    assert place(asking, pool(instance_store_raid0=True)).admits
    assert place(asking, pool("g5g.xlarge", instance_store_raid0=True)).refuses
    assert place(asking, pool(instance_store_raid0=UNKNOWN)).unclear == UNKNOWN


def test_n01_of_an_image_of_somebodys_own_nobody_knows() -> None:
    own = pool(image=Image(family=None, choices=()))
    assert place(pod(), own).admits
    unclear = place(pod(asks={resources.EPHEMERAL_STORAGE: "1Gi"}), own).unclear
    assert unclear is not None
    assert "somebody's own image" in unclear.reason
    bottlerocket = pool(image=Image(family=AmiFamily.BOTTLEROCKET, choices=()))
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: "17Gi"}), bottlerocket).admits


def test_n03_what_a_kubelet_reserves_is_not_there() -> None:
    tight = Kubelet(
        kube_reserved={"cpu": "1", "memory": "2Gi"},
        system_reserved={"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "2Gi"},
        eviction_hard={"memory.available": "5%", "nodefs.available": "15%"},
    )
    nodes = pool(kubelet=tight)
    assert place(pod(asks={"cpu": "2500m"}), nodes).admits
    assert place(pod(asks={"cpu": "2501m"}), nodes).reason.endswith("g5.xlarge has 2.5")
    left = int(16384 * 0.925) - 2048 - 1024 - int(16384 * 0.05)
    assert place(pod(asks={"memory": f"{left - 1}Mi"}), nodes).admits
    assert place(pod(asks={"memory": f"{left + 1}Mi"}), nodes).refuses
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: "14Gi"}), nodes).admits
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: "14337Mi"}), nodes).refuses
    assert place(pod(asks={"cpu": "1"}), pool(kubelet=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(), pool(kubelet=UNKNOWN)).admits


@pytest.mark.parametrize(
    ("signal", "kept"),
    [("500Mi", 500), ("10%", 1638), ("99%", 16220), ("100%", 0), ("101%", 0), ("nonsense", 0), ("much%", 0)],
)
def test_n03_an_eviction_signal_is_an_amount_or_a_share_below_100(signal: str, kept: int) -> None:
    nodes = pool(kubelet=Kubelet(eviction_hard={"memory.available": signal}))
    left = 14162 + 100 - kept
    if left > 0:
        assert place(pod(asks={"memory": f"{left - 1}Mi"}), nodes).admits
    assert place(pod(asks={"memory": f"{max(0, left) + 1}Mi"}), nodes).refuses


def test_n03_a_threshold_of_storage_that_is_off_keeps_nothing() -> None:
    root = Volume(device="/dev/xvda", size_gib=50, type=None, throughput_mib=None, encrypted=True, from_snapshot=False)
    whole = pool(volumes=(root,), kubelet=Kubelet(eviction_hard={"nodefs.available": "100%"}))
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: "49Gi"}), whole).admits
    assert place(pod(asks={resources.EPHEMERAL_STORAGE: "50177Mi"}), whole).refuses


def test_n03_fewer_pods_leave_more_memory_and_fewer_places() -> None:
    few = pool(kubelet=Kubelet(max_pods=8))
    assert place(pod(asks={"memory": f"{14162 + 11 * 50}Mi"}), few).admits
    assert place(pod(), few, [daemon()] * 7).admits
    assert place(pod(), few, [daemon()] * 8).reason == ("finds all 8 places for pods on g5.xlarge taken by DaemonSets")


def test_n03_of_managed_nodes_memory_is_between_two_figures() -> None:
    assert place(pod(asks={"memory": "14162Mi"}), group()).admits
    between = place(pod(asks={"memory": "15Gi"}), group())
    assert between.unclear is not None
    assert place(pod(asks={"memory": "15Gi"}), pool()).refuses
    assert place(pod(asks={"memory": "16Gi"}), group()).refuses


def test_n03_what_is_not_known_is_told_only_where_it_decides() -> None:
    odd = group()
    unclear = place(pod(asks={"memory": "1Gi", "hugepages-2Mi": "1Gi"}), odd).unclear
    assert unclear is not None
    assert unclear.path == "hugepages-2Mi", "there is memory enough"
    first = place(pod(asks={"memory": "15Gi", "hugepages-2Mi": "1Gi"}), odd).unclear
    assert first is not None
    assert first.path == "memory"


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "admitted"),
    [
        ({resources.GPU: "8"}, ["g5.xlarge", "g5.12xlarge"]),
        ({resources.GPU: "3"}, ["g5.xlarge"]),
        ({resources.GPU: "0"}, []),
        ({"cpu": "4"}, ["g5.xlarge"]),
        ({"memory": "20Gi"}, ["g5.xlarge"]),
        ({"nodes": "0"}, []),
        ({"example.com/other": "0"}, ["g5.xlarge", "g5.12xlarge"]),
    ],
)
def test_m05_a_limit_must_hold_a_whole_node(limits: dict[str, str], admitted: list[str]) -> None:
    assert names(place(pod(), pool("g5.xlarge", "g5.12xlarge", limits=limits))) == admitted


def test_m05_the_smallest_excess_is_told() -> None:
    tight = pool("g5.12xlarge", "g5.48xlarge", limits={resources.GPU: "2"})
    assert place(pod(), tight).reason == "needs g5.12xlarge with 4 nvidia.com/gpu, more than the pool's limit of 2"
    assert place(pod(), pool(limits=UNKNOWN)).unclear == UNKNOWN


@pytest.mark.parametrize(
    "nodes",
    [group(size=Size(minimum=0, desired=0, maximum=0)), pool(size=Size(desired=0))],
)
def test_a_pool_of_no_nodes_has_no_room(nodes: Pool) -> None:
    assert place(pod(), nodes).reason == "finds no node there: the pool's largest size is 0"


def test_a_pool_of_one_node_or_of_nobody_knows_how_many_has_room() -> None:
    assert place(pod(), pool(size=Size(maximum=1))).admits
    assert place(pod(), pool(size=Size(maximum=0))).reason.startswith("finds no node there")
    assert place(pod(), group(size=UNKNOWN)).admits
    assert place(pod(), pool(size=UNKNOWN)).admits


def test_m05_karpenter_counts_memory_without_what_machines_keep() -> None:
    assert place(pod(), pool(limits={"memory": "15155Mi"})).admits
    assert place(pod(), pool(limits={"memory": "15154Mi"})).refuses


def test_m05_limits_are_node_pools_and_quantities() -> None:
    assert place(pod(), group(limits={resources.GPU: "0"})).admits
    assert place(pod(), pool(limits={"cpu": "plenty"})).admits


def test_karpenter_must_be_able_to_choose_among_so_many_values() -> None:
    two = Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "g6"), 2)
    both = pool("g5.xlarge", "g5.2xlarge", "g6.2xlarge", requirements=(two,))
    assert place(pod(asks={"cpu": "6"}), both).admits
    l4 = pod(selector=from_labels({labels.INSTANCE_GPU_NAME: "l4"}))
    assert place(l4, both).reason == (
        "fits 1 value of karpenter.k8s.aws/instance-family, fewer than the pool's minValues of 2"
    )
    three = pool("g5.2xlarge", "g6.2xlarge", requirements=(replace(two, min_values=3),))
    assert place(pod(), three).reason.startswith("fits 2 values of")
    zones = Requirement(labels.ZONE, "In", ("a", "b"), 2)
    assert place(pod(), pool(requirements=(zones,), zones=frozenset("abc"))).admits
    assert place(pod(), pool(requirements=(zones,), zones=frozenset("a"))).refuses


def test_values_that_nobody_names_are_enough_and_those_that_nobody_knows_are_left_open() -> None:
    some = Requirement(labels.ZONE, "Exists", (), 2)
    assert place(pod(), pool(requirements=(some,))).admits
    assert place(pod(), pool(requirements=(some,), zones=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(), pool(requirements=(some,), zones=frozenset("ab"))).admits
    assert place(pod(), pool(requirements=(some,), zones=frozenset("a"))).refuses
    teams = Requirement("team", "In", ("x", "y"), 2)
    assert place(pod(), pool(requirements=(teams,))).admits
    assert place(pod(), pool(requirements=(teams,), labels={"team": "x"})).refuses
    assert place(pod(), pool(requirements=(teams,), labels=UNKNOWN)).unclear == UNKNOWN


def test_a_node_is_always_in_some_zone() -> None:
    nowhere = pod(affinity=((Requirement(labels.ZONE, "DoesNotExist"),),))
    assert place(nowhere, pool(requirements=(Requirement(labels.ZONE, "NotIn", ("a",)),))).refuses


def test_how_many_values_are_left_is_not_known_where_types_are_not() -> None:
    two = Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "g6"), 2)
    wider = pool("g5.xlarge", requirements=(two,), unlisted=("g9.xlarge",))
    unclear = place(pod(), wider).unclear
    assert unclear is not None
    assert unclear.reason == "nothing is known of g9.xlarge"
    both = pool("g5.xlarge", "g6.xlarge", requirements=(two,))
    assert place(pod(), both).admits
    assert place(pod(asks={"cpu": "1"}), replace(both, kubelet=UNKNOWN)).unclear == UNKNOWN
    assert place(pod("0", {"cpu": "1"}, tolerations=ANYWHERE), pool("g5.xlarge", requirements=(two,))).admits
    graviton = Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "g5g"), 2)
    disks = pool("g5.xlarge", "g5g.xlarge", requirements=(graviton,), instance_store_raid0=UNKNOWN)
    asking = pod(asks={resources.EPHEMERAL_STORAGE: "1Gi"})
    assert place(asking, disks).unclear == UNKNOWN
    assert place(asking, replace(disks, requirements=())).admits


def test_of_several_things_that_are_not_known_the_first_that_decides_is_told() -> None:
    other = NotKnown("urn", "elsewhere")
    asking = pod(asks={"cpu": "1"})
    assert place(asking, pool(kubelet=other, limits=UNKNOWN)).unclear == other
    zones = Requirement(labels.ZONE, "Exists", (), 2)
    assert place(asking, pool(kubelet=other, zones=UNKNOWN, requirements=(zones,))).unclear == other
