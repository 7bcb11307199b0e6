"""NODE003: old images are pruned."""

from __future__ import annotations

import base64

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

POOL = examples.node_pool()


def config(**kubelet: object) -> str:
    lines = "".join(f"      {key}: {value}\n" for key, value in kubelet.items())
    return f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n{lines}"


def group(user_data: str | None, size: int = 100, **props: object) -> tuple[Resource, Resource]:
    told = None if user_data is None else base64.b64encode(user_data.encode()).decode()
    template = examples.launch_template(blockDeviceMappings=[examples.volume(size)], userData=told)
    return template, examples.node_group(template, **props)


def test_n02_thresholds_in_a_node_config_pass() -> None:
    told = config(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=60)
    assert passes(judge("NODE003", *group(told)))


def test_n02_a_volume_of_100_gib_without_thresholds_fails_with_the_kubelets_own() -> None:
    message = complaint(judge("NODE003", *group(None)))
    assert message == (
        "removes unused images only when its 100 GiB for images are 85 % full, the kubelet's default, and stops at "
        "80 %: 5 GiB more, at 90 %, and pods are evicted, while a single image takes 15 GB"
    )


def test_n02_what_is_left_until_pods_are_evicted_is_said() -> None:
    late = complaint(judge("NODE003", *group(config(imageGCHighThresholdPercent=89, imageGCLowThresholdPercent=60))))
    assert "are 89 % full and stops at 60 %: 1 GiB more, at 90 %" in late
    too_late = complaint(judge("NODE003", *group(config(imageGCHighThresholdPercent=90))))
    assert too_late.endswith("are 90 % full and stops at 80 %: pods are evicted before that, at 90 %")


def test_n02_the_remedy_names_the_place_and_the_spelling() -> None:
    def fix(*resources: Resource) -> str:
        return judge("NODE003", *resources).findings[0].fix

    start = "set imageGCHighThresholdPercent to 80 or less and imageGCLowThresholdPercent below it, to 60 say, in "
    assert fix(*group(None)).startswith(f"{start}kubelet.config of a NodeConfig in the user data, as")
    by_class = fix(examples.node_class(kubelet={}), examples.node_pool())
    assert by_class.startswith(f"{start}kubelet of the EC2NodeClass, as")
    template, nodes = group(None)
    bottlerocket = fix(template, changed(nodes, "amiType", "BOTTLEROCKET_x86_64_NVIDIA"))
    assert bottlerocket.startswith("set image-gc-high-threshold-percent to 80 or less")
    assert "settings.kubernetes" in bottlerocket
    ended = fix(template, changed(nodes, "amiType", "AL2_x86_64_GPU"))
    assert ended == BY_ID["NODE003"].fix


def test_n02_thresholds_pass_whatever_the_size_and_a_size_that_is_not_known_leaves_the_rest_open() -> None:
    template, nodes = group(config(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=60))
    size = "blockDeviceMappings.0.ebs.volumeSize"
    assert passes(judge("NODE003", unknown(template, size), nodes))
    assert left_open(judge("NODE003", unknown(group(None)[0], size), nodes)) == [
        "blockDeviceMappings[0].ebs.volumeSize"
    ]
    restored = changed(changed(group(None)[0], size, None), "blockDeviceMappings.0.ebs.snapshotId", "snap-1")
    assert left_open(judge("NODE003", restored, nodes)) == ["volumeSize"]


def test_n02_equal_thresholds_keep_the_kubelet_from_starting() -> None:
    report = judge("NODE003", *group(config(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=80)))
    assert complaint(report).startswith("starts to remove images at 80 % and stops at 80 %")


@pytest.mark.parametrize(("size", "fails"), [(199, True), (200, False)])
def test_n02_a_volume_of_200_gib_needs_none(size: int, fails: bool) -> None:
    report = judge("NODE003", *group(None, size))
    assert (not passes(report)) is fails


@pytest.mark.parametrize(("high", "low", "passed"), [(80, 79, True), (81, 60, False), (85, 80, False), (80, 80, False)])
def test_n02_the_first_threshold_is_80_at_most_and_the_second_below_it(high: int, low: int, passed: bool) -> None:
    told = config(imageGCHighThresholdPercent=high, imageGCLowThresholdPercent=low)
    assert passes(judge("NODE003", *group(told))) is passed


def test_n02_an_end_above_the_beginning_keeps_the_kubelet_from_starting() -> None:
    message = complaint(judge("NODE003", *group(config(imageGCHighThresholdPercent=75))))
    assert message == (
        "starts to remove images at 75 % and stops at 80 %: the kubelet refuses to start unless the second is below "
        "the first"
    )


def test_n02_an_ec2_node_class_says_it_for_karpenters_nodes_and_wins_over_user_data() -> None:
    good = {"imageGCHighThresholdPercent": 75, "imageGCLowThresholdPercent": 60}
    assert passes(judge("NODE003", examples.node_class(kubelet=good), examples.node_pool()))
    told = config(imageGCHighThresholdPercent=80, imageGCLowThresholdPercent=60)
    assert passes(judge("NODE003", examples.node_class(userData=told, kubelet={}), examples.node_pool()))
    late = examples.node_class(userData=told, kubelet={"imageGCHighThresholdPercent": 90})
    assert "are 90 % full" in complaint(judge("NODE003", late, examples.node_pool()))


def test_n02_bottlerocket_says_it_in_toml() -> None:
    toml = '[settings.kubernetes]\nimage-gc-high-threshold-percent = "75"\nimage-gc-low-threshold-percent = "60"\n'
    volumes = [{**examples.volume(100), "deviceName": "/dev/xvdb"}]
    template = examples.launch_template(userData=toml, blockDeviceMappings=volumes)
    assert passes(judge("NODE003", template, examples.node_group(template, amiType="BOTTLEROCKET_x86_64_NVIDIA")))


def test_n02_local_disks_count_as_what_holds_images() -> None:
    raid = examples.node_class(instanceStorePolicy="RAID0", kubelet={})
    assert passes(judge("NODE003", raid, examples.node_pool()))
    small = examples.node_pool(types=("g4dn.xlarge",))
    assert "its 116 GiB for images" in complaint(judge("NODE003", raid, small))


def test_an_image_of_ones_own_may_have_it_built_in() -> None:
    terms = {"amiSelectorTerms": [{"id": "ami-0123"}], "amiFamily": "Custom"}
    assert left_open(judge("NODE003", examples.node_class(**terms, kubelet={}), examples.node_pool())) == [
        "amiType or amiFamily"
    ]
    for mapping in ({"volumeSize": "199Gi"}, {}):
        nearly = [{"deviceName": "/dev/sda1", "ebs": mapping}]
        report = judge("NODE003", examples.node_class(**terms, blockDeviceMappings=nearly, kubelet={}), POOL)
        assert left_open(report) == ["amiType or amiFamily"]
    both = [{"deviceName": name, "ebs": {"volumeSize": size}} for name, size in (("a", "20Gi"), ("b", "200Gi"))]
    assert passes(judge("NODE003", examples.node_class(**terms, blockDeviceMappings=both, kubelet={}), POOL))
    large = [{"deviceName": "/dev/sda1", "ebs": {"volumeSize": "200Gi"}}]
    assert passes(judge("NODE003", examples.node_class(**terms, blockDeviceMappings=large), examples.node_pool()))


def test_user_data_that_is_not_known_or_not_readable_is_left_open() -> None:
    template = unknown(examples.launch_template(userData="x"), "userData")
    assert left_open(judge("NODE003", template, examples.node_group(template))) == ["userData"]
    assert left_open(judge("NODE003", *group("<powershell>\n"))) == ["userData"]


def test_cpu_groups_are_not_concerned() -> None:
    assert not_concerned(judge("NODE003", *group(None, instanceTypes=["m5.large"])))
