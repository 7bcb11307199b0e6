"""User data of AL2023: a MIME multipart text with a script and the NodeConfig that nodeadm reads."""

from __future__ import annotations

from typing import Final

import yaml

from eks_gpu.facts import gpu_software
from eks_gpu.nodes import kubelet
from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_image import END_OF_FILE, MIME_BOUNDARY, ExtraFile, NodeImage, Proxy, RegistryMirror

_SCRIPT_TYPE: Final = 'text/x-shellscript; charset="us-ascii"'
_NODE_CONFIG_TYPE: Final = "application/node.eks.aws"
"""Content types by which cloud-init and nodeadm find their parts (awslabs/amazon-eks-ami v20260724,
nodeadm/doc/examples.md)."""

_API_VERSION: Final = "node.eks.aws/v1alpha1"

_MIRRORS: Final = "/etc/containerd/certs.d"
"""Where containerd looks for the addresses of registries (the same release, nodeadm/internal/containerd)."""

_EVERY_SERVICE: Final = "default"
"""Key of the environment of all of the node's services, nodeadm's own included (nodeadm/internal/system)."""


def node_config(pool: GpuPool) -> dict[str, object]:
    """Return the NodeConfig of a pool's nodes (amazon-eks-ami v20260724, nodeadm/api/v1alpha1).

    Where every type has NVMe disks, nodeadm joins them (RAID0) and puts containerd, kubelet and the pods' logs
    there: images then unpack at gigabytes a second.
    """
    spec: dict[str, object] = {"kubelet": {"config": kubelet.configuration(pool)}}
    instance: dict[str, object] = {}
    if pool.has_local_nvme:
        instance["localStorage"] = {"strategy": "RAID0"}
    if pool.image.proxy is not None:
        instance["environment"] = {_EVERY_SERVICE: _proxy_environment(pool.image.proxy)}
    if instance:
        spec["instance"] = instance
    return {"apiVersion": _API_VERSION, "kind": "NodeConfig", "spec": spec}


def _proxy_environment(proxy: Proxy) -> dict[str, str]:
    named = {"HTTP_PROXY": proxy.http, "HTTPS_PROXY": proxy.https, "NO_PROXY": ",".join(proxy.direct)}
    return {name: value for name, value in named.items() if value is not None}


def boot_script(image: NodeImage) -> str:
    """Return the script that sets the container toolkit up and writes the files of the settings.

    Cloud-init runs it before ``nodeadm-run`` starts containerd and kubelet (amazon-eks-ami v20260724,
    nodeadm-run.service is after cloud-final.service), so that no container ever starts under the image's own setting.
    """
    parts = ("#!/bin/bash\nset -euo pipefail\n", toolkit_command(), *map(_written, files(image)))
    return "".join(parts)


def toolkit_command() -> str:
    """Return the command by which a pod sees the GPUs that it asked for and no other."""
    options = (f"--set {key}={value}" for key, value in gpu_software.TOOLKIT_OPTIONS.items())
    return " \\\n  ".join(("nvidia-ctk config --in-place", *options)) + "\n"


def files(image: NodeImage) -> tuple[ExtraFile, ...]:
    """Return every file that the settings put on a node: registries' addresses and extra files."""
    return (*map(_hosts_file, image.registry_mirrors), *image.extra_files)


def _hosts_file(mirror: RegistryMirror) -> ExtraFile:
    """Return where containerd finds a registry: containerd asks the registry itself when no address answers."""
    blocks = (_host_block(endpoint) for endpoint in mirror.endpoints)
    return ExtraFile(path=f"{_MIRRORS}/{_folder(mirror.registry)}/hosts.toml", content="\n".join(blocks))


def _folder(registry: str) -> str:
    """Return the folder of a registry: containerd writes a port as ``_5000_`` (containerd 2, docs/hosts.md)."""
    host, _, port = registry.partition(":")
    return f"{host}_{port}_" if port else host


def _host_block(endpoint: str) -> str:
    lines = [f'[host."{endpoint}"]', '  capabilities = ["pull", "resolve"]']
    if endpoint.partition("://")[2].partition("/")[2]:
        lines.append("  override_path = true")
    return "\n".join(lines) + "\n"


def _written(file: ExtraFile) -> str:
    """Return the command that writes a file. The quoted delimiter keeps the shell from reading anything into it."""
    return (
        f"install -D -m {file.mode} /dev/stdin {file.path} <<'{END_OF_FILE}'\n"
        f"{file.content.removesuffix(chr(10))}\n{END_OF_FILE}\n"
    )


def render(pool: GpuPool) -> str:
    """Return the user data of a pool's nodes."""
    document = "---\n" + yaml.safe_dump(node_config(pool), sort_keys=False, width=10_000)
    parts = ((_SCRIPT_TYPE, boot_script(pool.image)), (_NODE_CONFIG_TYPE, document))
    listed = "".join(f"--{MIME_BOUNDARY}\nContent-Type: {kind}\n\n{content}\n" for kind, content in parts)
    return (
        f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{MIME_BOUNDARY}"\n\n{listed}--{MIME_BOUNDARY}--\n'
    )
