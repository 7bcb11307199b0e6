from __future__ import annotations

import pytest

from eks_gpu.gpu.installation import install_gpu_software
from eks_gpu.recording import record
from eks_gpu.settings.gpu_software import DevicePlugin, Operator
from tests.support.clusters import cluster


@pytest.mark.parametrize(
    ("chosen", "component", "chart"),
    [
        (Operator(kind="operator"), "eks-gpu:index:GpuOperator", "gpu-operator"),
        (DevicePlugin(kind="device_plugin"), "eks-gpu:index:DevicePlugin", "nvidia-device-plugin"),
    ],
)
def test_g02_there_is_exactly_one_owner_whatever_is_chosen(
    chosen: Operator | DevicePlugin, component: str, chart: str
) -> None:
    recording = record(lambda: install_gpu_software("gpu", chosen, cluster()))
    assert recording.one(component).name == "gpu"
    assert recording.one("kubernetes:helm.sh/v3:Release")["chart"] == chart
