"""Every daemon of both owners, and of adapters, reaches every GPU pool, whatever its taints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from eks_gpu.facts import taints
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import Taint
from eks_gpu.gpu import device_plugin, efa_device_plugin, gpu_operator
from eks_gpu.observability import exporter

OPERATOR: Final[dict[str, Any]] = gpu_operator.chart_values("sharing", "counters")
DAEMONS: Final[dict[str, Any]] = {
    "operands": OPERATOR["daemonsets"],
    "feature-discovery": OPERATOR["node-feature-discovery"]["worker"],
    "device-plugin": device_plugin.chart_values("sharing"),
    "dcgm-exporter": exporter.chart_values(None),
    "efa-plugin": efa_device_plugin.chart_values(["p4d.24xlarge"], ["us-east-1a"]),
}
TAINTS: Final[Sequence[Taint]] = (
    taints.GPU,
    taints.NOT_VALIDATED,
    *(taints.dedicated(name) for name in sorted({kind.gpu_name for kind in CATALOGUE.values()})),
)


def tolerated(toleration: dict[str, str], taint: Taint) -> bool:
    """Return whether Kubernetes takes a toleration as consent to a taint (corev1 Toleration.ToleratesTaint)."""
    if toleration.get("effect", taint.effect.value) != taint.effect.value:
        return False
    if toleration.get("key", taint.key) != taint.key:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value") == taint.value


@pytest.mark.parametrize("daemon", DAEMONS)
@pytest.mark.parametrize("taint", TAINTS, ids=str)
def test_n05_every_daemon_of_the_gpu_software_reaches_every_pool(daemon: str, taint: Taint) -> None:
    assert any(tolerated(each, taint) for each in DAEMONS[daemon]["tolerations"])
