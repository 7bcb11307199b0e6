"""The device plugin's configuration file: the keys that it knows. What it does not know it ignores without a word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SOURCE: Final = (
    "NVIDIA/k8s-device-plugin v0.20.0 api/config/v1: config.go (a missing version is v1, any other is refused), "
    "flags.go, replicas.go (two replicas at least; rename and devices are ignored), sharing.go, imex.go"
)
CHECKED: Final = "2026-11-21"

TIME_SLICING: Final = "timeSlicing"
MPS: Final = "mps"
FEWEST_REPLICAS: Final = 2

Keys = Mapping[str, "Keys | None"]
"""Names of keys with what is below them; None where there is a value."""


def _values(*names: str) -> dict[str, Keys | None]:
    return dict.fromkeys(names)


_REPLICATED: Final[Keys] = MappingProxyType(
    {
        **_values("renameByDefault", "failRequestsGreaterThanOne"),
        "resources": MappingProxyType(_values("name", "rename", "devices", "replicas")),
    }
)

KEYS: Final[Keys] = MappingProxyType(
    {
        **_values("version"),
        "flags": MappingProxyType(
            {
                **_values(
                    "migStrategy",
                    "failOnInitError",
                    "mpsRoot",
                    "nvidiaDriverRoot",
                    "nvidiaDevRoot",
                    "gdrcopyEnabled",
                    "gdsEnabled",
                    "mofedEnabled",
                    "useNodeFeatureAPI",
                    "deviceDiscoveryStrategy",
                ),
                "plugin": MappingProxyType(
                    _values(
                        "passDeviceSpecs",
                        "deviceListStrategy",
                        "deviceIDStrategy",
                        "cdiAnnotationPrefix",
                        "nvidiaCTKPath",
                        "containerDriverRoot",
                        "sharedDevicesAllocationPolicy",
                    )
                ),
                "gfd": MappingProxyType(
                    _values("oneshot", "noTimestamp", "sleepInterval", "outputFile", "machineTypeFile")
                ),
            }
        ),
        "sharing": MappingProxyType({TIME_SLICING: _REPLICATED, MPS: _REPLICATED}),
        "imex": MappingProxyType(_values("channelIDs", "required")),
    }
)
"""The keys at each depth. ``resources`` at the top is known to the plugin, which warns and ignores it; here it is not
among them."""
