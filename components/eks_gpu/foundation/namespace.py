"""Namespaces that say what their pods may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import labels
from eks_gpu.foundation.arguments import missing, refuse


class PodSecurity(StrEnum):
    """A level of Kubernetes' Pod Security Standards."""

    PRIVILEGED = "privileged"
    """For node agents that mount the host's folders: device plugin, exporter, monitoring of nodes."""

    BASELINE = "baseline"
    """No privileges and nothing of the host, but root inside the container."""

    RESTRICTED = "restricted"
    """No root either. Model servers need no more than this."""


@dataclass(frozen=True, kw_only=True)
class NamespaceArgs:
    """What a namespace is made of."""

    namespace: str
    """Name in the cluster. Plain and fixed, because people and other programs find it by name."""

    pod_security: PodSecurity
    """What is enforced. No default: it is the first thing to decide about a namespace."""


class Namespace(k8s.core.v1.Namespace):
    """A namespace with Pod Security labels. The only way that one is made here: charts never create theirs.

    What lives in it depends on it and names it by its plain ``namespace``, which is known before there is a cluster.
    """

    namespace: str
    """Name in the cluster."""

    def __init__(self, name: str, args: NamespaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the namespace under the logical name ``name``."""
        refuse(missing(args, "namespace"), component=name)
        super().__init__(
            name,
            metadata={"name": args.namespace, "labels": pod_security_labels(args.pod_security)},
            opts=opts,
        )
        self.namespace = args.namespace


def pod_security_labels(level: PodSecurity) -> dict[str, str]:
    """Return the labels that enforce ``level`` and warn of what the strictest level would refuse."""
    return {labels.POD_SECURITY_ENFORCE: level.value, labels.POD_SECURITY_WARN: PodSecurity.RESTRICTED.value}
