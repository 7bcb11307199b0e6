"""The manifest that brings a server's image to nodes before the server is there, as plain data."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import images, labels, resources
from eks_gpu.workloads import pod_parts
from eks_gpu.workloads.pod_parts import Part
from eks_gpu.workloads.server_manifest import ServerPlan

APPLICATION: Final = "image-prefetch"

_TRUE: Final = "/bin/true"
"""What an image is started with once it is there: every image that is made of a Linux distribution has it."""

_LITTLE: Final = {
    "requests": {resources.CPU: "10m", resources.MEMORY: "16Mi"},
    "limits": {resources.MEMORY: "64Mi"},
}
"""Nothing runs but ``true`` and a program that waits."""


def daemon_set_spec(plan: ServerPlan) -> Part:
    """Return the spec of a DaemonSet that has each node that the server may run on pull the server's image.

    It asks for no GPU and sees none. Its pods stay, because a DaemonSet begins those again that end. An image that no
    server has needed for long is pruned by kubelet like any other.
    """
    selector = {labels.APP_NAME: APPLICATION, labels.APP_INSTANCE: plan.name}
    return {
        "selector": {"matchLabels": selector},
        # Nobody waits for these pods, so all nodes may take a new image at once.
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
        "template": {
            "metadata": {"labels": selector},
            "spec": {
                "affinity": _nodes(plan),
                "tolerations": pod_parts.tolerations(plan.server.gpu_types),
                "securityContext": pod_parts.pod_security(),
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": 0,
                "initContainers": [_container("image", plan.server.image_reference, command=[_TRUE])],
                "containers": [_container("wait", images.PAUSE.reference)],
            },
        },
    }


def _nodes(plan: ServerPlan) -> Part:
    """Return the nodes of the server. A DaemonSet is on every node that will do, so none is preferred."""
    affinity = pod_parts.node_affinity(plan.server.node_gpu_types)["nodeAffinity"]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"nodeAffinity": {required: affinity[required]}}


def _container(name: str, image: str, *, command: list[str] | None = None) -> Part:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        **({"command": command} if command is not None else {}),
        "resources": _LITTLE,
        "securityContext": pod_parts.container_security(),
    }
