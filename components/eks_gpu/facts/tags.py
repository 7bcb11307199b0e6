"""Keys of AWS tags that more than one part looks at."""

from __future__ import annotations

from typing import Final

STACK: Final = "eks-gpu:stack"
"""Names the stack a resource belongs to; every AWS resource of a stack carries it. What a crash left is found by it."""

EKS_CLUSTER: Final = "aws:eks:cluster-name"
"""What EKS puts, with the cluster's name, on the security group that it makes for a cluster and removes with it (EKS
user guide, "View Amazon EKS security group requirements for clusters", checked 2026-11-21). Only AWS may set keys that
begin with ``aws:``."""
