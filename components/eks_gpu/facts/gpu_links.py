"""How fast a GPU is reached: its PCIe interface, its NVLinks, and what a sound one must show of them at least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu.facts.instances import InstanceType

SOURCE = (
    "NVIDIA data sheets of V100, T4, T4G (as T4), A10 (A10G as A10), A100, L4, L40S, H100, H200, B200, B300, RTX PRO "
    "4500 and 6000 Blackwell Server Edition (interface and NVLink); PCI-SIG base specifications 3.0 to 5.0 (rates). "
    "The shares of it that are demanded are judgement: no figure here was measured on hardware"
)
CHECKED = "2026-11-21"

_LANES: Final = 16
_GB_PER_SECOND_AND_LANE: Final[Mapping[int, float]] = MappingProxyType({3: 0.985, 4: 1.969, 5: 3.938})
"""GB/s of one lane in one direction, after encoding, by PCIe generation."""

_HOST_SHARE: Final = 0.25
"""A pinned copy reaches about 0.8 of the interface, and half of that where an instance wires eight of sixteen lanes,
as several do. A link that fell back by two generations, or to four lanes, shows 0.2."""

_SWITCHED_SHARE: Final = 0.5
"""NCCL's bus bandwidth on a sound NVSwitch machine is about 0.75 of what a GPU's links carry in one direction."""

_MESH_SHARE: Final = 0.2
"""Without a switch each pair has a part of the links only."""

_PCIE_ALL_REDUCE: Final = 1.0
"""GB/s. GPUs without NVLink meet through the host, at a few GB/s; below one, not even PCIe is as it should be."""

_FABRIC_SHARE: Final = 0.5
"""Of the instance's network. Over TCP, which NCCL falls back to where the fabric is broken, it stays far below."""

_MBIT_IN_GB: Final = 8000


@dataclass(frozen=True, slots=True)
class GpuLink:
    """How a GPU model is attached."""

    pcie_generation: int
    nvlink_gb_per_second: float = 0
    """Of all links of one GPU, both directions together; 0 where there are none."""
    switched: bool = True
    """Whether the links go to an NVSwitch, and not from GPU to GPU."""

    @property
    def host_gb_per_second(self) -> float:
        """What the PCIe interface carries in one direction."""
        return _GB_PER_SECOND_AND_LANE[self.pcie_generation] * _LANES


LINKS: Mapping[str, GpuLink] = MappingProxyType(
    {
        "v100": GpuLink(3, 300, switched=False),
        "t4": GpuLink(3),
        "t4g": GpuLink(3),
        "a10g": GpuLink(4),
        "a100": GpuLink(4, 600),
        "l4": GpuLink(4),
        "l40s": GpuLink(4),
        "h100": GpuLink(5, 900),
        "h200": GpuLink(5, 900),
        "b200": GpuLink(5, 1800),
        "b300": GpuLink(5, 1800),
        "rtx-pro-4500": GpuLink(5),
        "rtx-pro-server-6000": GpuLink(5),
    }
)
"""By GPU name, as the catalogue has it."""


def least_host_bandwidth(kind: InstanceType) -> float:
    """Return the GB/s between host and GPU, in each direction, below which a GPU of ``kind`` is not sound."""
    return round(LINKS[kind.gpu_name].host_gb_per_second * _HOST_SHARE, 1)


def least_all_reduce_within(kind: InstanceType) -> float:
    """Return the GB/s of bus bandwidth that an all-reduce over the GPUs of one node must reach."""
    link = LINKS[kind.gpu_name]
    if not link.nvlink_gb_per_second:
        return _PCIE_ALL_REDUCE
    share = _SWITCHED_SHARE if link.switched else _MESH_SHARE
    return round(link.nvlink_gb_per_second / 2 * share, 1)


def least_all_reduce_across(kind: InstanceType) -> float:
    """Return the GB/s of bus bandwidth that an all-reduce over the GPUs of several nodes with EFA must reach."""
    return round(kind.network_bandwidth_mbps / _MBIT_IN_GB * _FABRIC_SHARE, 1)
