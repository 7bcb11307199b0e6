from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import mig
from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.planning.offer import offer_of, split_of
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split, advertised, may_advertise
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.sharing import Sharing

WHOLE = st.sampled_from([kind for kind in CATALOGUE.values() if kind.gpu_count])


@pytest.mark.parametrize(
    ("instance_type", "split", "expected"),
    [
        ("g5.12xlarge", None, {"nvidia.com/gpu": 4}),
        ("g5.12xlarge", Shares(3), {"nvidia.com/gpu": 12}),
        ("g5.12xlarge", Shares(3, "nvidia.com/gpu.shared"), {"nvidia.com/gpu.shared": 12}),
        ("p4d.24xlarge", Partitions("all-1g.5gb"), {"nvidia.com/mig-1g.5gb": 56}),
        ("p4d.24xlarge", Partitions("all-1g.5gb", mig.SINGLE), {"nvidia.com/gpu": 56}),
        ("p4de.24xlarge", Partitions("all-1g.10gb"), {"nvidia.com/mig-1g.10gb": 56}),
        ("p4d.24xlarge", Partitions("all-1g.10gb"), {"nvidia.com/mig-1g.10gb": 32}),
        (
            "p4d.24xlarge",
            Partitions("all-balanced"),
            {"nvidia.com/mig-1g.5gb": 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8},
        ),
        (
            "p4d.24xlarge",
            Partitions("4x1g.5gb-1x3g.20gb"),
            {"nvidia.com/mig-1g.5gb": 32, "nvidia.com/mig-3g.20gb": 8},
        ),
        ("p4d.24xlarge", Partitions("all-1g.5gb.me"), {"nvidia.com/mig-1g.5gb.me": 8}),
        ("p4d.24xlarge", Partitions("all-disabled"), {"nvidia.com/gpu": 8}),
        ("g6f.xlarge", None, {}),
    ],
)
def test_what_a_node_advertises(instance_type: str, split: Split, expected: dict[str, int]) -> None:
    assert advertised(CATALOGUE[instance_type], split) == expected


@pytest.mark.parametrize(("instance_type", "layout"), [("g5.xlarge", "all-1g.5gb"), ("p4d.24xlarge", "all-1g.18gb")])
def test_g04_a_layout_that_the_gpu_has_not_advertises_nothing_that_could_be_said(
    instance_type: str, layout: str
) -> None:
    with pytest.raises(ValueError, match=f"has no MIG layout {layout}"):
        advertised(CATALOGUE[instance_type], Partitions(layout))


@given(WHOLE, st.integers(2, 64))
def test_shares_are_as_many_as_gpus_times_replicas_under_whatever_name(instance: InstanceType, replicas: int) -> None:
    for split in (Shares(replicas), Shares(replicas, "nvidia.com/gpu.shared")):
        assert sum(advertised(instance, split).values()) == instance.gpu_count * replicas


@given(st.sampled_from([kind for kind in CATALOGUE.values() if kind.mig_capable]), st.data())
def test_partitions_are_as_many_under_either_strategy(instance: InstanceType, data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(sorted(mig.MODELS[instance.gpu_model].layouts)))
    mixed, single = (advertised(instance, Partitions(layout, strategy)) for strategy in (mig.MIXED, mig.SINGLE))
    assert sum(mixed.values()) == sum(single.values())
    assert set(single) == {"nvidia.com/gpu"}


def test_settings_say_how_gpus_are_split() -> None:
    cases: list[tuple[dict[str, object], Split]] = [
        ({}, None),
        ({"time_slicing": {"replicas": 2}}, Shares(2)),
        ({"time_slicing": {"replicas": 2, "rename": True}}, Shares(2, "nvidia.com/gpu.shared")),
        ({"mps": {"replicas": 3}}, Shares(3)),
        ({"mig": {"profile": "all-1g.5gb"}}, Partitions("all-1g.5gb", "mixed")),
        ({"mig": {"layout": {"1g.5gb": 2}, "strategy": "single"}}, Partitions("2x1g.5gb", "single")),
    ]
    for choices, split in cases:
        assert split_of(Sharing.model_validate(choices)) == split


def test_an_offer_is_what_a_pools_nodes_advertise_type_by_type() -> None:
    pool = NodeGroup.model_validate({"instance_types": ["g5.xlarge", "g5.12xlarge"], "count": 1})
    offer = offer_of("inference", pool, Sharing.model_validate({"time_slicing": {"replicas": 2}}))
    assert (offer.pool, offer.gpu_type, offer.resources) == ("inference", "a10g", ("nvidia.com/gpu",))
    assert [offer.on(kind) for kind in offer.types] == [{"nvidia.com/gpu": 2}, {"nvidia.com/gpu": 8}]


LABELLED = {"nvidia.com/mig.config": "all-1g.5gb"}


@pytest.mark.parametrize(
    ("instance_type", "node", "resource", "expected"),
    [
        ("p4d.24xlarge", LABELLED, "nvidia.com/mig-1g.5gb", True),
        ("p4d.24xlarge", LABELLED, "nvidia.com/mig-3g.20gb", False),
        ("p4d.24xlarge", {}, "nvidia.com/mig-1g.5gb", False),
        ("p4d.24xlarge", {"nvidia.com/mig.config": "somebodys-own"}, "nvidia.com/mig-1g.5gb", True),
        ("g5.xlarge", LABELLED, "nvidia.com/mig-1g.5gb", False),
        ("p4d.24xlarge", LABELLED, "nvidia.com/gpu", True),
        ("g5.xlarge", {}, "nvidia.com/gpu.shared", True),
    ],
)
def test_g04_labels_tell_whether_a_partition_can_be_there(
    instance_type: str, node: dict[str, str], resource: str, *, expected: bool
) -> None:
    assert may_advertise(node, CATALOGUE[instance_type], resource) is expected
