"""NODE001: the image volume is >= 100 GiB, encrypted, on the AMI's device."""

from __future__ import annotations

import base64

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

TEMPLATE = examples.launch_template()


def group(*mappings: object, **props: object) -> tuple[Resource, Resource]:
    template = examples.launch_template(blockDeviceMappings=list(mappings))
    return template, examples.node_group(template, **props)


def pool(*mappings: object, alias: str = "al2023@v20260724", **spec: object) -> tuple[Resource, Resource]:
    node_class = examples.node_class(amiSelectorTerms=[{"alias": alias}], blockDeviceMappings=list(mappings), **spec)
    return node_class, examples.node_pool()


def disk(device: str, size: str, **ebs: object) -> dict[str, object]:
    return {"deviceName": device, "ebs": {"volumeSize": size, "encrypted": True, **ebs}}


def test_n01_a_large_encrypted_volume_on_the_right_device_passes() -> None:
    assert passes(judge("NODE001", TEMPLATE, examples.node_group(TEMPLATE)))
    assert passes(judge("NODE001", examples.node_class(), examples.node_pool()))


def test_n01_nothing_is_left_of_a_volume_of_one_gib() -> None:
    assert "about 0 GiB of it are left" in complaint(judge("NODE001", *group(examples.volume(1))))


@pytest.mark.parametrize("size", [20, 50, 99])
def test_n01_a_small_volume_fails_and_says_what_is_left_of_it(size: int) -> None:
    message = complaint(judge("NODE001", *group(examples.volume(size))))
    assert message.startswith(f"has {size} GiB on /dev/xvda")
    assert f"about {size - 1 - size / 10:.0f} GiB of it are left" in message


def test_n01_no_mapping_at_all_fails_with_the_default_of_20_gib() -> None:
    found = messages(judge("NODE001", *group()))["inference"]
    assert any("default of 20 GiB on /dev/xvda" in message for message in found)
    assert "does not encrypt /dev/xvda" in found


def test_n01_a_large_volume_on_another_device_leaves_the_default() -> None:
    mapping = {**examples.volume(200), "deviceName": "/dev/xvdb"}
    found = messages(judge("NODE001", *group(mapping)))["inference"]
    assert any("(volumes are mapped to /dev/xvdb only)" in message for message in found)


def test_n01_another_familys_root_beside_the_right_volume_is_a_second_empty_disk() -> None:
    mapping = {**examples.volume(200), "deviceName": "/dev/sda1"}
    report = judge("NODE001", *group(examples.volume(), mapping))
    assert "/dev/sda1, which AL2023 does not boot from" in complaint(report)
    assert report.findings[0].fix == "map the volume to /dev/xvda, or leave it out"


def test_n01_a_further_data_volume_is_nobodys_mistake() -> None:
    mapping = {**examples.volume(500), "deviceName": "/dev/xvdb"}
    assert passes(judge("NODE001", *group(examples.volume(), mapping)))


def test_n01_bottlerocket_keeps_images_on_its_data_volume_and_its_small_root_is_right() -> None:
    root, data = disk("/dev/xvda", "4Gi"), disk("/dev/xvdb", "100Gi")
    assert passes(judge("NODE001", *pool(root, data, alias="bottlerocket@v1.66.0")))
    found = messages(judge("NODE001", *pool(disk("/dev/xvda", "100Gi"), alias="bottlerocket@v1.66.0")))["g5"]
    assert any("20 GiB (volumes are mapped to /dev/xvda only) on /dev/xvdb" in message for message in found)


def test_n01_sizes_of_a_node_class_are_quantities() -> None:
    assert "has 93.1 GiB" in complaint(judge("NODE001", *pool(disk("/dev/xvda", "100G"))))
    assert passes(judge("NODE001", *pool(disk("/dev/xvda", "108G"))))


@pytest.mark.parametrize("encrypted", [None, "false", False])
def test_an_unencrypted_volume_fails_unless_the_account_encrypts(encrypted: object) -> None:
    resources = group(examples.volume(encrypted=encrypted))
    report = judge("NODE001", *resources)
    assert complaint(report) == "does not encrypt /dev/xvda"
    assert "volumesEncryptedByAccount" in report.findings[0].fix
    assert passes(judge("NODE001", *resources, options={"volumesEncryptedByAccount": True}))


def test_a_launch_template_says_true_as_a_string() -> None:
    assert passes(judge("NODE001", *group(examples.volume(encrypted="true"))))
    assert passes(judge("NODE001", *group(examples.volume(encrypted=True))))


def test_disk_size_without_a_launch_template_is_a_size() -> None:
    account = {"volumesEncryptedByAccount": True}
    assert passes(judge("NODE001", examples.node_group(diskSize=150), options=account))
    assert complaint(judge("NODE001", examples.node_group(diskSize=150))) == (
        "does not encrypt /dev/xvda, and diskSize has no way to say so"
    )
    assert "diskSize of 50 GiB" in complaint(judge("NODE001", examples.node_group(diskSize=50), options=account))


def test_disk_size_beside_a_launch_template_is_refused() -> None:
    report = judge("NODE001", TEMPLATE, examples.node_group(TEMPLATE, diskSize=100))
    assert "beside a launch template" in complaint(report)
    assert report.findings[0].fix.startswith("leave diskSize out")
    looked_up = examples.node_group(launchTemplate={"id": "lt-0123", "version": "3"}, diskSize=100)
    assert "beside a launch template" in complaint(judge("NODE001", looked_up))


def test_karpenters_own_default_mapping_is_encrypted_but_small() -> None:
    assert "default of 20 GiB" in complaint(judge("NODE001", *pool()))
    elsewhere = messages(judge("NODE001", *pool(disk("/dev/xvdb", "100Gi"))))["g5"]
    assert "does not encrypt /dev/xvda" in elsewhere


def test_local_disks_in_a_raid_may_hold_the_images() -> None:
    assert passes(judge("NODE001", *pool(disk("/dev/xvda", "20Gi"), instanceStorePolicy="RAID0")))
    node_class, _ = pool(disk("/dev/xvda", "20Gi"), instanceStorePolicy="RAID0")
    assert passes(judge("NODE001", node_class, examples.node_pool(types=("g6f.xlarge",))))
    node_config = base64.b64encode(b"spec:\n  instance:\n    localStorage:\n      strategy: RAID0\n").decode()
    template = examples.launch_template(blockDeviceMappings=[examples.volume(20)], userData=node_config)
    assert passes(judge("NODE001", template, examples.node_group(template)))


def test_local_disks_do_not_help_where_one_type_has_none() -> None:
    node_class = examples.node_class(blockDeviceMappings=[disk("/dev/xvda", "20Gi")], instanceStorePolicy="RAID0")
    mixed = examples.node_pool(types=("g5.xlarge", "g5g.xlarge"))
    assert "has 20 GiB" in complaint(judge("NODE001", node_class, mixed))


def test_an_image_of_ones_own_passes_with_a_large_encrypted_volume_and_is_left_open_otherwise() -> None:
    custom = {"amiSelectorTerms": [{"id": "ami-0123"}], "amiFamily": "Custom"}
    large = examples.node_class(**custom)
    assert passes(judge("NODE001", large, examples.node_pool()))
    small = examples.node_class(**custom, blockDeviceMappings=[disk("/dev/sda1", "20Gi")])
    assert left_open(judge("NODE001", small, examples.node_pool())) == ["amiType or amiFamily"]
    local = examples.node_class(**custom, blockDeviceMappings=[disk("/dev/sda1", "20Gi")], instanceStorePolicy="RAID0")
    for types in (("g5.xlarge",), ("g6f.xlarge",)):
        assert passes(judge("NODE001", local, examples.node_pool(types=types)))
    both = examples.node_class(**custom, blockDeviceMappings=[disk("/dev/sda1", "20Gi"), disk("/dev/sdb", "100Gi")])
    assert passes(judge("NODE001", both, examples.node_pool()))
    sizeless = {"deviceName": "/dev/sda1", "ebs": {"encrypted": True}}
    assert left_open(
        judge("NODE001", examples.node_class(**custom, blockDeviceMappings=[sizeless]), examples.node_pool())
    )
    account = {"volumesEncryptedByAccount": True}
    for mapping in (disk("/dev/sda1", "99Gi"), disk("/dev/sda1", "100Gi", encrypted=False)):
        nearly = examples.node_class(**custom, blockDeviceMappings=[mapping])
        assert left_open(judge("NODE001", nearly, examples.node_pool())) == ["amiType or amiFamily"]
    bare = examples.node_class(**custom, blockDeviceMappings=[disk("/dev/sda1", "100Gi", encrypted=None)])
    assert passes(judge("NODE001", bare, examples.node_pool(), options=account))


def test_an_unknown_size_is_left_open() -> None:
    template = unknown(TEMPLATE, "blockDeviceMappings.0.ebs.volumeSize")
    report = judge("NODE001", template, examples.node_group(template))
    assert left_open(report) == ["blockDeviceMappings[0].ebs.volumeSize"]


def test_a_volume_as_large_as_its_snapshot_is_left_open_and_its_encryption_judged() -> None:
    restored = examples.volume(snapshotId="snap-0123")
    del restored["ebs"]["volumeSize"]  # type: ignore[attr-defined]  # a mapping
    assert left_open(judge("NODE001", *group(restored))) == ["volumeSize"]
    by_class = {"deviceName": "/dev/xvda", "ebs": {"snapshotID": "snap-0123", "encrypted": True}}
    assert left_open(judge("NODE001", *pool(by_class))) == ["volumeSize"]
    open_one = {**restored, "ebs": {"snapshotId": "snap-0123"}}
    assert complaint(judge("NODE001", *group(open_one))) == "does not encrypt /dev/xvda"


def test_a_clause_known_to_fail_fails_beside_an_unknown_one() -> None:
    template = unknown(
        examples.launch_template(blockDeviceMappings=[examples.volume(encrypted="false")]),
        "blockDeviceMappings.0.ebs.volumeSize",
    )
    report = judge("NODE001", template, examples.node_group(template))
    assert messages(report) == {"inference": ["does not encrypt /dev/xvda"]}
    assert [item.path for item in report.not_evaluated] == ["blockDeviceMappings[0].ebs.volumeSize"]


def test_a_launch_template_that_is_not_in_the_stack_is_left_open() -> None:
    group = examples.node_group(launchTemplate={"id": "lt-0123", "version": "3"})
    assert left_open(judge("NODE001", group)) == ["launchTemplate"]


def test_a_launch_template_is_joined_by_its_literal_name() -> None:
    template = changed(examples.launch_template(blockDeviceMappings=[examples.volume(20)]), "name", "gpu-nodes")
    group = examples.node_group(launchTemplate={"name": "gpu-nodes", "version": "$Latest"})
    assert "has 20 GiB" in complaint(judge("NODE001", template, group))


def test_pools_without_gpus_are_not_concerned() -> None:
    template = examples.launch_template(blockDeviceMappings=[examples.volume(20)])
    assert not_concerned(judge("NODE001", template, examples.node_group(template, instanceTypes=["m7i.xlarge"])))
    assert not_concerned(judge("NODE001", examples.node_class(), examples.node_pool(types=("m7i.xlarge",), taints=())))


@pytest.mark.parametrize(
    "term",
    [
        {
            "name": "ubuntu-eks/k8s_1.34/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260701",
            "owner": "099720109477",
        },
        {"ssmParameter": "/aws/service/canonical/ubuntu/eks/24.04/1.34/stable/20260701/amd64/hvm/ebs-gp3/ami-id"},
    ],
)
def test_n01_ubuntu_keeps_images_on_its_own_root(term: object) -> None:
    right = examples.node_class(
        amiSelectorTerms=[term], amiFamily="Custom", blockDeviceMappings=[disk("/dev/sda1", "100Gi")]
    )
    assert passes(judge("NODE001", right, examples.node_pool()))
    wrong = examples.node_class(
        amiSelectorTerms=[term], amiFamily="Custom", blockDeviceMappings=[disk("/dev/xvda", "100Gi")]
    )
    found = messages(judge("NODE001", wrong, examples.node_pool()))["g5"]
    assert any("on /dev/sda1, where Ubuntu keeps images" in message for message in found)
    assert any("/dev/xvda, which Ubuntu does not boot from" in message for message in found)
