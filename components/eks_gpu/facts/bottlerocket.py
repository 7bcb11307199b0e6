"""Settings of Bottlerocket that nodes of ours are given, by the names of its API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from eks_gpu.facts.gpu_software import DEVICE_LIST_BY_VOLUME_MOUNTS

SOURCE = (
    "bottlerocket.dev/en/os/1.57.x/api/settings (kubernetes, container-registry, network, bootstrap-commands, "
    "nvidia-container-runtime, kubelet-device-plugins); bottlerocket-settings-models 0.17.0 (image-maximum-gc-age); "
    "aws/karpenter-provider-aws v1.14.1 pkg/providers/amifamily/bootstrap/bottlerocket.go and bottlerocketsettings.go"
)
CHECKED = "2026-11-21"

CONTAINER_RUNTIME_OPTIONS: Mapping[str, bool] = MappingProxyType(
    {"visible-devices-as-volume-mounts": True, "visible-devices-envvar-when-unprivileged": False}
)
"""Options under ``settings.nvidia-container-runtime`` by which a pod sees the GPUs that it asked for and no other.

They are the image's defaults; said all the same, because the AL2023 images changed theirs.
"""

DEVICE_PLUGIN_OPTIONS: Mapping[str, str] = MappingProxyType({"device-list-strategy": DEVICE_LIST_BY_VOLUME_MOUNTS})
"""Options under ``settings.kubelet-device-plugins.nvidia`` of the device plugin that the image brings: the counterpart
of those above, and its default as well."""

INSTANCE_STORAGE = "000-mount-instance-storage"
"""Name of the bootstrap command that joins the NVMe disks and puts containerd, kubelet and logs there.

Karpenter adds a command of this name for ``instanceStorePolicy: RAID0``, so ours of the same name runs once."""

INSTANCE_STORAGE_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("apiclient", "ephemeral-storage", "init"),
    ("apiclient", "ephemeral-storage", "bind"),
)
"""What it runs. ``bind`` without directories binds all that the release knows of."""

IMAGE_MAXIMUM_AGE_COMMAND = "100-image-maximum-age"
"""Name of the bootstrap command that sets the greatest age of an unused image.

Karpenter 1.14.1 writes the ``kubernetes`` settings anew from those it knows, and this is none of them, so that it would
be lost in user data; commands it hands on as they are."""

IMAGE_MAXIMUM_AGE = "kubernetes.image-maximum-gc-age"
"""The setting, as ``apiclient set`` takes it."""

PROXIED_SCHEME = "https"
"""Bottlerocket has one proxy setting, ``settings.network.https-proxy``."""
