"""What our components tell the charts is known to the stand-ins, and anything else is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest

from eks_gpu.facts import gpu_software, versions
from eks_gpu.facts.versions import Chart
from eks_gpu.gpu import device_plugin, gpu_operator
from eks_gpu.nodes import karpenter
from eks_gpu.observability import exporter, prometheus
from eks_gpu.settings.monitoring import BundledPrometheus, PrometheusVolume
from sandbox.charts import archives, values_schema
from tests.support.crds import chart_defaults

SET = {
    "karpenter": (
        versions.KARPENTER,
        karpenter.chart_values(cluster_name="here", queue_name="queue", region="us-east-1", isolated=False),
    ),
    "karpenter, isolated": (
        versions.KARPENTER,
        karpenter.chart_values(cluster_name="here", queue_name="queue", region="us-east-1", isolated=True),
    ),
    "device plugin": (versions.NVIDIA_DEVICE_PLUGIN, device_plugin.chart_values("sharing")),
    "operator": (versions.GPU_OPERATOR, gpu_operator.chart_values("sharing", "counters")),
    "exporter": (versions.DCGM_EXPORTER, exporter.chart_values(None)),
    "exporter, with a runtime class": (
        versions.DCGM_EXPORTER,
        exporter.chart_values(gpu_software.RUNTIME_CLASS),
    ),
    "prometheus": (versions.KUBE_PROMETHEUS_STACK, prometheus.chart_values(BundledPrometheus())),
    "prometheus, with everything": (
        versions.KUBE_PROMETHEUS_STACK,
        prometheus.chart_values(
            BundledPrometheus(
                volume=PrometheusVolume(storage_class="gp3"),
                grafana_admin_secret="grafana-admin",  # noqa: S106 - a name
                alertmanager_config_secret="alertmanager-config",  # noqa: S106 - a name
            )
        ),
    ),
}


def problems(chart: Chart, values: Mapping[str, Any]) -> list[str]:
    """Return what Helm would say of values: it holds those of the user, over the defaults, against the schema."""
    defaults = archives.default_values(chart)
    validator = jsonschema.Draft7Validator(values_schema.of(defaults))
    return [error.message for error in validator.iter_errors(merged(defaults, values))]


def merged(defaults: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    both = {**defaults, **values}
    return {
        key: merged(defaults[key], value) if isinstance(value, dict) and isinstance(defaults.get(key), dict) else value
        for key, value in both.items()
    }


def paths(values: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in values.items():
        yield (*prefix, key)
        if isinstance(value, dict):
            yield from paths(value, (*prefix, key))


def misspelt(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(values))
    within = copy
    for key in path[:-1]:
        within = within[key]
    within[f"{path[-1]}x"] = within.pop(path[-1])
    return copy


@pytest.mark.parametrize("case", SET)
def test_every_value_that_our_components_set_is_one_of_the_stand_ins(case: str) -> None:
    chart, values = SET[case]
    assert problems(chart, values) == []


@pytest.mark.parametrize("case", SET)
def test_a_misspelt_value_is_refused_wherever_the_stand_in_has_names(case: str) -> None:
    chart, values = SET[case]
    defaults = archives.default_values(chart)
    for path in paths(values):
        around: Any = defaults
        for key in path[:-1]:
            around = around.get(key) if isinstance(around, dict) else None
        # Below an empty map stands what Kubernetes knows: resources, labels.
        if around:
            assert problems(chart, misspelt(values, path)), f"{'.'.join(path)} can be misspelt"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"replicas": []}, "[] is not of type"),
        ({"settings": {"isolatedVPC": "yes"}}, "'yes' is not of type 'boolean'"),
        ({"tolerations": {}}, "{} is not of type 'array'"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(values: dict[str, Any], said: str) -> None:
    (found,) = problems(versions.KARPENTER, values)
    assert said in found


def test_the_defaults_of_the_stand_in_for_karpenter_are_those_of_its_chart() -> None:
    real, own = chart_defaults(), archives.default_values(versions.KARPENTER)
    for path in paths(own):
        theirs, ours = real, own
        for key in path:
            assert key in theirs, f"the chart has no {'.'.join(path)}"
            theirs, ours = theirs[key], ours[key]
        if not isinstance(ours, dict):
            assert ours == theirs, ".".join(path)
