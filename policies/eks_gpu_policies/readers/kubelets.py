"""What a pool's own kubelet configuration reserves, and how many pods it allows.

Karpenter takes it from the EC2NodeClass alone; other nodes are told by user data.
"""

from __future__ import annotations

from typing import Final

from eks_gpu.planning.pool import Kubelet
from eks_gpu.planning.reading import View
from eks_gpu_policies.readers.user_data import UserData

_KEBAB: Final = ("kube-reserved", "system-reserved", "eviction-hard", "max-pods")
"""Bottlerocket's spelling, in ``settings.kubernetes``."""


def read_kubelet(place: View) -> Kubelet:
    """Read a KubeletConfiguration, as an EC2NodeClass and a NodeConfig spell it."""
    return _read(place, ("kubeReserved", "systemReserved", "evictionHard", "maxPods"))


def told_kubelet(told: UserData) -> Kubelet:
    """Return what user data tells the kubelet: of several NodeConfigs the last that says something wins."""
    found = [_read(told.settings["kubernetes"], _KEBAB)]
    found += [read_kubelet(config.at("spec", "kubelet", "config")) for config in told.node_configs]
    return Kubelet(
        kube_reserved={name: text for each in found for name, text in each.kube_reserved.items()},
        system_reserved={name: text for each in found for name, text in each.system_reserved.items()},
        eviction_hard={name: text for each in found for name, text in each.eviction_hard.items()},
        max_pods=next((each.max_pods for each in reversed(found) if each.max_pods is not None), None),
    )


def _read(place: View, spelled: tuple[str, str, str, str]) -> Kubelet:
    kube, system, eviction, pods = spelled
    return Kubelet(
        kube_reserved=place[kube].text_map(),
        system_reserved=place[system].text_map(),
        eviction_hard=place[eviction].text_map(),
        max_pods=place[pods].integer(),
    )
