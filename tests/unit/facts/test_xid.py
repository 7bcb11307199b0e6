from __future__ import annotations

import pytest

from eks_gpu.facts import xid
from eks_gpu.facts.xid import XidClass


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (48, XidClass.HARDWARE),
        (79, XidClass.HARDWARE),
        (95, XidClass.HARDWARE),
        (109, XidClass.HARDWARE),
        (74, XidClass.NVLINK),
        (144, XidClass.NVLINK),
        (63, XidClass.WARNING),
        (94, XidClass.WARNING),
        (154, XidClass.WARNING),
        (13, XidClass.APPLICATION),
        (31, XidClass.APPLICATION),
        (43, XidClass.APPLICATION),
        (45, XidClass.INFORMATIONAL),
    ],
)
def test_m01_an_xid_is_in_the_class_of_those_who_must_act(number: int, expected: XidClass) -> None:
    assert xid.table()[number].xid_class is expected


def test_m01_everything_that_eks_repairs_is_urgent_but_the_note_of_a_bad_row() -> None:
    repaired = {entry.id for entry in xid.table().values() if entry.eks_node_repair}
    assert repaired - set(xid.of_class(XidClass.HARDWARE, XidClass.NVLINK)) == {xid.ROW_REMAP_RECORDED}


def test_m01_no_xid_that_nvidia_answers_with_a_restart_of_the_program_is_urgent() -> None:
    urgent = xid.of_class(XidClass.HARDWARE, XidClass.NVLINK)
    assert [number for number in urgent if xid.table()[number].action == "RESTART_APP"] == []


def test_classes_are_disjoint_and_cover_the_table() -> None:
    numbers = [number for one in XidClass for number in xid.of_class(one)]
    assert sorted(numbers) == sorted(xid.table())


def test_every_xid_has_a_name() -> None:
    assert all(entry.name for entry in xid.table().values())
