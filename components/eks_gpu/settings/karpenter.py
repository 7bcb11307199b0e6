"""The ``karpenter`` block: what the controller does beside buying nodes and giving them back."""

from __future__ import annotations

from eks_gpu.settings.block import Block


class KarpenterController(Block):
    """What Karpenter's controller does beside buying nodes and giving them back."""

    node_repair: bool = False
    """Replace a node whose GPUs the node monitoring agent has found broken for ten minutes, or which has not been ready
    for thirty, as long as no more than a fifth of its pool is unhealthy; of five nodes or fewer, one may always be. Off
    by default: in Karpenter 1.14 it is an alpha feature, and it asks neither budgets nor do-not-disrupt, so a false
    alarm ends a training job. A cluster that existed before must run the agent, with tolerations of the GPU taints for
    its DCGM server; without, every GPU node looks broken and is replaced again and again."""
