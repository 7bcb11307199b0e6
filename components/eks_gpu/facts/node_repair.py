"""EKS node repair: what the node monitoring agent says of a GPU node, and what EKS shall then do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from eks_gpu.facts import xid

SOURCE = (
    "aws/eks-node-monitoring-agent v1.7.0 pkg/reasons/reasons.yaml and monitors/nvidia/dcgm/dcgm_policies.go; botocore "
    '1.44.5 eks service model (NodeRepairConfigOverrides); EKS user guide, "Automatically repair nodes" (only managed '
    "node groups reboot; on Karpenter every repair of a GPU is a replacement)"
)
CHECKED = "2026-11-21"

REPLACE = "Replace"
REBOOT = "Reboot"
"""Repair actions of the EKS API; the third is ``NoAction``."""

GPU_CONDITION = "AcceleratedHardwareReady"
"""Node condition that the agent sets to False when a GPU is not well."""

DEFAULT_WAIT_MINUTES = 10
"""How long EKS waits after that condition before it acts, where nothing else is said."""

KARPENTER_GATE = "nodeRepair"
"""Feature gate of Karpenter's chart by which it replaces nodes that say they are not well; off by default
(aws/karpenter-provider-aws v1.14.1, charts/karpenter/values.yaml)."""

_MENDED_BY_REBOOT = frozenset({"RESET_GPU", "WORKFLOW_XID_48"})
"""NVIDIA's actions that a reboot of the instance does: it resets every GPU. Whatever else NVIDIA says (power cycle,
inspect the board, restart the virtual machine, contact support) is a new instance here."""

_REPLACED_ALL_THE_SAME: Mapping[int, str] = MappingProxyType(
    {
        64: "a row remap that failed: the GPU has no spare rows left, and a reset brings none",
    }
)
"""XIDs that NVIDIA resets and we replace, with the reason."""

_REBOOTED_ALL_THE_SAME: Mapping[int, str] = MappingProxyType(
    {
        63: "a row remap that is recorded and takes effect with the next reset",
    }
)
"""XIDs with no action of NVIDIA's, or another, that a reboot mends, with the reason."""

_OTHER_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "NvidiaDeviceCountMismatch": REPLACE,
        "NvidiaDoubleBitError": REBOOT,
        "NvidiaNVLinkError": REPLACE,
        "NvidiaFabricError": REPLACE,
        "FabricManagerNotRunning": REBOOT,
    }
)
"""What the agent says besides XIDs, and does nothing about by default. A GPU that is missing is paid for like the
others; a fabric that did not train persists across reboots (reasons.yaml); uncorrectable memory errors are retired at
the next reset, as with XID 48."""


def xid_reason(number: int) -> str:
    """Return the reason that the agent gives for an XID it takes as fatal: ``NvidiaXID79Error``."""
    return f"NvidiaXID{number}Error"


@cache
def repairs() -> Mapping[str, str]:
    """Return what shall be done for each reason that the agent gives for an unhealthy GPU.

    All of them, because EKS's own choice is documented for some only, and the agent's list grew since.
    """
    by_xid = {xid_reason(each.id): _repair(each) for each in xid.table().values() if each.eks_node_repair}
    return MappingProxyType({**by_xid, **_OTHER_REASONS})


def _repair(each: xid.Xid) -> str:
    if each.id in _REPLACED_ALL_THE_SAME:
        return REPLACE
    mended = each.action in _MENDED_BY_REBOOT or each.id in _REBOOTED_ALL_THE_SAME
    return REBOOT if mended else REPLACE
