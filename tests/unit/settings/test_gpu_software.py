from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eks_gpu.settings.gpu_software import DevicePlugin, GpuSoftware, Operator

SOFTWARE: TypeAdapter[Operator | DevicePlugin] = TypeAdapter(GpuSoftware)


def read(**block: object) -> Operator | DevicePlugin:
    return SOFTWARE.validate_python(block)


def mistake(**block: object) -> str:
    with pytest.raises(ValidationError) as refused:
        read(**block)
    [error] = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def test_g02_the_kind_chooses_one_owner() -> None:
    assert isinstance(read(kind="operator"), Operator)
    assert isinstance(read(kind="device_plugin"), DevicePlugin)


def test_g02_there_is_no_owner_by_default() -> None:
    assert mistake() == "Unable to extract tag using discriminator 'kind'"


def test_another_owner_is_refused_with_the_two_that_there_are() -> None:
    assert mistake(kind="dra") == (
        "Input tag 'dra' found using 'kind' does not match any of the expected tags: 'operator', 'device_plugin'"
    )


def test_gpus_are_exclusive_by_default() -> None:
    sharing = read(kind="operator").sharing
    assert sharing.time_slicing is None
    assert not sharing.shared


@pytest.mark.parametrize("replicas", [1, 0, -4])
def test_g03_fewer_than_two_replicas_are_refused(replicas: int) -> None:
    assert mistake(kind="operator", sharing={"time_slicing": {"replicas": replicas}}) == (
        "Input should be greater than or equal to 2"
    )


def test_g03_an_unknown_key_is_an_error_and_not_silence() -> None:
    assert mistake(kind="operator", sharing={"time_slicing": {"replicas": 4, "renameByDefault": True}}) == (
        "Extra inputs are not permitted"
    )


def test_g03_time_slicing_says_how_many_share() -> None:
    assert mistake(kind="operator", sharing={"time_slicing": {}}) == "Field required"


@pytest.mark.parametrize("source", ["https://mirror.example/nvidia", "oci://mirror.example/charts"])
def test_a_mirror_is_taken(source: str) -> None:
    assert read(kind="operator", chart_source=source).chart_source == source


@pytest.mark.parametrize("source", ["mirror.example", "http://mirror.example", "oci://mirror.example/charts/", ""])
def test_what_is_no_mirror_is_refused_with_what_would_be(source: str) -> None:
    assert mistake(kind="operator", chart_source=source) == (
        f"{source!r} is no place for charts; give an https:// repository or an oci:// prefix, with no slash at the end"
    )
