from __future__ import annotations

from dataclasses import replace

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import versions
from eks_gpu.facts.versions import Chart
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs, chart_location
from eks_gpu.recording import RecordedResource, record

RELEASE = "kubernetes:helm.sh/v3:Release"
CHART = Chart("thing", "https://charts.example", "1.2.3", "a test", "2026-11-21")


ARGS = HelmChartArgs(chart=CHART, namespace="things", release_name="thing", values={"a": {"b": 1}})


def install(args: HelmChartArgs = ARGS) -> RecordedResource:
    return record(lambda: HelmChart("thing", args)).one(RELEASE)


def test_g06_a_chart_is_exact_atomic_and_patient() -> None:
    release = install()
    assert release["version"] == "1.2.3"
    assert release["atomic"] is True
    assert release["cleanupOnFail"] is True
    assert release["timeout"] == 1800
    assert release["maxHistory"] == 5
    assert "skipAwait" not in release.inputs


def test_g06_the_release_has_a_fixed_name_and_never_runs_twice_at_once() -> None:
    release = install()
    assert release["name"] == "thing"
    assert release.options.delete_before_replace


def test_g02_hooks_run_because_it_is_a_real_release_with_them_enabled() -> None:
    release = install()
    assert release.type == RELEASE
    assert "disableWebhooks" not in release.inputs
    assert "disableCrdHooks" not in release.inputs


def test_a_chart_never_makes_its_namespace() -> None:
    assert install()["createNamespace"] is False


def test_values_and_namespace_may_be_outputs() -> None:
    def program() -> None:
        name = pulumi.Output.from_input("things")
        HelmChart("thing", replace(ARGS, namespace=name, values={"config": {"name": pulumi.Output.from_input("x")}}))

    release = record(program).one(RELEASE)
    assert release["namespace"] == "things"
    assert release["values"] == {"config": {"name": "x"}}


def test_options_of_the_caller_are_kept() -> None:
    def program() -> None:
        first = k8s.core.v1.ConfigMap("first")
        HelmChart("thing", ARGS, pulumi.ResourceOptions(depends_on=[first], protect=True))

    recording = record(program)
    release = recording.one(RELEASE)
    assert recording.reaches(release, recording.named("first"))
    assert release.options.protect
    assert release.options.delete_before_replace


def test_a_chart_comes_from_its_repository() -> None:
    release = install()
    assert release["chart"] == "thing"
    assert release["repositoryOpts"] == {"repo": "https://charts.example"}


def test_an_oci_chart_is_named_by_its_whole_reference() -> None:
    assert chart_location(versions.KARPENTER) == {"chart": "oci://public.ecr.aws/karpenter/karpenter"}


@pytest.mark.parametrize("source", ["oci://mirror.example/charts", "oci://mirror.example/charts/"])
def test_a_mirror_takes_the_place_of_the_repository(source: str) -> None:
    release = install(replace(ARGS, chart_source=source))
    assert release["chart"] == "oci://mirror.example/charts/thing"
    assert "repositoryOpts" not in release.inputs


def test_an_https_mirror_keeps_the_charts_name() -> None:
    release = install(replace(ARGS, chart_source="https://mirror.example/nvidia"))
    assert release["chart"] == "thing"
    assert release["repositoryOpts"] == {"repo": "https://mirror.example/nvidia"}


def test_crds_can_be_left_to_a_chart_of_their_own() -> None:
    assert install(replace(ARGS, skip_crds=True))["skipCrds"] is True


@pytest.mark.parametrize("version", ["", "latest", "1.2", "^1.2.3", ">=1.2.3", "1.x", "*"])
def test_g07_a_version_that_is_not_exact_is_refused(version: str) -> None:
    chart = Chart("thing", "https://charts.example", version, "a test", "2026-11-21")
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(lambda: HelmChart("thing", replace(ARGS, chart=chart)))
    assert f"chart: version {version!r} of thing is not exact; name one version such as 1.2.3" in str(refused.value)


@pytest.mark.parametrize(
    "chart", [value for value in vars(versions).values() if isinstance(value, Chart)], ids=lambda chart: chart.name
)
def test_g07_every_chart_of_the_facts_is_exact(chart: Chart) -> None:
    assert record(lambda: HelmChart("thing", replace(ARGS, chart=chart))).one(RELEASE)["version"] == chart.version


def test_all_bad_arguments_are_reported_at_once() -> None:
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        install(replace(ARGS, namespace="", release_name="Thing_1", timeout_seconds=300, chart_source="ftp://mirror"))
    reason = "because GPU nodes and their images take minutes to arrive"
    assert str(refused.value).splitlines() == [
        "thing has 4 bad arguments:",
        "  namespace: is missing; give the value or the Output that will hold it",
        "  release_name: 'Thing_1' is no name of a Helm release; use up to 53 lowercase letters, digits and hyphens",
        f"  timeout_seconds: 300 is too short; give at least 900, {reason}",
        "  chart_source: 'ftp://mirror' is no place for charts; give an https:// repository or an oci:// prefix",
    ]
