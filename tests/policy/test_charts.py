"""Helm charts as resources."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import charts, examples
from eks_gpu_policies.program import Program


@pytest.mark.parametrize(
    "chart",
    [
        "gpu-operator",
        "nvidia/gpu-operator",
        "oci://registry.example/charts/gpu-operator",
        "oci://registry.example/charts/gpu-operator:v26.7.0",
        "oci://registry.example/charts/gpu-operator@sha256:0123",
        "https://helm.ngc.nvidia.com/nvidia/charts/gpu-operator-v26.7.0.tgz",
        "./charts/gpu-operator/",
        "charts/gpu-operator-26.7.0-rc.1.tar.gz",
        "gpu-operator.tgz",
    ],
)
def test_a_chart_is_known_wherever_it_comes_from(chart: str) -> None:
    assert charts.name(examples.release("release", chart, None)) == "gpu-operator"


@pytest.mark.parametrize("chart", ["k8s-device-plugin-2", "chart-1.0", "tgz"])
def test_names_that_look_like_versions_are_names(chart: str) -> None:
    assert charts.name(examples.release("release", chart, None)) == chart


def test_releases_are_found_by_their_charts_in_the_order_of_the_program() -> None:
    named = [("b", "karpenter"), ("a", "gpu-operator"), ("c", "karpenter"), ("d", "other")]
    unclear = dataclasses.replace(examples.release("e", "", None), props={"chart": UNKNOWN})
    program = Program((*(examples.release(name, chart, None) for name, chart in named), unclear))
    found = charts.releases(program, "gpu-operator", "karpenter")
    assert [release.name for release in found] == ["b", "a", "c"]
    assert [release.name for release in charts.releases(program, "other")] == ["d"]
    assert charts.releases(program, "unheard-of") == ()
    assert [what.source for what in charts.unclear(program)] == [unclear.urn]
