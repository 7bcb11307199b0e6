"""How a GPU is shared, as the device plugin reads it: the same file on both paths."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_kubernetes as k8s
import yaml

from eks_gpu.facts import gpu_software, resources
from eks_gpu.settings.gpu_software import Sharing

_STEM: Final = "device-plugin-sharing"
_DIGITS: Final = 10
"""Of the hash in a name: a clash between two configurations of one cluster is out of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFiles:
    """The content of a ConfigMap, and a name that changes with it.

    Neither plugin nor operator watches its ConfigMap: only a new name rolls their pods. The name is plain, so that it
    can be read before there is a cluster.
    """

    stem: str
    """The part of the name that stays."""

    files: Mapping[str, str]
    """Texts by their key."""

    @property
    def name(self) -> str:
        """Name in the cluster: the stem and a hash of the files."""
        text = yaml.safe_dump(dict(self.files), sort_keys=True)
        return f"{self.stem}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def sharing_config(sharing: Sharing) -> dict[str, object]:
    """Return the device plugin's configuration. It is empty but for its version where GPUs are exclusive.

    The plugin ignores what it does not know, a misspelt key included, so this is the only place that writes it.
    Flags are not in it: the chart and the operator give them by environment, which wins over the file.
    """
    config: dict[str, object] = {"version": gpu_software.DEVICE_PLUGIN_CONFIG_VERSION}
    if sharing.time_slicing is not None:
        config["sharing"] = {
            "timeSlicing": {
                "renameByDefault": sharing.time_slicing.rename,
                # Asking for two slices would give no second share, so it is an error and not a silent disappointment.
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": resources.GPU, "replicas": sharing.time_slicing.replicas}],
            }
        }
    return config


def sharing_files(sharing: Sharing) -> NamedFiles:
    """Return the named configurations as a ConfigMap holds them, the default among them."""
    default = yaml.safe_dump(sharing_config(sharing), sort_keys=False)
    return NamedFiles(stem=_STEM, files={gpu_software.DEVICE_PLUGIN_DEFAULT_CONFIG: default})


def advertised_resource(sharing: Sharing) -> str:
    """Return the name by which nodes then advertise their GPUs, and pods ask for them."""
    renamed = sharing.time_slicing is not None and sharing.time_slicing.rename
    return resources.GPU_SHARED if renamed else resources.GPU


def config_map(name: str, files: NamedFiles, namespace: str, opts: pulumi.ResourceOptions) -> k8s.core.v1.ConfigMap:
    """Return a ConfigMap, logically ``name``, that never changes: other content gives another name, another object."""
    return k8s.core.v1.ConfigMap(
        name,
        metadata={"name": files.name, "namespace": namespace},
        data=dict(files.files),
        immutable=True,
        opts=opts,
    )
