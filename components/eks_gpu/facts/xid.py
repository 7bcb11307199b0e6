"""NVIDIA's XID error codes: what each means, how bad it is, and what NVIDIA says to do.

Codes that are in no class here (unused ones, future ones) are not harmless: the warning alert takes everything that no
other class claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

SOURCE = (
    "NVIDIA XID catalogue, docs.nvidia.com/deploy/xid-errors (names and actions); aws/eks-node-monitoring-agent v1.7.0 "
    "monitors/nvidia/dcgm/dcgm_policies.go (which ones node repair acts on). Classes: hardware and nvlink are what "
    "NVIDIA resets, restarts or inspects, or EKS repairs; 63 stays a warning although EKS repairs it, because it "
    "records a row remap and is no failure by itself; 154 is a warning because it says that a reset or a reboot is due"
)
CHECKED = "2026-11-21"

_TABLE = "xid.csv"


class XidClass(StrEnum):
    """How bad an XID is, and hence who must act."""

    HARDWARE = "hardware"
    """The GPU must be reset or replaced, now: drain the node."""
    NVLINK = "nvlink"
    """A link between GPUs failed: drain the node; one GPU's reset is not enough."""
    WARNING = "warning"
    """The GPU works and says that it will need attention."""
    APPLICATION = "application"
    """The program made the error; the GPU is healthy. Restart the program."""
    INFORMATIONAL = "informational"
    """Nothing to do, or a follow-on of another XID that says more."""


@dataclass(frozen=True, slots=True)
class Xid:
    """One XID: its number, NVIDIA's name and immediate action (``""``: none published), and whether EKS repairs it."""

    id: int
    name: str
    xid_class: XidClass
    action: str
    eks_node_repair: bool


@cache
def table() -> Mapping[int, Xid]:
    """Return every classified XID by its number, read once from the package's ``xid.csv``."""
    # Most who import a class of errors never read the table.
    import csv  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    text = Path(__file__).with_name(_TABLE).read_text(encoding="utf-8")
    xids = (
        Xid(int(row["id"]), row["name"], XidClass(row["class"]), row["action"], row["eks_node_repair"] == "1")
        for row in csv.DictReader(text.splitlines())
    )
    return MappingProxyType({xid.id: xid for xid in xids})


def of_class(*classes: XidClass) -> tuple[int, ...]:
    """Return the numbers of all XIDs of the classes, ascending."""
    return tuple(sorted(xid.id for xid in table().values() if xid.xid_class in classes))


FELL_OFF_THE_BUS = 79
"""The GPU is gone. Its series vanish with it, so no threshold sees this: alerts compare counts of GPUs instead."""

ROW_REMAP_RECORDED = 63
"""The GPU noted a bad row of memory, which it replaces at the next reset."""
