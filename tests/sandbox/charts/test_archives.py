"""The packed stand-in charts."""

from __future__ import annotations

import io
import json
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from eks_gpu.facts import versions
from eks_gpu.facts.versions import CHARTS, Chart
from sandbox.charts import archives
from sandbox.charts.definitions import DEFINITIONS, PROMETHEUS_OPERATOR
from sandbox.errors import SandboxError

ALL = list(CHARTS.values())
DEFINED = {
    versions.KARPENTER.name: ("crds", {"NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass", "CapacityBuffer"}),
    versions.KARPENTER_CRD.name: (
        "templates",
        {"NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass", "CapacityBuffer"},
    ),
    versions.GPU_OPERATOR.name: ("crds", {"ClusterPolicy", "NodeFeature", "NodeFeatureGroup", "NodeFeatureRule"}),
    versions.KUBE_PROMETHEUS_STACK.name: (
        "charts/crds/crds",
        {
            *("Alertmanager", "AlertmanagerConfig", "PodMonitor", "Probe", "Prometheus", "PrometheusAgent"),
            *("PrometheusRule", "ScrapeConfig", "ServiceMonitor", "ThanosRuler"),
        },
    ),
}


def name_of(chart: Chart) -> str:
    return chart.name


def files(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {entry.name: read(archive, entry) for entry in archive.getmembers()}


def read(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry)
    assert file is not None
    return file.read()


def definitions(packed: dict[str, bytes], folder: str) -> list[dict[str, Any]]:
    texts = [text for name, text in packed.items() if name.partition("/")[2].rpartition("/")[0] == folder]
    documents = [
        each for text in texts if b"CustomResourceDefinition" in text for each in yaml.load_all(text, yaml.CSafeLoader)
    ]
    return [each for each in documents if each]


@pytest.mark.parametrize("chart", ALL, ids=name_of)
def test_name_and_version_are_those_of_facts_and_written_nowhere_else(chart: Chart, packed: Path) -> None:
    inside = files(archives.pack(chart, packed).content)
    about = yaml.safe_load(inside[f"{chart.name}/Chart.yaml"])
    assert (about["name"], about["version"]) == (chart.name, chart.version)
    written = yaml.safe_load((archives.SOURCES / chart.name / "Chart.yaml").read_text())
    assert written.keys().isdisjoint({"name", "version", "appVersion"})


@pytest.mark.parametrize("chart", ALL, ids=name_of)
def test_the_same_things_make_the_same_bytes(chart: Chart, packed: Path, tmp_path: Path) -> None:
    assert archives.pack(chart, packed) == archives.pack(chart, tmp_path)


def test_what_was_packed_before_is_taken_as_it_is(tmp_path: Path) -> None:
    chart = versions.KARPENTER
    first = archives.pack(chart, tmp_path)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"kept")
    assert archives.pack(chart, tmp_path) == replace(first, content=b"kept")


@pytest.mark.parametrize("chart", [chart for chart in ALL if chart.name in DEFINED], ids=name_of)
def test_the_definitions_are_where_helm_looks_for_them(chart: Chart, packed: Path) -> None:
    folder, kinds = DEFINED[chart.name]
    found = definitions(files(archives.pack(chart, packed).content), folder)
    assert {each["spec"]["names"]["kind"] for each in found} == kinds


def test_the_definitions_judge_as_the_published_ones(packed: Path) -> None:
    folder, _ = DEFINED[versions.KARPENTER_CRD.name]
    found = definitions(files(archives.pack(versions.KARPENTER_CRD, packed).content), folder)
    (pool,) = [each for each in found if each["spec"]["names"]["kind"] == "NodePool"]
    schema = pool["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert "description" not in schema
    requirements = schema["properties"]["spec"]["properties"]["template"]["properties"]["spec"]["properties"]
    key = requirements["requirements"]["items"]["properties"]["key"]
    assert any("karpenter.sh" in rule["rule"] for rule in key["x-kubernetes-validations"])
    assert key["maxLength"] == 316


def test_a_field_called_description_is_not_taken_for_one(packed: Path) -> None:
    folder, _ = DEFINED[versions.KUBE_PROMETHEUS_STACK.name]
    found = definitions(files(archives.pack(versions.KUBE_PROMETHEUS_STACK, packed).content), folder)
    (config,) = [each for each in found if each["spec"]["names"]["kind"] == "AlertmanagerConfig"]
    assert re.search(r'"description": {[^{}]*"type": "string"', json.dumps(config))


def test_the_operators_version_is_that_of_its_definitions(packed: Path) -> None:
    about = archives.pack(versions.KUBE_PROMETHEUS_STACK, packed).metadata
    assert about["appVersion"] == f"v{PROMETHEUS_OPERATOR.version}"
    assert f"operator v{PROMETHEUS_OPERATOR.version.rpartition('.')[0]}" in versions.KUBE_PROMETHEUS_STACK.source


def test_karpenters_definitions_are_those_of_the_chart_that_is_installed() -> None:
    source = DEFINITIONS[versions.KARPENTER_CRD.name]
    assert source.module.version == versions.KARPENTER_CRD.version


def test_a_chart_without_a_stand_in_is_named(tmp_path: Path) -> None:
    unknown = replace(versions.DCGM_EXPORTER, name="no-such-chart")
    with pytest.raises(SandboxError, match=r"no stand-in for the chart no-such-chart; add sandbox/charts/"):
        archives.pack(unknown, tmp_path)
