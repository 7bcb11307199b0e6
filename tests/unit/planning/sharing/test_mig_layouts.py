"""Layouts that somebody wrote, and partitions made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import mig
from eks_gpu.planning.reading import View
from eks_gpu.planning.sharing.mig_layouts import created, creation_obstacle, read_layout_file

A100 = mig.MODELS["a100", 40960]
A100_80 = mig.MODELS["a100", 81920]
RTX = mig.MODELS["rtx-pro-server-6000", 98304]


def read(configs: object) -> dict[str, int]:
    file = read_layout_file(View({"version": "v1", "mig-configs": configs}, "urn"))
    return {name: len(entries) for name, entries in file.layouts.items()}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("nvidia-smi mig -cgi 9,9,9,19 -C", [("9", "9", "9", "19")]),
        ("sudo nvidia-smi mig -i 0 -cgi 19,14 -C; nvidia-smi mig --create-gpu-instance=9", [("19", "14"), ("9",)]),
        ("nvidia-smi mig -cgi 1g.5gb+me,2g.10gb", [("1g.5gb+me", "2g.10gb")]),
        ("nvidia-smi mig -lgi", []),
        ("echo -cgi 9", []),
    ],
)
def test_g05_commands_that_make_partitions_are_found(text: str, made: list[tuple[str, ...]]) -> None:
    assert list(created(text)) == made


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for wanted in created(f"nvidia-smi mig -cgi {text}"):
        assert creation_obstacle(wanted, A100) is None or creation_obstacle(wanted, A100)


def test_g05_what_a_command_makes_must_fit() -> None:
    assert creation_obstacle(("9", "9", "9", "19"), A100) == "it needs 10 of 7 compute slices"
    assert creation_obstacle(("9", "9", "9", "19"), None) == "it needs 10 of 7 compute slices"
    assert creation_obstacle(("19",) * 7, A100) is None
    assert creation_obstacle(("0",), A100) is None
    assert "there is no profile 1g.5gb" in (creation_obstacle(("1g.5gb",), A100_80) or "")
    assert creation_obstacle(("1g.10gb",), None) is None
    assert creation_obstacle(("9", "9", "9"), RTX) is None


def test_a_layout_is_for_the_models_that_it_names() -> None:
    entry = {"device-filter": ["0x20B210DE"], "mig-enabled": True, "mig-devices": {"1g.10gb": 7}}
    file = read_layout_file(View({"mig-configs": {"a": [entry]}}, "urn"))
    assert len(file.on("a", A100_80)) == 1
    assert file.on("a", A100) == ()
    assert file.on("b", A100_80) == ()


def test_files_of_any_shape_are_read() -> None:
    assert read({"a": [{"mig-enabled": True, "mig-devices": {"1g.5gb": "x"}}], "b": "c", "d": None}) == {
        "a": 1,
        "b": 0,
        "d": 0,
    }
    assert read([1, 2]) == {}


def test_only_what_no_gpu_can_hold_is_an_obstacle() -> None:
    layouts = {
        "fits": [{"mig-enabled": True, "mig-devices": {"3g.20gb": 2}}],
        "not": [{"mig-enabled": True, "mig-devices": {"3g.20gb": 3}}],
        "elsewhere": [{"mig-enabled": True, "mig-devices": {"1g.6gb": 9}}],
        "off": [{"mig-enabled": False, "mig-devices": {"3g.20gb": 3}}],
    }
    file = read_layout_file(View({"mig-configs": layouts}, "urn"))
    assert list(file.obstacles()) == ["not fits no GPU: it needs 9 of 7 compute slices"]
