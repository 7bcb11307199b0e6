"""NODE002: the image volume is fast enough."""

from __future__ import annotations

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

CUSTOM = {"amiSelectorTerms": [{"id": "ami-0123"}], "amiFamily": "Custom"}


def group(**ebs: object) -> tuple[Resource, Resource]:
    volume = examples.volume(**ebs)  # type: ignore[arg-type]  # the first parameter is the size
    kept = {key: value for key, value in volume["ebs"].items() if value is not None}  # type: ignore[attr-defined]  # a mapping
    template = examples.launch_template(blockDeviceMappings=[{**volume, "ebs": kept}])
    return template, examples.node_group(template)


def disk(device: str, **ebs: object) -> dict[str, object]:
    return {"deviceName": device, "ebs": {"volumeSize": "100Gi", "encrypted": True, **ebs}}


@pytest.mark.parametrize("throughput", [250, 500, 1000])
def test_n08_a_gp3_volume_with_throughput_passes(throughput: int) -> None:
    assert passes(judge("NODE002", *group(throughput=throughput)))


@pytest.mark.parametrize("throughput", [125, 249])
def test_n08_a_slow_gp3_volume_fails_with_the_seconds_of_a_pull(throughput: int) -> None:
    message = complaint(judge("NODE002", *group(throughput=throughput)))
    assert f"/dev/xvda (gp3): at its {throughput} MiB/s" in message


def test_n01_an_image_of_15_gb_takes_114_seconds_by_default_and_29_when_advised() -> None:
    message = complaint(judge("NODE002", *group(throughput=None)))
    assert message == (
        "keeps images on /dev/xvda (gp3 without a throughput): at its 125 MiB/s an image of 15 GB is written in 114 s "
        "on every new node, at 500 MiB/s in 29 s"
    )


@pytest.mark.parametrize(
    ("kind", "size", "speed"),
    [
        ("gp2", 170, "128"),
        ("gp2", 171, "250"),
        ("gp2", 1000, "250"),
        ("standard", 500, "40"),
        ("st1", 512, "20"),
        ("st1", 10240, "400"),
        ("sc1", 512, "6"),
        ("sc1", 16384, "192"),
    ],
)
def test_n08_older_types_fail_with_the_speed_of_their_size_whatever_their_throughput_says(
    kind: str, size: int, speed: str
) -> None:
    message = complaint(judge("NODE002", *group(size=size, volumeType=kind, throughput=1000)))
    assert f"/dev/xvda ({kind}, {size} GiB): at its {speed} MiB/s" in message


def test_n08_an_older_type_fails_though_nobody_knows_its_size() -> None:
    template = unknown(group(volumeType="gp2")[0], "blockDeviceMappings.0.ebs.volumeSize")
    expected = "keeps images on /dev/xvda (gp2): gp3 at 500 MiB/s writes an image of 15 GB in 29 s"
    assert complaint(judge("NODE002", template, examples.node_group(template))) == expected
    restored, nodes = group(volumeType="gp2", volumeSize=None, snapshotId="snap-1")
    assert complaint(judge("NODE002", restored, nodes)) == expected


@pytest.mark.parametrize("kind", ["io1", "io2"])
def test_volumes_that_follow_their_iops_are_nobodys_mistake(kind: str) -> None:
    assert passes(judge("NODE002", *group(volumeType=kind, throughput=None, iops=16000)))


def test_an_unmapped_volume_is_as_slow_as_it_comes() -> None:
    report = judge("NODE002", examples.node_group(diskSize=200))
    assert "(the default volume without a throughput): at its 125 MiB/s" in complaint(report)
    assert "in the place of diskSize, which knows no speed" in report.findings[0].fix


def test_n08_the_remedy_names_the_place_the_device_and_the_value() -> None:
    (slow,) = judge("NODE002", *group(throughput=None)).findings
    assert slow.fix.startswith("map /dev/xvda in the launch template as gp3 with throughput 500 (at least 250;")
    assert "diskSize" not in slow.fix
    node_class = examples.node_class(
        amiSelectorTerms=[{"alias": "bottlerocket@v1.66.0"}], blockDeviceMappings=[disk("/dev/xvdb")]
    )
    (slow,) = judge("NODE002", node_class, examples.node_pool()).findings
    assert slow.fix.startswith("map /dev/xvdb in the EC2NodeClass as gp3 with throughput 500")
    assert "(instanceStorePolicy: RAID0)" in slow.fix
    template, nodes = group(throughput=None)
    without = judge(
        "NODE002", template, changed(changed(nodes, "instanceTypes", ["g5g.xlarge"]), "amiType", "AL2023_ARM_64_NVIDIA")
    )
    assert "NVMe" not in without.findings[0].fix
    for types in (["g5.xlarge", "g5g.xlarge"], ["g5.xlarge", "p9.48xlarge"]):
        assert "NVMe" not in judge("NODE002", template, changed(nodes, "instanceTypes", types)).findings[0].fix


def test_a_throughput_of_nothing_never_ends() -> None:
    assert "is written in an eternity" in complaint(judge("NODE002", *group(throughput=0)))


def test_a_volume_without_a_type_is_as_fast_as_its_throughput() -> None:
    assert passes(judge("NODE002", *group(volumeType=None, throughput=400)))


def test_bottlerockets_data_volume_is_the_one_that_counts() -> None:
    alias = [{"alias": "bottlerocket@v1.66.0"}]
    fast, slow = disk("/dev/xvdb", volumeType="gp3", throughput=500), disk("/dev/xvdb", volumeType="gp3")
    root = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "4Gi", "volumeType": "gp3", "encrypted": True}}
    sound = examples.node_class(amiSelectorTerms=alias, blockDeviceMappings=[root, fast])
    assert passes(judge("NODE002", sound, examples.node_pool()))
    failing = examples.node_class(amiSelectorTerms=alias, blockDeviceMappings=[root, slow])
    assert "/dev/xvdb" in complaint(judge("NODE002", failing, examples.node_pool()))


def test_local_disks_that_hold_images_are_fast_enough_on_every_type_that_has_some() -> None:
    raid = examples.node_class(blockDeviceMappings=[disk("/dev/xvda")], instanceStorePolicy="RAID0")
    assert passes(judge("NODE002", raid, examples.node_pool()))
    mixed = examples.node_pool(types=("g5.xlarge", "g5g.xlarge"))
    assert "125 MiB/s" in complaint(judge("NODE002", raid, mixed))


def test_an_image_of_ones_own_passes_with_a_fast_volume_fails_with_slow_ones_and_is_open_without_any() -> None:
    fast = examples.node_class(**CUSTOM, blockDeviceMappings=[disk("/dev/sda1", throughput=500), disk("/dev/sdb")])
    assert passes(judge("NODE002", fast, examples.node_pool()))
    slow = examples.node_class(**CUSTOM, blockDeviceMappings=[disk("/dev/sda1"), disk("/dev/sdb", volumeType="gp2")])
    assert "the fastest is gp2, 100 GiB: at its 128 MiB/s" in complaint(judge("NODE002", slow, examples.node_pool()))
    unclear = unknown(
        examples.node_class(**CUSTOM, blockDeviceMappings=[disk("/dev/sda1", volumeType="gp2"), disk("/dev/sdb")]),
        "spec.blockDeviceMappings.0.ebs.volumeSize",
    )
    assert "the fastest is the default volume" in complaint(judge("NODE002", unclear, examples.node_pool()))
    one = examples.node_class(**CUSTOM, blockDeviceMappings=[disk("/dev/sda1"), disk("/dev/sdb", volumeType="io2")])
    assert passes(judge("NODE002", one, examples.node_pool()))
    bare = examples.node_class(**CUSTOM, blockDeviceMappings=[])
    assert left_open(judge("NODE002", bare, examples.node_pool())) == ["amiType or amiFamily"]


def test_an_unknown_throughput_is_left_open() -> None:
    template = unknown(group()[0], "blockDeviceMappings.0.ebs.throughput")
    assert left_open(judge("NODE002", template, examples.node_group(template))) == [
        "blockDeviceMappings[0].ebs.throughput"
    ]


def test_cpu_groups_are_not_concerned() -> None:
    template, pool = group(throughput=125)
    assert not_concerned(judge("NODE002", template, changed(pool, "instanceTypes", ["m5.large"])))
