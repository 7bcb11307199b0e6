"""What went wrong on GPU clusters before, and must not again: the lessons that components, rules and alerts cite.

An id is stable: code, rules, alerts, runbooks and documents name it, so it is never given to another lesson.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = "GPU platform operations on EKS: incidents and their findings, collected by the maintainers"
CHECKED = "2026-11-21"

LESSONS: Mapping[str, str] = MappingProxyType(
    {
        # --- nodes and disks -------------------------------------------------------------------------------------
        "N01": "Triton and CUDA images fill a 20 GiB root volume: disk pressure, and image pulls that find no space.",
        "N02": "containerd keeps every layer it ever pulled, so a node must collect image garbage by itself.",
        "N03": "A pod must fit what a node can allocate, which is less than what the instance type has.",
        "N04": "GPU nodes that are labelled in different ways are missed by selectors, and then no pod schedules.",
        "N05": "An untainted GPU node fills with CPU pods, and the GPU stands idle beside them.",
        "N06": "A node's bootstrap that nobody wrote down cannot be reproduced or reviewed.",
        "N07": "Kernel and driver must match: an image is pinned, tested and then rolled out.",
        "N08": "GPU nodes came too late, because instance types ran out or images took minutes to pull.",
        "N09": "Spot capacity pays only where an interruption drains the node in time.",
        "N10": "Consolidation and node expiry kill training jobs that were not protected from them.",
        "N11": "A capacity reservation that does not match zone, type or placement is paid for and not used.",
        "N12": "Karpenter tries node pools by weight and name, never by price, so a small pod landed on a p4d.",
        # --- GPU software ----------------------------------------------------------------------------------------
        "G01": "The device plugin failed because the RuntimeClass nvidia did not exist yet.",
        "G02": "A GPU has exactly one owner: two device plugins on a node advertise its GPUs twice.",
        "G03": "The device plugin ignores what it does not know in a sharing configuration, so a typo shares nothing.",
        "G04": "Time-slicing gives no isolation: production inference shares a GPU by MIG or not at all.",
        "G05": "A MIG layout made by hand is gone after a reboot.",
        "G06": "A Helm release that fails half-way stays in a failed state and blocks every later update.",
        "G07": "An unpinned version changes under a running cluster, and drivers, charts and images stop matching.",
        "G08": "A GPU that is listed may still not work: prove it before work is given to it.",
        "G09": "Multi-node training without EFA, or with EFA on a type that has none, is slow or does not start.",
        # --- workloads -------------------------------------------------------------------------------------------
        "W01": "GPUs are requested in whole numbers, and the request equals the limit.",
        "W02": "A GPU pod needs the tolerations and selectors of a pool that really exists.",
        "W03": "The default /dev/shm of 64 MiB kills PyTorch workers with a bus error.",
        "W04": "Probes kill a server that is still loading its model, unless a startup probe gives it the time.",
        "W05": "Without a model cache each restart downloads the model again, up to 140 GB.",
        "W06": "A training job of 72 hours that died at hour 68 without a checkpoint is 68 hours of GPUs lost.",
        "W07": "A GPU starves on too few CPUs and too little memory, and too many of them are wasted.",
        "W08": "A debug pod that asks for no GPU sees none.",
        "W09": "Without a PodDisruptionBudget a node drain takes every replica at once.",
        "W10": "Floating tags and full-size server images make starts slow and not repeatable.",
        "W11": "CUDA out of memory is not the node out of memory, and the remedies have nothing in common.",
        "W12": "A GPU at 0 % is often starved by CPU, shared memory or storage.",
        "W13": "Without quotas one team takes every GPU; a quota on the wrong key is accepted and not enforced.",
        "W14": "A model server behind a public load balancer is open to the world.",
        # --- storage ---------------------------------------------------------------------------------------------
        "S01": "A claim cannot bind without a mount target in the node's zone and the right StorageClass parameters.",
        "S02": "A server is deployed once its cache is bound, not before.",
        "S03": "A bursting or tiered file system is too slow to load models from.",
        # --- monitoring, health and cost -------------------------------------------------------------------------
        "M01": "XID errors that nobody saw for a week were a dying GPU.",
        "M02": "A rising rate of single-bit ECC errors predicts a failure.",
        "M03": "A GPU that is too hot throttles itself, and jobs get slower without any error.",
        "M04": "GPU memory that is nearly full is the next allocation's failure.",
        "M05": "Idle GPUs cost as much as busy ones.",
        "M06": "A GPU that fell off the bus takes its metrics with it, so no threshold fires.",
        "M07": "An alert on a metric that nobody exports never fires: exporter, Prometheus and alerts share one list.",
        "M08": "What is not on a dashboard is not looked at.",
        "M09": "Nobody could say who uses which GPU.",
        "M10": "A quota of 0, or a zone without the instance type, shows only hours after the deployment began.",
        "M11": "GPU components without collected logs leave nothing to look at when a node is gone.",
        "M12": "On call, nobody knew how to look at a GPU.",
    }
)
"""Lesson id to the lesson, one sentence each."""
