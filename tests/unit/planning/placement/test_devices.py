"""GPUs, parts of GPUs and other devices: who offers what a pod asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import labels, mig, resources
from eks_gpu.planning.placement import place
from eks_gpu.planning.pod_template import (
    PodTemplate,
)
from eks_gpu.planning.pool import Overlay, Size
from eks_gpu.planning.requirements import Requirement
from eks_gpu.planning.sharing.advertised import Partitions, Shares
from tests.support.placing import ANYWHERE, UNKNOWN, group, names, pod, pool


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
