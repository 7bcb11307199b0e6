from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from eks_gpu.facts import instances, mig
from eks_gpu.settings.gpu_software import DevicePlugin, Operator
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.sharing import MigStrategy, Sharing, refuse_disagreement


def group(instance_type: str = "p4d.24xlarge", **choices: object) -> NodeGroup:
    return NodeGroup.model_validate({"instance_types": [instance_type], "count": 1, **choices})


def partitioned(**mig_choices: object) -> NodeGroup:
    return group(sharing={"mig": mig_choices})


def mistake(sharing: Mapping[str, object], instance_type: str = "p4d.24xlarge") -> str:
    with pytest.raises(ValidationError) as refused:
        group(instance_type, sharing=sharing)
    [error] = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def test_a_pool_that_says_nothing_shares_as_the_platform_does() -> None:
    default = Sharing.model_validate({"time_slicing": {"replicas": 2}})
    assert group().shared_as(default) == default
    assert group(sharing={}).shared_as(default) == Sharing()
    assert "nvidia.com/device-plugin.config" not in group().node_labels


@pytest.mark.parametrize(
    ("sharing", "config"),
    [
        ({}, "exclusive"),
        ({"time_slicing": {"replicas": 4}}, "time-slicing-4"),
        ({"time_slicing": {"replicas": 4, "rename": True}}, "time-slicing-4-renamed"),
        ({"mps": {"replicas": 3}}, "mps-3"),
        ({"mig": {"profile": "all-1g.5gb"}}, "exclusive"),
    ],
)
def test_g03_a_pools_nodes_choose_their_configuration_by_label(sharing: dict[str, object], config: str) -> None:
    labels = group(sharing=sharing).node_labels
    assert labels["nvidia.com/device-plugin.config"] == config


def test_g05_a_pools_nodes_choose_their_layout_by_label_and_say_that_they_are_partitioned() -> None:
    named, composed = partitioned(profile="all-1g.5gb"), partitioned(layout={"3g.20gb": 1, "1g.5gb": 4})
    assert named.node_labels["nvidia.com/mig.config"] == "all-1g.5gb"
    assert composed.node_labels["nvidia.com/mig.config"] == "4x1g.5gb-1x3g.20gb"
    assert named.node_labels["gpu-type"] == "a100-mig"
    assert group().node_labels["gpu-type"] == "a100"


def test_a_gpu_is_shared_in_one_way() -> None:
    assert mistake({"time_slicing": {"replicas": 2}, "mps": {"replicas": 2}}) == (
        "time_slicing and mps are both given; give one, because a GPU is shared in one way, or none for exclusive GPUs"
    )


@pytest.mark.parametrize("case", ["time_slicing", "mps"])
@pytest.mark.parametrize("replicas", [1, 0, -4])
def test_g03_fewer_than_two_pods_share_nothing(case: str, replicas: int) -> None:
    assert mistake({case: {"replicas": replicas}}) == "Input should be greater than or equal to 2"


@pytest.mark.parametrize(
    "sharing",
    [
        {"timeSlicing": {"replicas": 2}},
        {"time_slicing": {"replicas": 2, "renameByDefault": True}},
        {"mps": {"replicas": 2, "rename": True}},
        {"mig": {"profile": "all-1g.5gb", "profiles": []}},
    ],
)
def test_g03_an_unknown_key_is_an_error_and_not_silence(sharing: dict[str, object]) -> None:
    assert mistake(sharing) == "Extra inputs are not permitted"


@pytest.mark.parametrize("instance_type", ["g4dn.xlarge", "g5.xlarge", "g6.xlarge", "g6e.xlarge"])
def test_g04_mig_is_refused_where_the_gpu_has_none_with_what_works_instead(instance_type: str) -> None:
    model = instances.CATALOGUE[instance_type].gpu_name
    assert mistake({"mig": {"profile": "all-1g.5gb"}}, instance_type) == (
        f"sharing mig needs GPUs that can be partitioned, and the {model} of {instance_type} has no MIG; "
        f"{mig.WITHOUT_MIG} (sharing: {{mps: {{replicas: 2}}}}), or use types with MIG, such as p4d.24xlarge or "
        "p5.48xlarge"
    )


def test_g04_a_profile_that_the_gpu_has_not_is_refused_with_those_that_it_has() -> None:
    assert mistake({"mig": {"profile": "all-1g.18gb"}}) == (
        "sharing mig: the a100 with 40960 MiB has no layout all-1g.18gb; layouts are all-1g.5gb, all-1g.5gb.me, "
        "all-1g.10gb, all-2g.10gb, all-3g.20gb, all-4g.20gb, all-7g.40gb, all-balanced; did you mean all-1g.10gb?"
    )


def test_g05_a_layout_that_the_gpu_cannot_hold_is_refused_with_the_sum() -> None:
    assert mistake({"mig": {"layout": {"3g.20gb": 3, "1g.5gb": 1}}}) == (
        "sharing mig: the a100 with 40960 MiB cannot hold layout {'3g.20gb': 3, '1g.5gb': 1}: "
        "it needs 10 of 7 compute slices"
    )


@pytest.mark.parametrize("choices", [{}, {"profile": "all-1g.5gb", "layout": {"1g.5gb": 7}}])
def test_g05_there_is_one_layout(choices: dict[str, object]) -> None:
    assert mistake({"mig": choices}) == (
        "give one of profile, such as all-1g.5gb, and layout, such as {3g.20gb: 1, 1g.5gb: 4}"
    )


def test_g05_no_partition_is_no_partitioning() -> None:
    assert mistake({"mig": {"profile": "all-disabled"}}) == "profile all-disabled partitions nothing; remove mig"
    assert mistake({"mig": {"layout": {"1g.5gb": 0}}}).startswith("layout has 0 partitions of a profile")


@pytest.mark.parametrize("choices", [{"profile": "all-balanced"}, {"layout": {"3g.20gb": 1, "1g.5gb": 4}}])
def test_g04_one_name_for_partitions_of_several_sizes_is_refused(choices: dict[str, object]) -> None:
    assert "needs partitions of one profile" in mistake({"mig": {"strategy": "single", **choices}})


def test_g04_karpenter_never_buys_a_node_for_what_it_does_not_know() -> None:
    pool = {"instance_types": ["p4d.24xlarge"], "max_gpus": 8}
    for sharing, word in (
        ({"mig": {"profile": "all-1g.5gb"}}, "never buys a node for a partition"),
        ({"time_slicing": {"replicas": 2, "rename": True}}, "nvidia.com/gpu.shared, which it does not know"),
    ):
        with pytest.raises(ValidationError, match=word):
            NodePool.model_validate({**pool, "sharing": sharing})
    assert NodePool.model_validate({**pool, "sharing": {"time_slicing": {"replicas": 2}}}).sharing is not None


def test_g03_mps_needs_what_only_the_operator_brings() -> None:
    with pytest.raises(ValidationError, match="does not start with kind device_plugin"):
        DevicePlugin.model_validate({"kind": "device_plugin", "sharing": {"mps": {"replicas": 2}}})
    assert Operator.model_validate({"kind": "operator", "sharing": {"mps": {"replicas": 2}}}).sharing.shared


@pytest.mark.parametrize("kind", [Operator, DevicePlugin])
def test_g05_partitions_are_a_pools_and_no_default(kind: type[Operator | DevicePlugin]) -> None:
    name = "operator" if kind is Operator else "device_plugin"
    with pytest.raises(ValidationError, match="mig cannot be the default of all pools"):
        kind.model_validate({"kind": name, "sharing": {"mig": {"profile": "all-1g.5gb"}}})


def test_g02_sharing_does_not_reach_an_image_with_a_device_plugin_of_its_own() -> None:
    bottlerocket = {"family": "bottlerocket"}
    with pytest.raises(ValidationError, match="run a device plugin of their own"):
        group("g5.xlarge", image=bottlerocket, sharing={"time_slicing": {"replicas": 2}})
    pool = group("g5.xlarge", image=bottlerocket)
    assert pool.shared_as(Sharing.model_validate({"time_slicing": {"replicas": 2}})) == Sharing()
    assert pool.node_labels["nvidia.com/gpu.deploy.device-plugin"] == "false"
    assert pool.node_labels["nvidia.com/gpu.deploy.mig-manager"] == "false"
    assert "nvidia.com/gpu.deploy.device-plugin" not in group("g5.xlarge").node_labels


def test_g04_one_operator_has_one_strategy() -> None:
    pools = {
        "one": partitioned(profile="all-1g.5gb"),
        "other": partitioned(profile="all-1g.5gb", strategy=MigStrategy.SINGLE),
    }
    with pytest.raises(ValueError, match=r"strategy mixed \(one\) and single \(other\)"):
        refuse_disagreement(Sharing(), pools)


def test_g03_mps_does_not_start_beside_mixed_partitions() -> None:
    pools = {
        "slices": partitioned(profile="all-1g.5gb"),
        "limited": group("g5.xlarge", sharing={"mps": {"replicas": 2}}),
    }
    with pytest.raises(ValueError, match=r"sharing mps \(limited\) does not start beside mig with strategy mixed"):
        refuse_disagreement(Sharing(), pools)
    alike = {**pools, "slices": partitioned(profile="all-1g.5gb", strategy="single")}
    refuse_disagreement(Sharing(), alike)
