from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.gpu.sharing import NamedFiles, advertised_resource, sharing_config, sharing_files
from eks_gpu.settings.gpu_software import Sharing, TimeSlicing

EXCLUSIVE = Sharing()


def sliced(replicas: int, *, rename: bool = False) -> Sharing:
    return Sharing(time_slicing=TimeSlicing(replicas=replicas, rename=rename))


def test_exclusive_gpus_have_a_configuration_that_says_nothing() -> None:
    assert sharing_config(EXCLUSIVE) == {"version": "v1"}


def test_g03_time_slicing_is_spelt_as_the_plugin_reads_it() -> None:
    assert sharing_config(sliced(4)) == {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    }


def test_g03_configurations_are_named_and_one_is_the_default() -> None:
    assert set(sharing_files(EXCLUSIVE).files) == {"default"}


def test_g03_flags_stay_out_of_the_file_because_the_environment_wins() -> None:
    assert "flags" not in sharing_config(sliced(2))


@given(st.integers(min_value=2, max_value=64), st.booleans())
def test_g03_what_is_written_is_what_was_decided(replicas: int, rename: bool) -> None:
    sharing = sliced(replicas, rename=rename)
    assert yaml.safe_load(sharing_files(sharing).files["default"]) == sharing_config(sharing)


def test_renamed_shares_are_advertised_under_their_own_name() -> None:
    assert advertised_resource(EXCLUSIVE) == "nvidia.com/gpu"
    assert advertised_resource(sliced(4)) == "nvidia.com/gpu"
    assert advertised_resource(sliced(4, rename=True)) == "nvidia.com/gpu.shared"


@given(st.dictionaries(st.text(min_size=1), st.text()), st.dictionaries(st.text(min_size=1), st.text()))
def test_g03_the_name_changes_with_the_content_and_with_nothing_else(
    one: dict[str, str], other: dict[str, str]
) -> None:
    first, second = NamedFiles(stem="files", files=one), NamedFiles(stem="files", files=other)
    assert (first.name == second.name) == (one == other)
    assert first.name == NamedFiles(stem="files", files=dict(reversed(one.items()))).name


def test_a_name_is_a_stem_and_a_short_hash() -> None:
    stem, _, digits = sharing_files(EXCLUSIVE).name.rpartition("-")
    assert stem == "device-plugin-sharing"
    assert len(digits) == 10
