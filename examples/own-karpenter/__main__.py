"""A training pool for a cluster and a Karpenter that exist already."""

import pulumi

from eks_gpu import ClusterConnection, GpuNodePool, GpuNodePoolArgs, KarpenterConnection
from eks_gpu.settings.gpu_pool import Capacity, Purpose
from eks_gpu.settings.node_pool import NodePool

cluster = ClusterConnection.lookup(
    "kubernetes",
    "research",
    version="1.35",
    private_subnets={"us-east-1a": "subnet-0a1b2c3d4e5f60718", "us-east-1b": "subnet-0b1c2d3e4f5061728"},
)
pool = GpuNodePool(
    "p4d",
    GpuNodePoolArgs(
        settings=NodePool(
            instance_types=("p4d.24xlarge",),
            capacity=(Capacity.ON_DEMAND,),
            max_gpus=16,
            purpose=Purpose.TRAINING,
            max_job_hours=72,
        ),
        cluster=cluster,
        karpenter=KarpenterConnection(node_role_name="research-karpenter-node"),
    ),
)

pulumi.export("node_pool", pool.node_pool_name)
