"""The device plugin's file is read strictly, because the plugin does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.reading import View
from eks_gpu.planning.sharing.plugin_config import defects, unpinned

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
TREES = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "sharing", "timeSlicing", "mps", "resources", "replicas", "x"]), below
        )
    ),
    max_leaves=12,
)


def said(data: object) -> list[str]:
    return list(defects(View(data, "urn")))


def shared(**more: object) -> dict[str, object]:
    entry = {"name": "nvidia.com/gpu", "replicas": 4, **more}
    return {"version": "v1", "sharing": {"timeSlicing": {"resources": [entry]}}}


def test_g03_a_file_as_documented_has_no_defect() -> None:
    assert said(shared()) == []
    assert said({"version": "v1"}) == []


@pytest.mark.parametrize(
    ("replicas", "why"),
    [
        (1, "among 1 pod; the plugin starts with 2 or more only"),
        (0, "among 0 pods; the plugin starts with 2 or more only"),
        (2.5, "among 2.5 pods; the plugin starts with 2 or more only"),
        (True, "among true pods; the plugin starts with 2 or more only"),
        (None, "and does not say among how many pods, and the plugin does not start"),
        ("4", "among '4' pods, which is a text and no number, and the plugin does not start"),
        ("x", "among 'x' pods, which is a text and no number, and the plugin does not start"),
    ],
)
def test_g03_fewer_than_two_replicas_and_what_is_no_number_are_none(replicas: object, why: str) -> None:
    assert said(shared(replicas=replicas)) == [f"shares nvidia.com/gpu by timeSlicing {why}"]


@pytest.mark.parametrize("name", ["gpu", "mig-1g.5gb", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"])
def test_g03_the_vendor_may_be_left_out_of_a_name(name: str) -> None:
    assert said(shared(name=name)) == []


@pytest.mark.parametrize("name", ["nvidia.com/gpus", "nvidia.com/gpu.shared", "GPU", "example.com/gpu"])
def test_g03_a_name_of_nothing_shares_nothing(name: str) -> None:
    (defect,) = said(shared(name=name))
    assert defect.endswith("by timeSlicing, which the plugin advertises nowhere, so that nothing is shared")


def test_g03_an_entry_without_a_name_stops_the_plugin() -> None:
    assert "has an entry without a name" in said(shared(name=None))[0]


def test_g03_unknown_keys_are_named_with_their_place() -> None:
    (defect,) = said(shared(replica=4))
    assert "sharing.timeSlicing.resources.replica" in defect


def test_a_version_may_be_left_out_but_not_be_another() -> None:
    assert unpinned(View({"sharing": {}}, "urn"))
    assert not unpinned(View({"version": "v1"}, "urn"))
    assert "has version v1beta1" in said({"version": "v1beta1"})[0]


@given(TREES)
def test_any_file_is_read(data: object) -> None:
    assert all(isinstance(defect, str) for defect in said(data))
