"""SOFT003: driver and toolkit switches fit the image."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

RULE = "SOFT003"
OFF = {"enabled": False}
POOL_LABELS = labels.pool_labels("a10g", "inference")
BOTTLEROCKET = "BOTTLEROCKET_x86_64_NVIDIA"


def operator(**values: object) -> Resource:
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


def pool(name: str = "gpu", **props: object) -> Resource:
    return examples.node_group(None, name, None, **props)


def test_g02_on_an_al2023_nvidia_image_both_defaults_are_wrong() -> None:
    driver, toolkit = messages(judge(RULE, operator(), pool()))["gpu"]
    assert driver == (
        "operator installs the NVIDIA driver on gpu (driver.enabled, on by default), whose image (AL2023) brings its "
        "own"
    )
    assert toolkit.startswith("operator installs the container toolkit on gpu (toolkit.enabled, on by default)")


def test_g02_one_switch_off_leaves_the_other() -> None:
    assert "the container toolkit" in complaint(judge(RULE, operator(driver=OFF), pool()))
    assert "the NVIDIA driver" in complaint(judge(RULE, operator(toolkit=OFF), pool()))
    assert passes(judge(RULE, operator(driver=OFF, toolkit=OFF), pool()))


@pytest.mark.parametrize("switches", [{"driver": OFF}, {"toolkit": OFF}, {}])
def test_g02_bottlerocket_wants_neither(switches: dict[str, object]) -> None:
    assert judge(RULE, operator(**switches), pool(amiType=BOTTLEROCKET)).findings
    assert passes(judge(RULE, operator(driver=OFF, toolkit=OFF), pool(amiType=BOTTLEROCKET)))


def test_g02_bottlerocket_without_a_driver_has_no_use_for_the_toolkit() -> None:
    plain = pool(amiType="BOTTLEROCKET_x86_64")
    assert "installs the container toolkit on gpu" in complaint(judge(RULE, operator(), plain))


def test_g02_auto_mode_brings_both() -> None:
    reference = {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}
    auto = changed(examples.node_pool("auto"), "spec.template.spec.nodeClassRef", reference)
    assert len(judge(RULE, operator(), auto).findings) == 2
    assert passes(judge(RULE, operator(driver=OFF, toolkit=OFF), auto))


def test_g02_a_second_operator_is_judged_beside_one_that_is_not_known() -> None:
    hidden = examples.release(
        "hidden", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"driver": {"enabled": UNKNOWN}}
    )
    report = judge(RULE, hidden, operator(toolkit=OFF), pool())
    assert any(finding.message.startswith("operator installs the NVIDIA driver") for finding in report.findings)
    assert report.not_evaluated


def test_n07_an_image_without_a_driver_needs_one() -> None:
    plain = pool(amiType="AL2023_x86_64_STANDARD")
    assert "nobody installs a driver on gpu: its image (AL2023) has none, and operator is told not to" in complaint(
        judge(RULE, operator(driver=OFF, toolkit=OFF), plain)
    )
    assert passes(judge(RULE, operator(), plain))


def test_n07_pools_of_both_kinds_are_told_apart_by_label() -> None:
    plain = pool("plain", amiType="AL2023_x86_64_STANDARD")
    assert messages(judge(RULE, operator(), plain, pool())).keys() == {"gpu"}
    left_out = {"nvidia.com/gpu.deploy.driver": "false", "nvidia.com/gpu.deploy.container-toolkit": "false"}
    assert passes(judge(RULE, operator(), plain, pool(labels={**POOL_LABELS, **left_out})))
    alone = {"nvidia.com/gpu.deploy.driver": "false"}
    assert "container toolkit" in complaint(judge(RULE, operator(), plain, pool(labels={**POOL_LABELS, **alone})))


def test_n07_a_pool_that_wants_none_of_the_operator_is_left_alone() -> None:
    out = pool(labels={**POOL_LABELS, "nvidia.com/gpu.deploy.operands": "false"})
    assert passes(judge(RULE, operator(), out))


def test_g02_karpenters_aliases_bring_the_driver_for_gpu_types() -> None:
    nodes = (examples.node_class(), examples.node_pool())
    assert len(judge(RULE, operator(), *nodes).findings) == 2
    assert passes(judge(RULE, operator(driver=OFF, toolkit=OFF), *nodes))


def test_n07_an_image_of_somebodys_own_is_left_open() -> None:
    own = changed(pool(amiType="CUSTOM", releaseVersion=None), "amiId", "ami-0123456789abcdef0")
    assert set(left_open(judge(RULE, operator(), own))) == {"image"}
    assert set(left_open(judge(RULE, operator(driver=OFF, toolkit=OFF), own))) == {"image"}


@pytest.mark.parametrize(("variant", "sound"), [("nvidia", False), ("standard", True)])
def test_n07_a_public_parameter_tells_the_variant(variant: str, *, sound: bool) -> None:
    name = f"/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/{variant}/v20260724/image_id"
    node_class = examples.node_class(amiSelectorTerms=[{"ssmParameter": name}], amiFamily="AL2023")
    report = judge(RULE, operator(), node_class, examples.node_pool())
    assert passes(report) if sound else report.findings


def test_a_driver_whose_nodes_its_own_resources_choose_is_left_open() -> None:
    chosen = operator(driver={"nvidiaDriverCRD": {"enabled": True}}, toolkit=OFF)
    assert left_open(judge(RULE, chosen, pool())) == ["values.driver.nvidiaDriverCRD.enabled"]


def test_unknown_switches_and_images_are_left_open() -> None:
    hidden = operator(driver={"enabled": UNKNOWN}, toolkit=OFF)
    assert left_open(judge(RULE, hidden, pool()))
    assert left_open(judge(RULE, hidden, pool(amiType="AL2023_x86_64_STANDARD")))
    assert set(left_open(judge(RULE, operator(), unknown(pool(), "amiType")))) == {"amiType"}
    assert left_open(judge(RULE, operator(), examples.node_pool()))


def test_an_unknown_chart_may_be_the_operator() -> None:
    assert left_open(judge(RULE, unknown(operator(), "chart"), pool())) == ["chart"]


def test_stacks_without_the_operator_are_not_concerned() -> None:
    plugin = examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version)
    assert not_concerned(judge(RULE, plugin, pool()))
    assert not_concerned(judge(RULE, operator(), pool(instanceTypes=["m7i.large"])))


def test_sound_slices_as_awss_own_guide_installs_them() -> None:
    guide = operator(
        driver=OFF,
        toolkit=OFF,
        mig={"strategy": "mixed"},
        migManager={"env": [{"name": "WITH_REBOOT", "value": "true"}]},
    )
    slices = pool(instanceTypes=["p4d.24xlarge"], labels={**POOL_LABELS, labels.MIG_CONFIG: "all-1g.5gb"})
    assert passes(judge(RULE, guide, slices))


def test_sound_amazon_linux_2_with_the_toolkit_of_old() -> None:
    """Amazon Linux 2 is NODE007's; the operator was installed on it either way."""
    old = pool(amiType="AL2_x86_64_GPU")
    assert passes(judge(RULE, operator(driver=OFF, toolkit={"version": "v1.14.6-centos7"}), old))
