"""What can be wrong with the arguments of anything that makes nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import ami, network
from eks_gpu.foundation.arguments import Problem
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.settings.gpu_pool import LONGEST_NAME, GpuPool

_DNS_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


def cluster_problems(cluster: ClusterConnection) -> Iterator[Problem]:
    """Yield what is wrong with a cluster that nodes shall join."""
    if not cluster.private_subnets:
        yield Problem("cluster.private_subnets", "is empty; give the private subnet of at least one availability zone")
    for zone in cluster.zones:
        if network.ZONE.fullmatch(zone) is None:
            yield Problem(
                "cluster.private_subnets", f"{zone!r} is no availability zone; write a name such as 'us-east-1a'"
            )


def image_problems(pool: GpuPool, cluster: ClusterConnection) -> Iterator[Problem]:
    """Yield what is wrong with the image of a pool on the nodes of a cluster."""
    image = pool.image
    pinned = ami.release_versions(image.ami_family)
    if image.release is None and cluster.version not in pinned:
        yield Problem(
            "cluster.version",
            f"{cluster.version!r} has no pinned {image.ami_family.value} image; versions with one are "
            f"{', '.join(pinned)}",
        )
    if image.kubernetes_version not in {None, cluster.version}:
        yield Problem(
            "settings.image.release",
            f"{image.release} is for Kubernetes {image.kubernetes_version}, but the cluster runs {cluster.version}; "
            "give a release for that version",
        )


def pool_problems(name: str, pool: GpuPool, cluster: ClusterConnection) -> Iterator[Problem]:
    """Yield what is wrong with ``pool`` under the name ``name`` in ``cluster``."""
    yield from cluster_problems(cluster)
    if _DNS_LABEL.fullmatch(name) is None or len(name) > LONGEST_NAME:
        yield Problem(
            "name", f"{name!r} is no name of a pool; use up to {LONGEST_NAME} lowercase letters, digits and hyphens"
        )
    for zone in pool.zones or ():
        if zone not in cluster.private_subnets:
            yield Problem(
                "settings.zones",
                f"{zone} has no private subnet of the cluster; its zones are {', '.join(cluster.zones)}",
            )


def zones_of(pool: GpuPool, cluster: ClusterConnection) -> tuple[str, ...]:
    """Return the zones a pool uses: those it names, or all of the cluster's."""
    return pool.zones or cluster.zones
