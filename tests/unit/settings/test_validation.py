from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from eks_gpu.settings.gpu_software import DevicePlugin, GpuSoftware, Operator
from eks_gpu.settings.validation import Collectives, Validation

SOFTWARE: TypeAdapter[Operator | DevicePlugin] = TypeAdapter(GpuSoftware)


def _read(**validation: object) -> Validation:
    software = SOFTWARE.validate_python({"kind": "operator", "validation": validation})
    assert software.validation is not None
    return software.validation


def _mistake(**validation: object) -> str:
    with pytest.raises(ValidationError) as refused:
        _read(**validation)
    [error] = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def test_g08_an_empty_block_proves_what_takes_minutes_and_costs_nothing() -> None:
    proof = _read()
    assert (proof.diagnostic_level, proof.bandwidth, proof.nccl) == (1, True, Collectives.AUTO)
    assert proof.gate
    assert not proof.node_pools


def test_nothing_is_proven_where_the_block_is_missing() -> None:
    assert SOFTWARE.validate_python({"kind": "device_plugin"}).validation is None


@pytest.mark.parametrize("level", [0, 4, "1"])
def test_g08_a_level_that_dcgm_has_not_is_refused(level: object) -> None:
    assert _mistake(diagnostic_level=level) == "Input should be 1, 2 or 3"


def test_g08_the_long_diagnostic_is_refused_without_the_time_for_it() -> None:
    assert _mistake(diagnostic_level=3) == (
        "diagnostic_level 3 takes about half an hour on eight GPUs, and timeout_minutes is 30; give timeout_minutes at "
        "least 60, or diagnostic_level 1 or 2"
    )
    assert _read(diagnostic_level=3, timeout_minutes=60).diagnostic_level == 3


def test_g08_a_misspelt_check_is_an_error_and_not_silence() -> None:
    assert _mistake(bandwith=False) == "Extra inputs are not permitted"
