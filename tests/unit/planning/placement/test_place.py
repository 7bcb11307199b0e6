"""Where a pod can run in a pool that somebody describes by hand, at what price, or the first reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU, Effect, Taint, dedicated
from eks_gpu.planning.placement import Placement, place
from eks_gpu.planning.pod_template import (
    Container,
    PodTemplate,
    Preference,
    Toleration,
    VolumeAffinity,
)
from eks_gpu.planning.pool import Image, Kubelet, Overlay, Pool, PoolKind, Size
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement, from_labels
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split
from eks_gpu.planning.volume import Volume

UNKNOWN = NotKnown("urn", "somewhere")
ANYWHERE = (Toleration(None, "Exists", "", None),)


def pool(*types: str, kind: PoolKind = PoolKind.NODE_POOL, **settings: object) -> Pool:
    found = tuple(CATALOGUE[name] for name in types or ("g5.xlarge",))
    return Pool(name="p", kind=kind, types=found, **{"taints": (GPU,), **settings})  # type: ignore[arg-type]  # settings


def group(*types: str, **settings: object) -> Pool:
    return pool(*types, kind=PoolKind.NODE_GROUP, **settings)


def pod(gpus: str = "1", asks: Mapping[str, str] | None = None, **settings: object) -> PodTemplate:
    wanted = {**({resources.GPU: gpus} if gpus != "0" else {}), **(asks or {})}
    return PodTemplate(name="pod", containers=(Container(name="c", limits=wanted),), **settings)  # type: ignore[arg-type]  # settings


def names(placement: Placement) -> list[str]:
    return [kind.name for kind in placement.types]


# --- the answer ------------------------------------------------------------------------------------------------------


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


# --- taints ----------------------------------------------------------------------------------------------------------


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


# --- labels ----------------------------------------------------------------------------------------------------------


def test_n04_labels_are_looked_at_before_room() -> None:
    wrong = pod("8", selector=from_labels({labels.WORKLOAD: "training"}))
    found = place(wrong, pool(labels={labels.WORKLOAD: "inference"}))
    assert found.reason == "requires workload=training, nodes there have inference"


def test_n04_each_is_there_but_not_together() -> None:
    wanted = from_labels({labels.INSTANCE_GPU_NAME: "l4", labels.INSTANCE_GPU_COUNT: "4"})
    found = place(pod(selector=wanted), pool("g6.xlarge", "g5.12xlarge"))
    assert found.reason == (
        "requires karpenter.k8s.aws/instance-gpu-name=l4 and karpenter.k8s.aws/instance-gpu-count=4, which no instance "
        "type there has together"
    )


def test_n04_other_terms_are_counted() -> None:
    terms = ((Requirement("team", "In", ("x",)),), (Requirement("team", "Exists"),))
    assert place(pod(affinity=terms), pool()).reason == (
        "requires team=x, nodes there have no such label (nor does the other term of its affinity hold)"
    )
    more = (*terms, (Requirement("squad", "Exists"),))
    assert place(pod(affinity=more), pool()).reason.endswith("(nor do the 2 other terms of its affinity hold)")
    assert "without conditions" in place(pod(affinity=((),)), pool()).reason


def test_n04_a_label_must_also_be_absent_if_that_is_wanted() -> None:
    found = place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), pool(labels={"team": "x"}))
    assert found.reason == "requires no label team, nodes there have x"


def test_w02_labels_after_boot_are_on_nodes_that_run_and_on_none_that_is_to_be_bought() -> None:
    wanted = pod(selector=from_labels({labels.GFD_PRODUCT: "NVIDIA-A10G"}))
    assert "a label that nodes get only after boot" in place(wanted, pool()).reason
    assert place(wanted, group()).admits
    own = pod(selector=from_labels({"nvidia.com/gpu": "true"}))
    assert place(own, group()).refuses, "it only looks like one"
    without = pod(affinity=((Requirement(labels.MIG_STRATEGY, "DoesNotExist"),),))
    assert place(without, pool()).admits
    assert place(without, group()).admits


@pytest.mark.parametrize(
    "key", ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "eks.amazonaws.com/instance-family"]
)
def test_n04_former_names_of_labels_are_known(key: str) -> None:
    value = "g5" if key.endswith("family") else "g5.xlarge"
    assert place(pod(selector=from_labels({key: value})), pool()).admits
    assert place(pod(selector=from_labels({key: "m7i"})), pool()).refuses


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        (PoolKind.NODE_POOL, labels.CAPACITY_TYPE, "spot"),
        (PoolKind.NODE_GROUP, labels.EKS_CAPACITY_TYPE, "SPOT"),
    ],
)
def test_n04_each_maker_of_nodes_says_in_its_own_label_how_they_are_paid(kind: PoolKind, key: str, value: str) -> None:
    spot = pool(kind=kind, capacity_types=frozenset({"spot"}))
    assert place(pod(selector=from_labels({key: value})), spot).admits
    other = {labels.CAPACITY_TYPE: "on-demand", labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}[key]
    assert place(pod(selector=from_labels({key: other})), spot).reason.endswith(f"nodes there have {value}")
    for missing in {labels.CAPACITY_TYPE, labels.EKS_CAPACITY_TYPE} - {key}:
        for wanted in ("spot", "SPOT"):
            asking = pod(selector=from_labels({missing: wanted}))
            assert place(asking, spot).reason.endswith("nodes there have no such label")
    assert place(pod(selector=from_labels({key: value})), replace(spot, capacity_types=UNKNOWN)).unclear == UNKNOWN
    nobodys = replace(spot, kind=PoolKind.SELF_MANAGED)
    assert place(pod(selector=from_labels({key: value})), nobodys).refuses


def test_n04_eks_spells_it_in_capitals() -> None:
    asking = pod(selector=from_labels({labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}))
    assert place(asking, group()).admits


def test_n04_karpenter_describes_instance_types_and_eks_names_them() -> None:
    by_model, by_type = ({labels.INSTANCE_GPU_NAME: "a10g"}, {labels.INSTANCE_TYPE: "g5.xlarge"})
    assert place(pod(selector=from_labels(by_model)), pool()).admits
    assert place(pod(selector=from_labels(by_model)), group()).reason.endswith("nodes there have no such label")
    assert place(pod(selector=from_labels(by_type)), group()).admits
    assert place(pod(selector=from_labels({labels.ARCH: "amd64", labels.OS: "linux"})), group()).admits


def test_n04_requirements_on_one_label_say_nothing_of_another() -> None:
    teams = (Requirement("team", "In", ("x",)), Requirement("squad", "In", ("y",)))
    assert place(pod(selector=from_labels({"team": "x", "squad": "y"})), pool(requirements=teams)).admits
    assert place(pod(selector=from_labels({"team": "y"})), pool(requirements=teams)).reason == (
        "requires team=y, nodes there have x"
    )
    assert place(pod(selector=from_labels({"team": "x"})), pool(requirements=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(selector=from_labels({"team": "x"})), pool(requirements=UNKNOWN, labels={"team": "x"})).admits


@pytest.mark.parametrize(
    ("own", "absent", "present"),
    [
        (Requirement("team", "Exists"), False, True),
        (Requirement("team", "NotIn", ("y",)), True, True),
        (Requirement("team", "DoesNotExist"), True, False),
        (Requirement("team", "In", ("x", "y")), False, True),
        (Requirement("team", "Gt", ("1",)), False, False),
    ],
)
def test_n04_a_pools_requirement_says_whether_its_nodes_have_a_label(
    own: Requirement, absent: bool, present: bool
) -> None:
    required = pool(requirements=(own,))
    assert place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), required).admits is absent
    assert place(pod(selector=from_labels({"team": "x"})), required).admits is present


def test_n04_a_label_that_must_exist_and_not_be_something_exists() -> None:
    both = pool(requirements=(Requirement("team", "NotIn", ("y",)), Requirement("team", "Exists")))
    assert place(pod(affinity=((Requirement("team", "DoesNotExist"),),)), both).refuses
    assert place(pod(selector=from_labels({"team": "x"})), both).admits
    assert place(pod(selector=from_labels({"team": "y"})), both).refuses


def test_n04_what_a_pool_excludes_its_nodes_do_not_have() -> None:
    without = pool(requirements=(Requirement("team", "NotIn", ("y",)),))
    assert place(pod(selector=from_labels({"team": "y"})), without).reason == (
        "requires team=y, nodes there have no such label"
    )


def test_n04_of_types_some_have_a_label_and_others_do_not() -> None:
    mixed = pool("g5.xlarge", "g5g.xlarge")
    asking = pod(selector=from_labels({labels.INSTANCE_LOCAL_NVME: "999"}))
    assert place(asking, mixed).reason == "requires karpenter.k8s.aws/instance-local-nvme=999, nodes there have 250"


def test_n04_a_type_that_nobody_knows_may_have_any_label_of_types() -> None:
    wider = pool(unlisted=("g9.xlarge",))
    unclear = place(pod(selector=from_labels({labels.INSTANCE_TYPE: "g9.xlarge"})), wider).unclear
    assert unclear is not None
    assert unclear.reason == "nothing is known of g9.xlarge"


@pytest.mark.parametrize("backwards", [False, True])
def test_n04_of_several_terms_one_that_nobody_can_tell_leaves_it_open(backwards: bool) -> None:
    terms = [(Requirement("team", "In", ("x",)),), (Requirement(labels.ZONE, "In", ("b",)),)]
    asking = pod(affinity=tuple(terms[::-1] if backwards else terms))
    assert place(asking, pool(zones=UNKNOWN)).unclear == UNKNOWN
    assert place(asking, pool(zones=UNKNOWN, labels={"team": "x"})).admits


def test_n04_values_are_told_in_their_own_order() -> None:
    several = pool("g5.16xlarge", "g5.xlarge", "g5.4xlarge")
    numbers = pod(selector=from_labels({labels.INSTANCE_CPU: "1"}))
    assert place(numbers, several).reason.endswith("nodes there have 4, 16, 64")
    words = pool(requirements=(Requirement("team", "In", ("10", "9", "b", "a")),))
    assert place(pod(selector=from_labels({"team": "x"})), words).reason.endswith("nodes there have a, b, 9, 10")


def test_n04_what_nobody_finds_out_about_nodes_that_are_there_is_no_matter_of_time() -> None:
    torn = Requirement(labels.GFD_PRODUCT, "In", ("x",)), Requirement(labels.GFD_PRODUCT, "NotIn", ("x",))
    assert "after boot" not in place(pod(affinity=(torn,)), group()).reason
    assert "after boot" in place(pod(affinity=(torn,)), pool()).reason


def test_n04_labels_that_others_set_may_have_any_value() -> None:
    for key in (labels.KARPENTER_NODEPOOL, labels.RESERVATION_ID):
        assert place(pod(selector=from_labels({key: "x"})), pool()).admits
        assert place(pod(selector=from_labels({key: "x"})), group()).refuses
        assert place(pod(affinity=((Requirement(key, "DoesNotExist"),),)), pool()).refuses
    named = from_labels({labels.EKS_NODE_GROUP: "x"})
    assert place(pod(selector=named), group()).admits
    assert place(pod(selector=named), pool()).refuses
    assert place(pod(selector=named), replace(group(), kind=PoolKind.SELF_MANAGED)).refuses
    found_out = from_labels({labels.GFD_PRODUCT: "NVIDIA-A10G"})
    assert place(pod(selector=found_out), replace(group(), kind=PoolKind.SELF_MANAGED)).admits


def test_a_pool_that_has_no_zone_is_nowhere() -> None:
    torn = pool(zones=frozenset("a"), requirements=(Requirement(labels.ZONE, "In", ("b",)),))
    assert place(pod(selector=from_labels({labels.ZONE: "a"})), torn).reason.endswith("nodes there have no zone")


def test_n04_labels_of_the_place_are_no_pools_own() -> None:
    blind = pool(labels=UNKNOWN, zones=frozenset("ab"))
    assert place(pod(selector=from_labels({labels.ZONE: "a"})), blind).admits
    assert place(pod(selector=from_labels({labels.ZONE: "c"})), blind).refuses
    assert place(pod(selector=from_labels({labels.CAPACITY_TYPE: "on-demand"})), blind).admits
    for key in (labels.REGION, labels.HOSTNAME, labels.ZONE_ID):
        assert place(pod(selector=from_labels({key: "x"})), blind).admits
    assert place(pod(selector=from_labels({"team": "x"})), blind).unclear == UNKNOWN


# --- zones and volumes -----------------------------------------------------------------------------------------------

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


# --- room ------------------------------------------------------------------------------------------------------------


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


# --- GPUs and other devices ------------------------------------------------------------------------------------------


def tolerant(**asks: str) -> PodTemplate:
    wanted = {f"nvidia.com/{key.replace('__', '-').replace('_', '.')}": text for key, text in asks.items()}
    return pod("0", wanted, tolerations=ANYWHERE)


def test_w02_gpus_are_counted_node_by_node() -> None:
    assert names(place(pod("4"), pool("g5.xlarge", "g5.12xlarge"))) == ["g5.12xlarge"]
    assert place(pod("2"), pool()).reason == "asks 2 nvidia.com/gpu, g5.xlarge has 1"
    assert place(pod(), pool("g6f.xlarge")).reason == "asks 1 nvidia.com/gpu, g6f.xlarge has 0"


def test_g03_a_shared_gpu_is_several_on_nodes_that_are_there() -> None:
    sliced = group(split=Shares(4))
    assert place(pod("4"), sliced).admits
    assert place(pod("5"), sliced).reason == "asks 5 nvidia.com/gpu, g5.xlarge has 4"
    assert place(pod("2"), pool(split=Shares(4))).refuses, "Karpenter believes the physical count"
    assert place(pod("1"), pool(split=Shares(4))).admits


def test_g03_renamed_shares_leave_no_whole_gpu() -> None:
    renamed = group(split=Shares(4, resources.GPU_SHARED))
    assert place(tolerant(gpu_shared="4"), renamed).admits
    assert place(pod(), renamed).reason == "asks 1 nvidia.com/gpu, g5.xlarge has 0"
    assert place(tolerant(gpu_shared="1"), pool(split=Shares(4, resources.GPU_SHARED))).reason == (
        "asks 1 nvidia.com/gpu.shared, for which Karpenter buys no node"
    )
    assert place(tolerant(gpu_shared="1"), group(split=None)).reason == (
        "asks 1 nvidia.com/gpu.shared, g5.xlarge has 0"
    )


def test_g04_slices_are_there_by_layout_on_nodes_that_are_there() -> None:
    slices = group("p4d.24xlarge", split=Partitions("all-1g.5gb"))
    assert place(pod("0", {resources.mig("1g.5gb"): "56"}, tolerations=ANYWHERE), slices).admits
    assert place(pod("0", {resources.mig("1g.5gb"): "57"}, tolerations=ANYWHERE), slices).refuses
    assert place(pod("0", {resources.mig("2g.10gb"): "1"}, tolerations=ANYWHERE), slices).refuses
    assert place(pod(), slices).refuses, "no GPU is whole"
    single = replace(slices, split=Partitions("all-1g.5gb", mig.SINGLE))
    assert place(pod("56"), single).admits


def test_g04_karpenter_buys_none_for_slices() -> None:
    dynamic = pool("p4d.24xlarge", split=Partitions("all-1g.5gb"))
    asking = pod("0", {resources.mig("1g.5gb"): "1"}, tolerations=ANYWHERE)
    assert place(asking, dynamic).reason == "asks 1 nvidia.com/mig-1g.5gb, for which Karpenter buys no node"
    static = replace(dynamic, size=Size(desired=1))
    assert place(asking, static).admits


def test_g04_unless_an_overlay_tells_it_to() -> None:
    told = Overlay(
        requirements=(Requirement(labels.INSTANCE_TYPE, "In", ("p4d.24xlarge",)),),
        capacity={resources.mig("1g.5gb"): "56"},
    )
    dynamic = pool("p4d.24xlarge", split=Partitions("all-1g.5gb"), overlays=(told,))
    asking = pod("0", {resources.mig("1g.5gb"): "1"}, tolerations=ANYWHERE)
    assert place(asking, dynamic).admits
    elsewhere = replace(told, requirements=(Requirement(labels.INSTANCE_TYPE, "In", ("p5.48xlarge",)),))
    assert place(asking, replace(dynamic, overlays=(elsewhere,))).refuses


def test_g04_without_the_plugin_only_what_is_impossible_is_refused() -> None:
    asking = pod("0", {resources.mig("1g.5gb"): "1"}, tolerations=ANYWHERE)
    assert place(asking, group("p4d.24xlarge", split=UNKNOWN)).unclear == UNKNOWN
    assert place(asking, group("g5.xlarge", split=UNKNOWN)).refuses
    labelled = group("p4d.24xlarge", split=UNKNOWN, labels={labels.MIG_CONFIG: "all-1g.5gb"})
    assert place(asking, labelled).admits
    assert place(tolerant(gpu_shared="1"), group(split=UNKNOWN)).unclear == UNKNOWN
    assert place(pod(), group(split=UNKNOWN)).admits


def test_g09_adapters_are_counted() -> None:
    assert place(pod("8", {resources.EFA: "4"}), pool("p4d.24xlarge")).admits
    assert place(pod("8", {resources.EFA: "5"}), pool("p4d.24xlarge")).reason == (
        "asks 5 vpc.amazonaws.com/efa, p4d.24xlarge has 4"
    )
    assert place(pod("1", {resources.EFA: "1"}), pool("g5.xlarge")).refuses


@pytest.mark.parametrize("resource", ["hugepages-2Mi", "example.com/fuse"])
def test_what_karpenter_knows_nothing_of_it_does_not_buy(resource: str) -> None:
    asking = pod(asks={resource: "1"})
    assert place(asking, pool()).reason.endswith("for which Karpenter buys no node")
    unclear = place(asking, group()).unclear
    assert unclear is not None
    assert unclear.path == resource


# --- limits ----------------------------------------------------------------------------------------------------------


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


# --- what is not known -----------------------------------------------------------------------------------------------


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
