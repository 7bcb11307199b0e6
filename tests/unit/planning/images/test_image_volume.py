"""The disk that holds a node's images."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.planning.images.image_volume import DEFAULT_GIB, image_volume, image_volume_gib, mib_per_second, nvme_gb
from eks_gpu.planning.pool import Image, Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError
from eks_gpu.planning.volume import Volume

UNKNOWN = NotKnown("urn", "volumeSize")


def volume(device: str, size: float | NotKnown | None, *, from_snapshot: bool = False) -> Volume:
    return Volume(
        device=device, size_gib=size, type="gp3", throughput_mib=None, encrypted=True, from_snapshot=from_snapshot
    )


def pool(*types: str, family: AmiFamily | None = AmiFamily.AL2023, **changes: object) -> Pool:
    base = Pool(
        name="gpu",
        kind=PoolKind.NODE_GROUP,
        types=tuple(CATALOGUE[name] for name in types),
        image=Image(family=family, choices=()),
        volumes=(),
        disk_size_gib=None,
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # fields of the pool, by name


def test_n01_the_mapped_size_goes_before_disk_size_and_that_before_the_default() -> None:
    assert image_volume_gib(pool(volumes=(volume("/dev/xvda", 120),), disk_size_gib=80)) == 120
    assert image_volume_gib(pool(disk_size_gib=80)) == 80
    assert image_volume_gib(pool(volumes=(volume("/dev/sdb", 500),))) == DEFAULT_GIB


def test_n01_each_family_has_its_own_device() -> None:
    both = (volume("/dev/xvda", 4), volume("/dev/xvdb", 200))
    assert image_volume(pool(volumes=both), AmiFamily.BOTTLEROCKET).gib == 200
    assert image_volume(pool(volumes=both), AmiFamily.AL2023).gib == 4
    assert image_volume(pool(volumes=both[:1]), AmiFamily.BOTTLEROCKET).elsewhere == ("/dev/xvda",)


@pytest.mark.parametrize(
    "unclear",
    [
        pool(volumes=(volume("/dev/xvda", UNKNOWN),)),
        pool(volumes=(volume("/dev/xvda", None, from_snapshot=True),)),
        pool(volumes=UNKNOWN),
        pool(family=None),
    ],
    ids=["size", "snapshot", "mappings", "image"],
)
def test_n01_a_size_that_nobody_can_tell_is_not_known(unclear: Pool) -> None:
    with pytest.raises(NotKnownError):
        image_volume_gib(unclear)


@pytest.mark.parametrize(
    ("size", "from_snapshot", "of_snapshot"), [(None, True, True), (None, False, False), (100, True, False)]
)
def test_n01_only_a_volume_without_a_size_is_as_large_as_its_snapshot(
    size: float | None, from_snapshot: bool, of_snapshot: bool
) -> None:
    mapped = volume("/dev/xvda", size, from_snapshot=from_snapshot)
    assert image_volume(pool(volumes=(mapped,)), AmiFamily.AL2023).of_snapshot is of_snapshot


def test_n01_a_mapping_without_a_device_is_nowhere() -> None:
    nameless = replace(volume("", 100), device=None)
    assert image_volume(pool(volumes=(nameless, volume("/dev/sdb", 100))), AmiFamily.AL2023).elsewhere == ("/dev/sdb",)


@pytest.mark.parametrize(
    ("unclear", "path"),
    [(pool(family=None), "image"), (pool(volumes=(volume("/dev/xvda", None, from_snapshot=True),)), "volumeSize")],
)
def test_what_is_not_known_of_a_size_is_named(unclear: Pool, path: str) -> None:
    with pytest.raises(NotKnownError) as error:
        image_volume_gib(unclear)
    assert error.value.what.path == path


def test_n08_local_disks_count_where_every_node_uses_some() -> None:
    assert nvme_gb(pool("g5.xlarge", "g5.48xlarge", instance_store_raid0=True)) == 250
    assert nvme_gb(pool("g5.xlarge", instance_store_raid0=False)) == 0
    assert nvme_gb(pool(instance_store_raid0=True)) == 0
    assert nvme_gb(pool("g5.xlarge", "g5g.xlarge", instance_store_raid0=True)) == 0
    assert nvme_gb(pool("g5.xlarge", unlisted=("p9.48xlarge",), instance_store_raid0=True)) == 0
    assert nvme_gb(pool("g5g.xlarge", instance_store_raid0=UNKNOWN)) == 0
    with pytest.raises(NotKnownError):
        nvme_gb(pool("g5.xlarge", instance_store_raid0=UNKNOWN))


@pytest.mark.parametrize(
    ("kind", "throughput", "gib", "mib"),
    [
        ("gp3", 500, 100, 500),
        ("gp3", None, 100, 125),
        (None, None, None, 125),
        ("gp2", None, 170, 128),
        ("gp2", None, 171, 250),
        ("st1", None, 1024, 40),
        ("io2", None, 100, None),
    ],
)
def test_n08_a_volume_is_as_fast_as_its_type_its_throughput_or_its_size(
    kind: str | None, throughput: float | None, gib: float | None, mib: float | None
) -> None:
    assert mib_per_second(replace(volume("/dev/xvda", gib), type=kind, throughput_mib=throughput), gib) == mib


def test_n08_without_a_mapping_a_volume_has_what_comes_with_gp3() -> None:
    assert mib_per_second(None, None) == 125


def test_n08_a_speed_that_size_decides_is_not_known_without_it() -> None:
    older = replace(volume("/dev/xvda", None), type="gp2")
    for size in (None, UNKNOWN):
        with pytest.raises(NotKnownError):
            mib_per_second(older, size)
    with pytest.raises(NotKnownError):
        mib_per_second(replace(older, type=UNKNOWN), 100)
    with pytest.raises(NotKnownError):
        mib_per_second(replace(older, type="gp3", throughput_mib=UNKNOWN), 100)
