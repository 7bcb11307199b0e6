"""Pools, pod templates, which pools admit which pods, and what pools cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.ami import AL2, AmiFamily
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.facts.taints import GPU, Effect, Taint
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement import admits, tolerates, types_selected
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, family_of_alias, family_of_ami_type, looks_like_gpu_type
from eks_gpu.planning.reading import NotKnown, NotKnownError
from eks_gpu.planning.spend import UnboundedSpendError, ceiling
from eks_gpu_policies import examples
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, unknown


def pool(
    *requirements: dict[str, object],
    types: tuple[str, ...] = ("g5.xlarge", "g5.2xlarge"),
    limits: Mapping[str, object] | None = None,
    taints: tuple[Mapping[str, object], ...] = (GPU.kubernetes(),),
) -> Pool:
    resource = examples.node_pool(types=types, limits=limits, taints=taints)
    wanted = resource.view.at("spec", "template", "spec", "requirements").data
    assert isinstance(wanted, list)
    resource = changed(resource, "spec.template.spec.requirements", [*wanted, *requirements])
    return Stack([resource, examples.node_class()]).pools[0]


def pod(**spec: object) -> PodTemplate:
    server = examples.deployment()
    for key, value in spec.items():
        server = changed(server, f"spec.template.spec.{key}", value)
    return Stack([server]).pods[0]


def requirement(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


def affinity(*terms: list[dict[str, object]]) -> dict[str, object]:
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def names(found: tuple[InstanceType, ...]) -> list[str]:
    return [item.name for item in found]


# --- pools -----------------------------------------------------------------------------------------------------------


def test_n08_requirements_are_expanded_over_the_catalogue() -> None:
    wanted = (requirement(labels.INSTANCE_GPU_NAME, "In", "a10g"), requirement(labels.INSTANCE_GPU_COUNT, "Lt", "4"))
    found = pool(*wanted, types=tuple(CATALOGUE))
    assert {item.family for item in found.gpu_types} == {"g5"}
    assert "g5.12xlarge" not in names(found.gpu_types)


def test_n08_labels_that_say_nothing_of_instances_narrow_nothing() -> None:
    assert names(pool(requirement("team", "In", "ml")).gpu_types) == ["g5.xlarge", "g5.2xlarge"]


def test_a_pool_without_capacity_requirement_may_buy_spot() -> None:
    resource = changed(examples.node_pool(), "spec.template.spec.requirements", [])
    assert Stack([resource]).pools[0].capacity_types == frozenset({"on-demand", "spot", "reserved"})
    assert pool().capacity_types == frozenset({"on-demand"})


def test_whoever_asks_for_gpus_by_requirement_limit_or_taint_does_not_get_them_by_omission() -> None:
    bare = examples.node_pool(limits={"cpu": "10"}, taints=())
    silent = changed(bare, "spec.template.spec.requirements", [])
    assert Stack([silent]).pools[0].by_omission
    assert not Stack([changed(silent, "spec.limits", {resources.GPU: "1"})]).pools[0].by_omission
    assert not Stack([changed(silent, "spec.template.spec.taints", [GPU.kubernetes()])]).pools[0].by_omission
    assert not Stack([bare]).pools[0].by_omission


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("g7z.xlarge", True),
        ("gr6.4xlarge", True),
        ("p9.48xlarge", True),
        ("p6e-gb200.36xlarge", True),
        ("g4ad.xlarge", False),
        ("m7i.large", False),
        ("trn2.48xlarge", False),
        ("x2gd.metal", False),
    ],
)
def test_names_of_types_with_nvidia_gpus(name: str, looks: bool) -> None:
    assert looks_like_gpu_type(name) is looks


def test_every_type_of_the_catalogue_looks_like_what_it_is_and_has_its_labels() -> None:
    for name, instance in CATALOGUE.items():
        assert looks_like_gpu_type(name)
        assert instance_labels(instance)[labels.INSTANCE_TYPE] == name
        category = instance_labels(instance)[labels.INSTANCE_CATEGORY]
        assert category
        assert name.startswith(category)


def test_families() -> None:
    assert family_of_ami_type(None) is AmiFamily.AL2023
    assert family_of_ami_type("BOTTLEROCKET_x86_64_NVIDIA") is AmiFamily.BOTTLEROCKET
    assert family_of_ami_type("AL2_x86_64_GPU") is AL2
    assert family_of_ami_type("CUSTOM") is None
    assert family_of_alias("bottlerocket@v1.66.0") is AmiFamily.BOTTLEROCKET
    assert family_of_alias("AL2") is AL2
    assert family_of_alias("Custom") is None


# --- placement -------------------------------------------------------------------------------------------------------


def test_w02_the_gpu_taint_is_tolerated_on_behalf_of_who_asks_for_a_gpu() -> None:
    assert admits(pool(), pod())


def test_w02_a_taint_of_the_pools_own_is_not() -> None:
    dear = Taint("team", "research", Effect.NO_SCHEDULE)
    guarded = pool(taints=(GPU.kubernetes(), dear.kubernetes()))
    assert not admits(guarded, pod())
    assert admits(guarded, pod(tolerations=[dear.toleration()]))
    assert admits(guarded, pod(tolerations=[{"operator": "Exists"}]))
    assert admits(guarded, pod(tolerations=[{"key": "team", "operator": "Exists", "effect": "NoSchedule"}]))
    assert not admits(guarded, pod(tolerations=[{"key": "team", "operator": "Exists", "effect": "NoExecute"}]))
    assert not admits(guarded, pod(tolerations=[{"key": "team", "value": "other"}]))


def test_n05_eks_adds_no_toleration_of_an_effect_that_evicts() -> None:
    evicting = Taint(GPU.key, GPU.value, Effect.NO_EXECUTE)
    assert not tolerates(pod(tolerations=[]), (evicting,))
    assert tolerates(pod(tolerations=[evicting.toleration()]), (evicting,))


def test_g04_a_pod_for_a_partition_lands_only_where_the_gpus_are_partitioned_so() -> None:
    container = examples.container(resources={"limits": {resources.mig("1g.5gb"): "1"}})
    for_slices = pod(containers=[container], tolerations=[GPU.toleration()])
    whole = pool(types=("p4d.24xlarge",))
    assert not admits(whole, for_slices)
    partitioned = {labels.MIG_CONFIG: "all-1g.5gb"}
    assert isinstance(whole.labels, Mapping)
    assert admits(replace(whole, labels={**whole.labels, **partitioned}), for_slices)
    others = replace(whole, labels={**whole.labels, labels.MIG_CONFIG: "all-2g.10gb"})
    assert not admits(others, for_slices)


def test_a_preference_keeps_nobody_off() -> None:
    assert tolerates(pod(), (Taint("team", "x", Effect.PREFER_NO_SCHEDULE),))


def test_a_pod_that_asks_for_no_gpu_needs_a_toleration() -> None:
    cpu_only = Stack([examples.deployment(examples.container(resources={}))]).pods[0]
    assert not admits(pool(), cpu_only)


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({labels.INSTANCE_TYPE: "g5.2xlarge"}, ["g5.2xlarge"]),
        ({labels.WORKLOAD: "inference"}, ["g5.xlarge", "g5.2xlarge"]),
        ({labels.WORKLOAD: "training"}, []),
        ({labels.ARCH: "arm64"}, []),
        ({"unheard-of": "x"}, []),
        ({labels.ZONE: "us-east-1a"}, ["g5.xlarge", "g5.2xlarge"]),
        ({labels.CAPACITY_TYPE: "on-demand"}, ["g5.xlarge", "g5.2xlarge"]),
        ({labels.CAPACITY_TYPE: "spot"}, []),
        ({labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}, []),
        ({labels.KARPENTER_NODEPOOL: "g5"}, ["g5.xlarge", "g5.2xlarge"]),
        ({labels.KARPENTER_NODEPOOL: "other"}, []),
        ({labels.INSTANCE_NETWORK_BANDWIDTH: "5000"}, ["g5.2xlarge"]),
        ({f"{labels.KARPENTER_AWS_DOMAIN}/instance-hypervisor": "nitro"}, ["g5.xlarge", "g5.2xlarge"]),
        ({f"{labels.KARPENTER_AWS_DOMAIN}/instance-vendor": "nitro"}, []),
    ],
)
def test_n04_a_selector_is_met_by_labels_of_type_and_pool(selector: dict[str, str], selected: list[str]) -> None:
    assert names(types_selected(pool(), pod(nodeSelector=selector))) == selected


@pytest.mark.parametrize(
    ("selector", "admitted"),
    [
        ({labels.EKS_CAPACITY_TYPE: "ON_DEMAND"}, True),
        ({labels.EKS_CAPACITY_TYPE: "SPOT"}, False),
        ({labels.CAPACITY_TYPE: "on-demand"}, False),
        ({labels.INSTANCE_GPU_NAME: "a10g"}, False),
        ({labels.KARPENTER_NODEPOOL: "any"}, False),
        ({labels.ZONE: "us-east-1a"}, True),
    ],
)
def test_n04_nodes_of_a_managed_group_carry_labels_of_eks_and_none_of_karpenter(
    selector: dict[str, str], admitted: bool
) -> None:
    assert admits(Stack([examples.node_group()]).pools[0], pod(nodeSelector=selector)) is admitted


def test_n04_the_name_of_a_node_pool_that_pulumi_is_to_choose_may_be_any() -> None:
    unnamed = Stack([changed(examples.node_pool(), "metadata", {}), examples.node_class()]).pools[0]
    assert admits(unnamed, pod(nodeSelector={labels.KARPENTER_NODEPOOL: "g5-1a2b3c4"}))


def test_n04_a_type_without_disks_of_its_own_has_no_label_for_them() -> None:
    mixed = pool(types=("g5g.xlarge", "g5.xlarge"))
    with_disks = [requirement(labels.INSTANCE_LOCAL_NVME, "Exists")]
    without = [requirement(labels.INSTANCE_LOCAL_NVME, "DoesNotExist")]
    assert names(types_selected(mixed, pod(affinity=affinity(with_disks)))) == ["g5.xlarge"]
    assert names(types_selected(mixed, pod(affinity=affinity(without)))) == ["g5g.xlarge"]


def test_n04_a_pools_own_requirement_offers_its_values() -> None:
    zoned = pool(requirement(labels.ZONE, "In", "us-east-1a", "us-east-1b"), requirement("team", "Exists"))
    assert admits(zoned, pod(nodeSelector={labels.ZONE: "us-east-1b"}))
    assert not admits(zoned, pod(nodeSelector={labels.ZONE: "us-east-1c"}))
    assert admits(zoned, pod(nodeSelector={"team": "any"}))
    assert not admits(zoned, pod(affinity=affinity([requirement("team", "DoesNotExist")])))


def test_one_term_of_the_affinity_is_enough_and_an_empty_one_matches_nothing() -> None:
    small = [requirement(labels.INSTANCE_TYPE, "In", "g5.xlarge")]
    other = [requirement(labels.INSTANCE_TYPE, "In", "p5.48xlarge")]
    assert names(types_selected(pool(), pod(affinity=affinity(small, other)))) == ["g5.xlarge"]
    assert not admits(pool(), pod(affinity=affinity(other)))
    assert not admits(pool(), pod(affinity=affinity([])))


def test_what_is_not_known_is_asked_for() -> None:
    group = changed(examples.node_group(), "labels", None)
    unclear = Stack([examples.deployment(nodeSelector={"team": "x"}), group])
    assert not admits(unclear.pools[0], unclear.pods[0])
    blind = Stack([unknown(examples.node_group(), "taints")]).pools[0]
    assert isinstance(blind.taints, NotKnown)
    with pytest.raises(NotKnownError):
        admits(blind, pod())


# --- spend -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("types", "limits", "hourly"),
    [
        (("g5.xlarge", "g5.12xlarge"), {resources.GPU: "8"}, 8 * 5.672 / 4),
        (("g5.xlarge", "g5.12xlarge", "g5.16xlarge"), {resources.GPU: "8"}, 8 * 4.096),
        (("p4d.24xlarge",), {resources.GPU: "8"}, 21.957642),
        (("g5.xlarge",), {resources.GPU: "100", "cpu": "4"}, 1.006),
        (("g5.xlarge",), {"cpu": "8"}, 2.012),
    ],
)
def test_m05_the_ceiling_of_a_pool_is_its_tightest_limit(
    types: tuple[str, ...], limits: dict[str, str], hourly: float
) -> None:
    assert ceiling(pool(types=types, limits=limits)).usd_per_hour == pytest.approx(hourly)


def test_m05_a_month_has_730_hours() -> None:
    assert ceiling(pool(types=("g5.xlarge",), limits={resources.GPU: "1"})).usd_per_month == pytest.approx(1.006 * 730)


def test_m05_no_limit_no_ceiling() -> None:
    with pytest.raises(UnboundedSpendError, match="has no limit on its GPUs"):
        ceiling(pool(limits={"memory": "1Ti"}))
    unsized = Stack([changed(examples.node_group(), "scalingConfig", {})]).pools[0]
    with pytest.raises(UnboundedSpendError, match="has no largest size"):
        ceiling(unsized)
