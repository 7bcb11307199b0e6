"""SOFT005: versions are exact."""

from __future__ import annotations

import pytest

from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes, unknown


def release(version: str | None, chart: str = "external-dns") -> Resource:
    return examples.release("release", chart, version)


def manifest(token: str, **props: object) -> Resource:
    return examples.resource(token, "manifest", props)


def add_on(version: str | None, kind: str = "aws:eks/addon:Addon") -> Resource:
    props = {"addonName": "vpc-cni", **({} if version is None else {"addonVersion": version})}
    return examples.resource(kind, "add-on", props)


@pytest.mark.parametrize("version", ["1.2.3", "v26.7.0", "4.8.2-rc.1", "1.0.0+build.5"])
def test_g06_an_exact_version_passes(version: str) -> None:
    assert passes(judge("SOFT005", release(version)))


@pytest.mark.parametrize("version", ["latest", "1.2", "1", "^1.2.3", "~1.2", ">=1.2.3", "1.2.x", "*", "1.2.3 - 1.4.0"])
def test_g06_a_range_fails(version: str) -> None:
    assert complaint(judge("SOFT005", release(version))) == (
        f"installs external-dns in version {version!r}, which is not exact"
    )


def test_g06_an_unset_version_fails() -> None:
    assert "without a version, which means the newest of the day" in complaint(judge("SOFT005", release(None)))


@pytest.mark.parametrize("chart", ["./charts/mine", "/srv/charts/mine", "charts-1.2.3.tgz"])
def test_g06_a_chart_of_ones_own_is_its_own_version(chart: str) -> None:
    assert passes(judge("SOFT005", release(None, chart)))


def test_g06_a_chart_in_a_folder_is_its_own_version_too() -> None:
    props = {"chart": "mine", "path": "charts"}
    assert passes(judge("SOFT005", examples.resource(tokens.HELM_CHART_V3, "mine", props)))


def test_g06_a_chart_in_a_registry_is_not() -> None:
    assert "without a version" in complaint(judge("SOFT005", release(None, "oci://public.ecr.aws/karpenter/karpenter")))


@pytest.mark.parametrize(
    ("reference", "exact"),
    [(f"@sha256:{'a1' * 32}", True), (":1.14.1", True), (":v1.14.1", True), (":latest", False), (":1.14", False)],
)
def test_g06_a_reference_may_say_which_chart_it_is(reference: str, *, exact: bool) -> None:
    report = judge("SOFT005", release(None, f"oci://registry.example.com:5000/karpenter{reference}"))
    assert passes(report) is exact


def test_g07_an_add_on_has_a_version() -> None:
    assert passes(judge("SOFT005", add_on("v1.20.4-eksbuild.2")))
    assert "installs the add-on vpc-cni without a version" in complaint(judge("SOFT005", add_on(None)))
    assert "'latest', which is not exact" in complaint(judge("SOFT005", add_on("latest", "eks:index:Addon")))


@pytest.mark.parametrize(
    "url",
    [
        "https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/main/deployments/static/plugin.yml",
        "https://raw.githubusercontent.com/o/r/master/a.yaml",
        "https://github.com/o/r/releases/latest/download/crds.yaml",
        "https://raw.githubusercontent.com/o/r/HEAD/a.yaml",
    ],
)
def test_g07_manifests_of_a_branch_fail(url: str) -> None:
    assert "which is another file whenever somebody changes it" in complaint(
        judge("SOFT005", manifest("kubernetes:yaml/v2:ConfigFile", file=url))
    )
    group = manifest("kubernetes:yaml/v2:ConfigGroup", files=["local.yaml", url])
    assert messages(judge("SOFT005", group)) == {
        "manifest": [f"applies {url}, which is another file whenever somebody changes it"]
    }


@pytest.mark.parametrize("token", ["kubernetes:kustomize/v2:Directory", "kubernetes:kustomize:Directory"])
@pytest.mark.parametrize(
    ("address", "exact"),
    [
        ("github.com/kubernetes-sigs/aws-efs-csi-driver/deploy/kubernetes/overlays/stable/?ref=release-3.4", True),
        ("https://github.com/kubeflow/trainer//manifests/overlays/standalone?ref=v1.9.2", True),
        ("https://github.com/kubeflow/trainer//manifests/overlays/standalone?timeout=90s&ref=master", False),
        ("github.com/kubeflow/trainer/manifests/overlays/standalone?ref=main", False),
        ("github.com/kubeflow/trainer/manifests/overlays/standalone", False),
        ("https://github.com/kubeflow/trainer/tree/master/manifests/overlays/standalone", False),
        ("./overlays/main", True),
    ],
)
def test_g07_a_kustomization_of_a_repository_names_what_it_takes(token: str, address: str, *, exact: bool) -> None:
    report = judge("SOFT005", manifest(token, directory=address))
    assert not report.findings if exact else complaint(report).startswith(f"applies {address}")


def test_g07_manifests_of_a_tag_pass() -> None:
    tag = "https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.20.0/deployments/static/plugin.yml"
    for file in (tag, "manifests/main/plugin.yaml"):
        report = judge("SOFT005", manifest("kubernetes:yaml/v2:ConfigFile", file=file))
        assert (report.passed, report.findings) == (1, ())


def test_g07_a_manifest_of_a_branch_is_mended_in_its_address() -> None:
    url = "https://raw.githubusercontent.com/o/r/main/a.yaml"
    (finding,) = judge("SOFT005", manifest("kubernetes:yaml/v2:ConfigFile", file=url)).findings
    assert finding.fix == "name a tag, a release or a commit in the address"


def test_g07_an_operator_that_installs_the_driver_names_its_version() -> None:
    def operator(**driver: object) -> Resource:
        return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"driver": driver})

    assert passes(judge("SOFT005", operator(enabled=False)))
    assert passes(judge("SOFT005", operator(enabled=True, version="580.105.08")))
    assert "lets the operator install the driver without a version" in complaint(
        judge("SOFT005", operator(enabled=True))
    )
    assert "version '580'" in complaint(judge("SOFT005", operator(enabled=True, version="580")))


def test_a_component_whose_arguments_the_engine_is_not_told_is_left_open() -> None:
    assert left_open(judge("SOFT005", examples.resource(tokens.HELM_CHART_V3, "old", {}))) == ["version"]


def test_an_unknown_version_is_left_open() -> None:
    assert left_open(judge("SOFT005", unknown(release("1.2.3"), "version"))) == ["version"]


def test_other_resources_are_not_concerned() -> None:
    assert not_concerned(judge("SOFT005", examples.node_group(), examples.deployment()))
