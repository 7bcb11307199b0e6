from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import instances, mig

A100 = mig.MODELS["a100", 40960]


def test_g05_every_model_that_can_be_partitioned_has_its_profiles_and_no_other_model_has() -> None:
    capable = {kind.gpu_model for kind in instances.CATALOGUE.values() if kind.mig_capable}
    assert set(mig.MODELS) == capable


@pytest.mark.parametrize(
    ("model", "most"),
    [
        (("a100", 40960), {"1g.5gb": 7, "1g.5gb+me": 1, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1}),
        (("a100", 81920), {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}),
        (("h200", 144384), {"1g.18gb": 7, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "7g.141gb": 1}),
        (("rtx-pro-server-6000", 98304), {"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1}),
    ],
)
def test_g05_a_gpu_holds_as_many_of_a_profile_as_nvidia_says(model: tuple[str, int], most: dict[str, int]) -> None:
    # NVIDIA/mig-parted v0.15.0 deployments/systemd/config-default.yaml.
    gpu = mig.MODELS[model]
    assert {p.name: gpu.most(p) for p in gpu.profiles if p.name in most} == most


def test_g05_ten_slices_do_not_fit_into_seven() -> None:
    # Three of 3g.20gb (profile 9) and one of 1g.5gb (profile 19): ``nvidia-smi mig -cgi 9,9,9,19``.
    assert A100.obstacle({"3g.20gb": 3, "1g.5gb": 1}) == "it needs 10 of 7 compute slices"


def test_g05_memory_runs_out_before_compute_does() -> None:
    assert A100.obstacle({"1g.10gb": 5}) == "it needs 10 of 8 memory slices"


SEVEN = {(1, 1): range(7), (1, 2): (0, 2, 4, 6), (2, 2): (0, 2, 4), (3, 4): (0, 4), (4, 4): (0,), (7, 8): (0,)}
FOUR = {(1, 1): range(4), (2, 2): (0, 2), (4, 4): (0,)}
TWO = {(1, 1): range(2), (2, 2): (0,)}
STARTS = {7: SEVEN, 4: FOUR, 2: TWO}
"""Memory slices at which a partition may begin, by its slices (NVIDIA MIG user guide, ``nvidia-smi mig -lgipp``)."""


def placed(spans: list[tuple[int, Iterable[int]]], taken: frozenset[int] = frozenset()) -> bool:
    if not spans:
        return True
    (length, starts), *others = spans
    return any(
        placed(others, taken | span)
        for span in (frozenset(range(start, start + length)) for start in starts)
        if not span & taken
    )


@pytest.mark.parametrize("model", [("a100", 40960), ("rtx-pro-server-6000", 98304), ("rtx-pro-4500", 32768)])
def test_g05_every_layout_whose_sums_fit_can_be_placed(model: tuple[str, int]) -> None:
    gpu = mig.MODELS[model]
    starts = STARTS[gpu.compute_slices]
    counts = [range(gpu.memory_slices // profile.memory + 1) for profile in gpu.profiles]
    fitting = 0
    for each in itertools.product(*counts):
        layout = {profile.name: count for profile, count in zip(gpu.profiles, each, strict=True) if count}
        if gpu.obstacle(layout) is None:
            fitting += 1
            wanted = [p for p, count in zip(gpu.profiles, each, strict=True) for _ in range(count)]
            largest_first = sorted(wanted, key=lambda p: (-p.memory, -p.compute))
            assert placed([(p.memory, starts[p.compute, p.memory]) for p in largest_first]), layout
    assert fitting > 3


def test_g05_media_extensions_are_there_once() -> None:
    assert A100.obstacle({"1g.5gb+me": 1, "1g.5gb": 6}) is None
    assert "more than once" in (A100.obstacle({"1g.5gb+me": 2}) or "")


def test_an_unknown_profile_is_refused_with_those_that_there_are() -> None:
    assert A100.obstacle({"1g.6gb": 1}) == (
        "there is no profile 1g.6gb; profiles are 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"
    )


@pytest.mark.parametrize("gpu", mig.MODELS.values(), ids=[f"{name}-{mib}" for name, mib in mig.MODELS])
def test_g05_every_layout_with_a_name_can_be_held_and_its_name_is_a_labels_value(gpu: mig.MigGpu) -> None:
    for name, layout in gpu.layouts.items():
        assert gpu.obstacle(layout) is None
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
        assert gpu.layout(name) == layout


LAYOUTS = st.dictionaries(st.sampled_from([p.name for p in A100.profiles]), st.integers(1, 8), min_size=1)


@given(LAYOUTS)
def test_g05_a_composed_layout_is_read_back_from_its_name_if_it_can_be_held(layout: dict[str, int]) -> None:
    expected = layout if A100.obstacle(layout) is None else None
    assert A100.layout(mig.layout_name(layout)) == expected


@given(LAYOUTS, st.sampled_from([p.name for p in A100.profiles]))
def test_g05_what_cannot_be_held_cannot_be_held_with_more(layout: dict[str, int], more: str) -> None:
    if A100.obstacle(layout) is not None:
        assert A100.obstacle(dict(Counter(layout) + Counter([more]))) is not None


def test_the_name_of_another_models_layout_means_nothing() -> None:
    assert A100.layout("all-1g.18gb") is None
    assert A100.layout("2x1g.18gb") is None
    assert A100.layout("") is None


def test_g05_one_meaning_needs_no_devices() -> None:
    written = mig.config_file({"all-1g.5gb": (("a100", 40960), ("a100", 40960))})
    assert written == {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False}],
            "all-1g.5gb": [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}],
        },
    }


def test_a_profile_tells_its_memory() -> None:
    profile = A100.profile("1g.5gb.me")
    assert profile is not None
    assert (profile.name, profile.memory_gb) == ("1g.5gb+me", 5)
