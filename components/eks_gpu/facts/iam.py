"""IAM policies that AWS manages, and the services that may assume roles."""

from __future__ import annotations

SOURCE = (
    "EKS user guide: node IAM role, add-ons and their IAM policies; AWS managed policy reference "
    "(AmazonEBSCSIDriverPolicyV2 has no service-role/ path, AmazonEFSCSIDriverPolicy has); VPC user guide: flow logs"
)
CHECKED = "2026-11-21"

EC2 = "ec2.amazonaws.com"
"""Who assumes the role of a node."""

PODS = "pods.eks.amazonaws.com"
"""Who assumes the role of a pod: EKS Pod Identity."""

SESSION_TAG_NAMESPACE = "kubernetes-namespace"
SESSION_TAG_SERVICE_ACCOUNT = "kubernetes-service-account"
"""Tags by which Pod Identity says for whom it assumes a role (EKS user guide, "Create IAM role with trust policy
required by EKS Pod Identity", checked 2026-11-21)."""

FLOW_LOGS = "vpc-flow-logs.amazonaws.com"
"""Who writes records of connections to a log group."""

WORKER_NODE = "AmazonEKSWorkerNodePolicy"
REGISTRY_PULL = "AmazonEC2ContainerRegistryPullOnly"
SSM_CORE = "AmazonSSMManagedInstanceCore"
"""A shell on a node without SSH keys or open ports; also how a node's logs are fetched."""
NODE_POLICIES: tuple[str, ...] = (WORKER_NODE, REGISTRY_PULL, SSM_CORE)
"""What every node of ours may do. The VPC CNI's policy is not here: in a cluster of ours it has a Pod Identity."""

VPC_CNI = "AmazonEKS_CNI_Policy"
EBS_CSI = "AmazonEBSCSIDriverPolicyV2"
"""Only volumes and snapshots that the driver tagged as its own; the older policy reached every volume so tagged by
hand as well."""
EFS_CSI = "service-role/AmazonEFSCSIDriverPolicy"


CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
"""Access policy of EKS (not of IAM) that amounts to ``cluster-admin`` (EKS user guide, "Review access policy
permissions", checked 2026-11-21)."""


def access_policy_arn(policy: str, partition: str = "aws") -> str:
    """Return the ARN of an access policy of EKS, which says what a principal may do inside a cluster."""
    return f"arn:{partition}:eks::aws:cluster-access-policy/{policy}"


def managed_policy_arn(policy: str, partition: str = "aws") -> str:
    """Return the ARN of a policy that AWS manages; ``policy`` is its name with its path."""
    return f"arn:{partition}:iam::aws:policy/{policy}"
