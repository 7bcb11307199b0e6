"""Keys of AWS tags that more than one part looks at."""

from __future__ import annotations

from typing import Final

SOURCE: Final = 'EKS user guide, "View Amazon EKS security group requirements for clusters"; the rest is ours'
CHECKED: Final = "2026-11-21"

STACK: Final = "eks-gpu:stack"
"""Names the stack a resource belongs to; every AWS resource of a stack carries it. What a crash left is found by it."""

EKS_CLUSTER: Final = "aws:eks:cluster-name"
"""What EKS puts, with the cluster's name, on the security group that it makes for a cluster and removes with it. Only
AWS may set keys that begin with ``aws:``."""
