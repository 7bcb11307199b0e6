from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.gpu.sharing import NamedFiles, chosen_by, mig_files, offered, sharing_config, sharing_files
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.sharing import Mps, Sharing, TimeSlicing

EXCLUSIVE = Sharing()


def sliced(replicas: int, *, rename: bool = False) -> Sharing:
    return Sharing(time_slicing=TimeSlicing(replicas=replicas, rename=rename))


def group(instance_type: str = "g5.xlarge", **choices: object) -> NodeGroup:
    return NodeGroup.model_validate({"instance_types": [instance_type], "count": 1, **choices})


def partitioned(instance_type: str = "p4d.24xlarge", **mig: object) -> NodeGroup:
    return group(instance_type, sharing={"mig": mig})


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


def test_g03_mps_is_spelt_as_the_plugin_reads_it() -> None:
    assert sharing_config(Sharing(mps=Mps(replicas=3))) == {
        "version": "v1",
        "sharing": {
            "mps": {
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 3}],
            }
        },
    }


def test_g03_configurations_are_named_and_one_is_the_default() -> None:
    files = sharing_files(sliced(2), [sliced(4, rename=True), EXCLUSIVE, Sharing(mps=Mps(replicas=3))]).files
    assert list(files) == ["default", "exclusive", "mps-3", "time-slicing-4-renamed"]
    assert yaml.safe_load(files["default"]) == sharing_config(sliced(2))
    assert yaml.safe_load(files["exclusive"]) == {"version": "v1"}


def test_g03_every_configuration_that_a_pools_nodes_name_is_there() -> None:
    pools = {"a": group(sharing={"time_slicing": {"replicas": 4}}), "b": group(sharing={}), "c": group()}
    files = sharing_files(EXCLUSIVE, chosen_by(pools)).files
    for pool in pools.values():
        assert pool.node_labels.get("nvidia.com/device-plugin.config", "default") in files


def test_g05_layouts_are_declared_with_the_one_that_the_manager_falls_back_to() -> None:
    files = mig_files([partitioned(profile="all-1g.5gb"), partitioned(layout={"3g.20gb": 1, "1g.5gb": 4}), group()])
    assert files is not None
    written = yaml.safe_load(files.files["config.yaml"])
    assert written["version"] == "v1"
    layouts = written["mig-configs"]
    assert layouts["all-disabled"] == [{"devices": "all", "mig-enabled": False}]
    assert layouts["all-1g.5gb"] == [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}]
    assert layouts["4x1g.5gb-1x3g.20gb"][0]["mig-devices"] == {"1g.5gb": 4, "3g.20gb": 1}


def test_g05_a_layout_that_means_something_else_on_another_gpu_is_bound_to_the_gpu() -> None:
    files = mig_files(
        [partitioned(profile="all-1g.10gb"), partitioned("p4de.24xlarge", profile="all-1g.10gb")],
    )
    assert files is not None
    entries = yaml.safe_load(files.files["config.yaml"])["mig-configs"]["all-1g.10gb"]
    by_device = {device: entry["mig-devices"] for entry in entries for device in entry["device-filter"]}
    assert by_device["0x20B010DE"] == {"1g.10gb": 4}
    assert by_device["0x20B210DE"] == {"1g.10gb": 7}


def test_without_partitions_the_manager_is_given_no_layouts() -> None:
    assert mig_files([group(), group(sharing={})]) is None


def test_what_pods_ask_for_follows_from_the_default_and_from_each_pool() -> None:
    pools = {"slices": partitioned(profile="all-1g.5gb"), "whole": group(sharing={}), "any": group()}
    answer = offered(sliced(4, rename=True), pools)
    assert answer["gpu_resource"] == "nvidia.com/gpu.shared"
    assert answer["shared"]
    assert answer["mig_strategy"] == "mixed"
    assert {offer.pool: offer.resources for offer in answer["offers"]} == {
        "slices": ("nvidia.com/mig-1g.5gb",),
        "whole": ("nvidia.com/gpu",),
        "any": ("nvidia.com/gpu.shared",),
    }


def test_g03_flags_stay_out_of_the_file_because_the_environment_wins() -> None:
    assert "flags" not in sharing_config(sliced(2))


@given(st.integers(min_value=2, max_value=64), st.booleans())
def test_g03_what_is_written_is_what_was_decided(replicas: int, rename: bool) -> None:
    sharing = sliced(replicas, rename=rename)
    assert yaml.safe_load(sharing_files(sharing).files["default"]) == sharing_config(sharing)


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
