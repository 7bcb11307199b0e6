"""SOFT006: versions work together."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts.versions import GPU_OPERATOR, KARPENTER, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes, unknown

RULE = "SOFT006"


def cluster(version: object = "1.35", kind: str = "aws:eks/cluster:Cluster") -> Resource:
    return examples.resource(kind, "ml", {"version": version})


def chart(name: str, version: str, **values: object) -> Resource:
    return examples.release("release", name, version, values=values)


@pytest.mark.parametrize("version", ["0.17.0", "0.19.0", "0.19.1", "v0.19.2"])
def test_g03_releases_of_the_plugin_that_nobody_should_install(version: str) -> None:
    told = complaint(judge(RULE, cluster(), chart(NVIDIA_DEVICE_PLUGIN.name, version)))
    assert told.startswith(f"installs nvidia-device-plugin {version.removeprefix('v')}: ")


@pytest.mark.parametrize("version", ["0.16.2", "0.17.1", "0.18.2", "0.19.3", "0.20.0", "0.21.0"])
def test_g03_other_releases_of_the_plugin_pass(version: str) -> None:
    assert passes(judge(RULE, cluster(), chart(NVIDIA_DEVICE_PLUGIN.name, version)))


@pytest.mark.parametrize("version", ["v26.3.0", "v26.3.1", "26.3.2"])
def test_g03_releases_of_the_operator_that_break_rdma(version: str) -> None:
    (finding,) = judge(RULE, cluster(), chart(GPU_OPERATOR.name, version)).findings
    assert finding.resource == "release"
    assert "which breaks RDMA and NCCL" in finding.message
    assert finding.fix == "install v26.3.3 or newer"


@pytest.mark.parametrize(("version", "kubernetes"), [("v26.3.3", "1.32"), ("v25.10.1", "1.35"), ("v26.7.0", "1.36")])
def test_g07_the_operator_within_its_range_passes(version: str, kubernetes: str) -> None:
    report = judge(RULE, cluster(kubernetes), chart(GPU_OPERATOR.name, version))
    assert not [finding for finding in report.findings if "GPU Operator" in finding.message]


@pytest.mark.parametrize(("version", "kubernetes"), [("v25.10.1", "1.36"), ("v25.3.4", "1.34"), ("v24.9.2", "1.33")])
def test_g07_the_operator_outside_its_range_fails(version: str, kubernetes: str) -> None:
    report = judge(RULE, cluster(kubernetes), chart(GPU_OPERATOR.name, version))
    told = complaint(report)
    assert messages(report).keys() == {"release"}
    assert report.findings[0].fix == "install a release 26.7"
    assert f"installs the GPU Operator {version.removeprefix('v')} on Kubernetes {kubernetes}; it was made for" in told


def test_g07_where_no_operator_is_known_to_fit_the_remedy_names_none() -> None:
    report = judge(RULE, cluster("1.37"), chart(GPU_OPERATOR.name, "v25.10.1"))
    assert [finding.fix for finding in report.findings] == ["install the release that lists this version of Kubernetes"]


def test_g07_an_operator_of_years_ago_fails() -> None:
    report = judge(RULE, cluster(), chart(GPU_OPERATOR.name, "v23.9.2"))
    assert "which NVIDIA has given up" in complaint(report)
    assert messages(report).keys() == {"release"}


@pytest.mark.parametrize(("version", "kubernetes", "sound"), [("1.9.0", "1.35", True), ("1.8.6", "1.35", False)])
def test_g07_karpenter_is_as_new_as_its_cluster_asks(version: str, kubernetes: str, *, sound: bool) -> None:
    report = judge(RULE, cluster(kubernetes), chart(KARPENTER.name, version))
    assert passes(report) is sound
    if not sound:
        assert "on Kubernetes 1.35, which needs 1.9.0 or newer" in complaint(report)
        assert messages(report).keys() == {"release"}


def test_g07_a_chart_by_its_address_in_a_registry_counts() -> None:
    release = chart("oci://public.ecr.aws/karpenter/karpenter", "1.5.0")
    assert "installs Karpenter 1.5.0 on Kubernetes 1.35" in complaint(judge(RULE, cluster(), release))


@pytest.mark.parametrize("kind", ["aws:eks/cluster:Cluster", "eks:index:Cluster"])
def test_g07_a_cluster_older_than_what_is_supported_fails(kind: str) -> None:
    assert "runs Kubernetes 1.32, older than 1.33" in complaint(judge(RULE, cluster("1.32", kind)))
    assert passes(judge(RULE, cluster("1.33", kind)))


@pytest.mark.parametrize("version", ["1.36", "1.36.2"])
def test_g07_the_newest_that_was_checked_passes(version: str) -> None:
    assert passes(judge(RULE, cluster(version)))


def test_g07_a_cluster_that_is_too_old_is_at_fault_itself() -> None:
    assert messages(judge(RULE, cluster("1.32"))).keys() == {"ml"}


def test_g07_a_component_and_the_cluster_that_it_made_are_one() -> None:
    component = cluster("1.31", "eks:index:Cluster")
    made = dataclasses.replace(cluster("1.31"), parent=component.urn)
    assert complaint(judge(RULE, component, made)).startswith("runs Kubernetes 1.31")


@pytest.mark.parametrize(("name", "version"), [(GPU_OPERATOR.name, "25.x"), (KARPENTER.name, "1.x")])
def test_a_range_says_nothing_about_what_is_installed(name: str, version: str) -> None:
    assert not judge(RULE, cluster(), chart(name, version)).findings


def test_newer_than_the_tables_is_left_open() -> None:
    assert left_open(judge(RULE, cluster("1.38"))) == ["version"]
    assert left_open(judge(RULE, cluster("1.35"), chart(GPU_OPERATOR.name, "v27.1.0"))) == ["version"]
    assert left_open(judge(RULE, cluster("1.39"), chart(KARPENTER.name, "1.15.1"))) == ["version", "version"]


def test_g07_claims_of_devices_need_a_cluster_that_serves_them() -> None:
    driver = chart("nvidia-dra-driver-gpu", "25.8.0")
    report = judge(RULE, cluster("1.33"), driver)
    assert "installs the DRA driver on Kubernetes 1.33" in complaint(report)
    assert messages(report).keys() == {"release"}
    assert passes(judge(RULE, cluster("1.34"), driver))
    unpinned = examples.release("release", "nvidia-dra-driver-gpu", None)
    assert "installs the DRA driver on Kubernetes 1.33" in complaint(judge(RULE, cluster("1.33"), unpinned))
    assert passes(judge(RULE, cluster("1.33"), examples.release("release", KARPENTER.name, None)))


def test_g07_g7_needs_a_driver_that_older_images_lack() -> None:
    def g7(release: str) -> tuple[Resource, ...]:
        terms = [{"alias": f"al2023@{release}"}]
        return (cluster(), examples.node_class(amiSelectorTerms=terms), examples.node_pool(types=("g7.2xlarge",)))

    assert "buys g7, whose GPUs need NVIDIA's driver 595; its image has 580" in complaint(judge(RULE, *g7("v20260724")))
    assert passes(judge(RULE, *g7("v20260917")))
    assert left_open(judge(RULE, *g7("latest"))) == ["image"]
    others = (examples.node_class(), examples.node_pool(types=("g7e.2xlarge", "g6.xlarge")))
    assert passes(judge(RULE, cluster(), *others))


def test_g07_node_groups_say_their_release_otherwise() -> None:
    group = examples.node_group(None, "g7", None, instanceTypes=["g7.2xlarge"], releaseVersion="1.35.6-20260724")
    assert messages(judge(RULE, cluster(), group)).keys() == {"g7"}


def test_g07_cuda_newer_than_the_operators_driver_fails() -> None:
    operator = chart(GPU_OPERATOR.name, GPU_OPERATOR.version, driver={"enabled": True, "version": "570.172.08"})
    pod = examples.deployment(examples.container(image="nvidia/cuda:13.0.1-runtime-ubuntu24.04"))
    told = complaint(judge(RULE, cluster(), operator, examples.node_group(), pod))
    assert told == (
        "runs server with CUDA 13, which needs NVIDIA's driver 580; on inference the operator release has 570"
    )
    for image in (
        "nvidia/cuda:12.8.1-base",
        "pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime",
        "vllm/vllm-openai:v0.11.0",
    ):
        older = examples.deployment(examples.container(image=image))
        assert passes(judge(RULE, cluster(), operator, examples.node_group(), older))


def test_g07_cuda_by_its_short_name_counts_and_the_pod_is_at_fault() -> None:
    operator = chart(GPU_OPERATOR.name, GPU_OPERATOR.version, driver={"enabled": True, "version": "570.172.08"})
    pod = examples.deployment(examples.container(image="ghcr.io/org/app:2.9-cu130"))
    assert messages(judge(RULE, cluster(), operator, examples.node_group(), pod)).keys() == {"llm"}


@pytest.mark.parametrize(
    ("image", "driver", "labels_of_pool"),
    [
        ("nvidia/cuda:12.8.1-base", {"enabled": True, "version": "525.60.13"}, {}),
        ("nvidia/cuda:13.0.1-base", {"enabled": UNKNOWN, "version": "500.1"}, {}),
        ("nvidia/cuda:13.0.1-base", {"enabled": True, "version": "500.1"}, {"nvidia.com/gpu.deploy.driver": "false"}),
    ],
)
def test_g07_the_driver_is_the_operators_only_where_it_is_sure_to_install_it(
    image: str, driver: dict[str, object], labels_of_pool: dict[str, str]
) -> None:
    operator = chart(GPU_OPERATOR.name, GPU_OPERATOR.version, driver=driver)
    pod = examples.deployment(examples.container(image=image))
    assert passes(judge(RULE, cluster(), operator, examples.node_group(labels=labels_of_pool), pod))


def test_g07_a_driver_of_the_operators_that_is_not_known_is_left_open() -> None:
    operator = chart(GPU_OPERATOR.name, GPU_OPERATOR.version, driver={"enabled": True, "version": UNKNOWN})
    group = examples.node_group(None, "g7", None, instanceTypes=["g7.2xlarge"])
    assert left_open(judge(RULE, cluster(), operator, group)) == ["values.driver.version"]


def test_g07_cuda_on_the_images_own_driver_passes() -> None:
    pod = examples.deployment(examples.container(image="ghcr.io/org/app:2.9-cu130"))
    assert passes(judge(RULE, cluster(), examples.node_class(), examples.node_pool(), pod))


def test_unknown_versions_are_left_open() -> None:
    assert left_open(judge(RULE, cluster(UNKNOWN))) == ["version"]
    assert left_open(judge(RULE, cluster(), unknown(chart(GPU_OPERATOR.name, "v26.7.0"), "version"))) == ["version"]
    assert left_open(judge(RULE, chart(GPU_OPERATOR.name, "v26.7.0"))) == ["version"]


def test_an_unset_version_is_soft005s() -> None:
    assert passes(judge(RULE, cluster(), examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, None)))
    unset = examples.resource("aws:eks/cluster:Cluster", "ml", {"name": "ml"})
    assert passes(judge(RULE, unset))


def test_stacks_without_charts_and_cluster_are_not_concerned() -> None:
    assert not_concerned(judge(RULE, examples.node_group(), examples.deployment()))


def test_sound_a_cluster_with_charts_that_are_not_judged() -> None:
    assert passes(judge(RULE, cluster(), chart("ingress-nginx", "4.13.0"), chart("cert-manager", "v1.19.1")))


def test_sound_a_blueprint_of_this_year() -> None:
    parts = (
        examples.release("karpenter", KARPENTER.name, "1.14.1"),
        examples.release("nvidia-device-plugin", NVIDIA_DEVICE_PLUGIN.name, "0.18.0"),
    )
    assert passes(judge(RULE, cluster("1.34"), *parts, examples.node_class(), examples.node_pool()))
