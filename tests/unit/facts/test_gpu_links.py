from __future__ import annotations

import pytest

from eks_gpu.facts.gpu_links import (
    LINKS,
    least_all_reduce_across,
    least_all_reduce_within,
    least_host_bandwidth,
)
from eks_gpu.facts.instances import CATALOGUE, InstanceType

WHOLE = [kind for kind in CATALOGUE.values() if kind.gpu_count]


def test_g08_every_gpu_of_the_catalogue_has_a_link_and_no_other() -> None:
    assert {kind.gpu_name for kind in CATALOGUE.values()} == set(LINKS)


@pytest.mark.parametrize("kind", WHOLE, ids=lambda kind: kind.name)
def test_g08_what_is_demanded_is_less_than_half_lanes_give_and_more_than_a_link_that_fell_back(
    kind: InstanceType,
) -> None:
    carried = LINKS[kind.gpu_name].host_gb_per_second
    assert 0.8 * carried / 4 < least_host_bandwidth(kind) < 0.8 * carried / 2


def test_g08_gpus_with_nvlink_must_be_faster_together_than_their_pcie_could_be() -> None:
    for kind in WHOLE:
        link = LINKS[kind.gpu_name]
        if link.nvlink_gb_per_second and link.switched:
            assert least_all_reduce_within(kind) > link.host_gb_per_second, kind.name


@pytest.mark.parametrize(
    ("name", "least"), [("p3.16xlarge", 30), ("p4d.24xlarge", 150), ("p5.48xlarge", 225), ("g5.12xlarge", 1)]
)
def test_g08_an_all_reduce_within_a_node_is_held_against_its_nvlinks(name: str, least: float) -> None:
    assert least_all_reduce_within(CATALOGUE[name]) == least


@pytest.mark.parametrize(("name", "least"), [("p4d.24xlarge", 25), ("p5.48xlarge", 200)])
def test_g09_an_all_reduce_across_nodes_is_held_against_their_network(name: str, least: float) -> None:
    assert least_all_reduce_across(CATALOGUE[name]) == least
