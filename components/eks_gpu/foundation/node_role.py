"""The IAM role that nodes run as: what every node needs, and nothing that a pod could want."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import iam, network
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.policy_document import trust


class NodeRole(Component):
    """A role for nodes. Pods have identities of their own, so nothing here is for them."""

    role_name: pulumi.Output[str]
    """Name of the role, as an EC2NodeClass takes it."""

    role_arn: pulumi.Output[str]
    """ARN of the role, as a node group takes it."""

    ready: tuple[pulumi.Resource, ...]
    """What nodes must wait for: without its policies a node cannot join, nor leave cleanly when they go first."""

    def __init__(self, name: str, cluster: ClusterConnection, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the role and what it may do.

        The region of ``cluster`` decides the partition of the policies' ARNs, and its CNI whether nodes need the
        CNI's policy.
        """
        super().__init__(name, opts)
        role = aws.iam.Role(
            self.child_name("role"),
            assume_role_policy=pulumi.Output.json_dumps(trust(iam.EC2)),
            opts=self.child_opts(),
        )
        self.role_name = role.name
        self.role_arn = role.arn
        region = network.region_of(cluster.zones[0])
        self.ready = tuple(self._attachment(role, policy, region) for policy in node_policies(cluster))
        self.register_outputs({"role_name": self.role_name, "role_arn": self.role_arn})

    def _attachment(self, role: aws.iam.Role, policy: str, region: str) -> aws.iam.RolePolicyAttachment:
        return aws.iam.RolePolicyAttachment(
            self.child_name(policy),
            role=role.name,
            policy_arn=iam.managed_policy_arn(policy, network.partition_of(region)),
            opts=self.child_opts(),
        )


def node_policies(cluster: ClusterConnection) -> tuple[str, ...]:
    """Return the names of the policies that nodes of ``cluster`` need."""
    return (*iam.NODE_POLICIES, iam.VPC_CNI) if cluster.cni_uses_node_role else iam.NODE_POLICIES
