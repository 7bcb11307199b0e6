"""A cluster for tests of components: plain, or with every identity an Output."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.foundation.cluster_connection import ClusterConnection

SUBNETS = {"us-east-1a": "subnet-0a", "us-east-1b": "subnet-0b", "us-east-1c": "subnet-0c"}


def cluster(
    *,
    outputs: bool = False,
    version: str = "1.35",
    subnets: Mapping[str, str] = SUBNETS,
    ready: tuple[pulumi.Resource, ...] = (),
) -> ClusterConnection:
    """Return a connection to a cluster named ``prod``; with ``outputs`` as a program that makes its own would have."""

    def identity(value: str) -> pulumi.Input[str]:
        return pulumi.Output.from_input(value) if outputs else value

    return ClusterConnection(
        version=version,
        private_subnets={zone: identity(subnet) for zone, subnet in subnets.items()},
        name=identity("prod"),
        arn=identity("arn:aws:eks:us-east-1:123456789012:cluster/prod"),
        endpoint=identity("https://prod.example"),
        certificate_authority=identity("Q0E="),
        security_group_id=identity("sg-0cluster"),
        vpc_id=identity("vpc-0"),
        provider=k8s.Provider("kubernetes", kubeconfig="{}"),
        ready=ready,
    )
