"""Helm charts as resources."""

from __future__ import annotations

import pytest

from eks_gpu_policies import charts, examples


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
