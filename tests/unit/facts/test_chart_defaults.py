"""What well-known charts put on nodes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from eks_gpu.facts import labels, versions
from eks_gpu.facts.chart_defaults import (
    BY_CHART,
    COMMANDS,
    IMAGES,
    ChartDaemons,
    DaemonSet,
    Path,
    Role,
    node_agents,
    nvidia,
)
from eks_gpu.facts.chart_defaults.node_agents import DCGM_SERVER, DCGM_TOLERATIONS
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU

EACH = [
    pytest.param(chart, each, id=f"{chart.chart}/{each.name}")
    for chart in BY_CHART.values()
    for each in chart.daemon_sets
]


def value(chart: ChartDaemons, path: Path) -> object:
    place: object = chart.defaults
    for key in path:
        place = place.get(key) if isinstance(place, Mapping) else None
    return place


def daemon_set(chart: str, role: Role) -> DaemonSet:
    return next(each for each in BY_CHART[chart].daemon_sets if each.role is role)


def test_every_chart_is_there_under_its_own_name() -> None:
    assert len(BY_CHART) == len(nvidia.CHARTS) + len(node_agents.CHARTS)


def test_every_pinned_chart_and_add_on_that_has_daemon_sets_is_known() -> None:
    without = {versions.KARPENTER.name, versions.KARPENTER_CRD.name}
    assert versions.CHARTS.keys() - without <= BY_CHART.keys()
    assert versions.ADD_ONS.keys() - {"coredns"} <= BY_CHART.keys()


def test_no_pinned_chart_is_newer_than_what_was_read() -> None:
    for pinned in versions.CHARTS.values():
        chart = BY_CHART.get(pinned.name)
        if chart is not None and chart.read_until is not None:
            numbers = tuple(int(part) for part in pinned.version.removeprefix("v").split("."))
            assert numbers[: len(chart.read_until)] <= chart.read_until


@pytest.mark.parametrize(("chart", "each"), EACH)
def test_every_path_leads_to_a_default(chart: ChartDaemons, each: DaemonSet) -> None:
    if not chart.defaults:
        assert chart.read_until is not None
        return
    for path in each.tolerations:
        assert isinstance(value(chart, path), list), path
    for path in each.selectors:
        assert isinstance(value(chart, path), Mapping), path
    for paths in each.switches:
        assert any(isinstance(value(chart, path), bool) for path in paths), paths
    if each.affinity is not None:
        assert isinstance(value(chart, each.affinity), Mapping)


def test_the_device_plugin_looks_for_three_labels() -> None:
    written = str(value(nvidia.DEVICE_PLUGIN, ("affinity",)))
    for key in ("feature.node.kubernetes.io/pci-10de.present", labels.GPU_PRESENT, "cpu-model.vendor_id"):
        assert key in written


def test_its_discovery_tolerates_one_value_and_the_operators_any() -> None:
    plugin = value(nvidia.DEVICE_PLUGIN, ("nfd", "worker", "tolerations"))
    operator = value(nvidia.OPERATOR, ("node-feature-discovery", "worker", "tolerations"))
    assert GPU.toleration() in plugin  # type: ignore[operator] # a list, as the test above holds
    assert {"key": GPU.key, "operator": "Exists", "effect": "NoSchedule"} in operator  # type: ignore[operator] # as above


def test_every_operand_comes_by_a_label_and_can_be_opted_out() -> None:
    for each in nvidia.OPERATOR.daemon_sets:
        if each.role not in {Role.NFD, Role.DRA_DRIVER}:
            (key,) = each.always_selects
            assert key.startswith("nvidia.com/gpu.deploy.")
            assert key in each.opt_outs


def test_the_agents_engine_tolerates_nothing_and_knows_every_gpu_type() -> None:
    agent = node_agents.MONITORING_AGENT
    assert value(agent, DCGM_TOLERATIONS) == []
    engine = next(each for each in agent.daemon_sets if each.name == DCGM_SERVER)
    assert engine.affinity is not None
    written = str(value(agent, engine.affinity))
    assert all(f"'{name}'" in written for name in CATALOGUE)


@pytest.mark.parametrize("chart", ["aws-efs-csi-driver", "vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
def test_add_ons_of_every_node_tolerate_everything(chart: str) -> None:
    (each,) = BY_CHART[chart].daemon_sets
    found = [*each.always_tolerates]
    for path in each.tolerations:
        default = value(BY_CHART[chart], path)
        assert isinstance(default, list)
        found += default
    assert found == [{"operator": "Exists"}]


def test_an_image_of_gpu_discovery_is_not_taken_for_a_plugin() -> None:
    assert next(role for ending, role in IMAGES if "gpu-feature-discovery".endswith(ending)) is Role.GFD
    assert dict(COMMANDS)["mps-control-daemon"] is Role.MPS


def test_the_same_driver_goes_by_two_names() -> None:
    first, second = nvidia.DRA_DRIVERS
    assert (first.daemon_sets, first.defaults) == (second.daemon_sets, second.defaults)


def test_it_costs_no_heavy_module() -> None:
    program = (
        "import sys, eks_gpu.facts.chart_defaults;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'yaml', 'pulumi', 'pydantic', 'json'}))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
