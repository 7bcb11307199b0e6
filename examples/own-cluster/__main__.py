"""GPU capacity on a VPC and a cluster of the program's own."""

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from eks_gpu import (
    ClusterConnection,
    DevicePlugin,
    DevicePluginArgs,
    GpuNodeGroup,
    GpuNodeGroupArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    Karpenter,
    KarpenterArgs,
)
from eks_gpu.settings import gpu_software
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool

VERSION = "1.35"
ZONES = {"us-east-1a": "10.70.0.0/18", "us-east-1b": "10.70.64.0/18"}

vpc = aws.ec2.Vpc("vpc", cidr_block="10.70.0.0/16", enable_dns_hostnames=True, tags={"Name": "own"})
subnets = {
    zone: aws.ec2.Subnet(f"private-{zone}", vpc_id=vpc.id, cidr_block=cidr, availability_zone=zone)
    for zone, cidr in ZONES.items()
}
control_plane = eks.Cluster(
    "cluster",
    version=VERSION,
    vpc_id=vpc.id,
    private_subnet_ids=[subnet.id for subnet in subnets.values()],
    authentication_mode=eks.AuthenticationMode.API,
    skip_default_node_group=True,
    endpoint_private_access=True,
    endpoint_public_access=False,
)

# From here on it is the library: names and ids above are Outputs, and nothing is looked up.
cluster = ClusterConnection.from_eks(
    "kubernetes",
    control_plane,
    version=VERSION,
    vpc_id=vpc.id,
    private_subnets={zone: subnet.id for zone, subnet in subnets.items()},
)
fixed = GpuNodeGroup(
    "inference",
    GpuNodeGroupArgs(settings=NodeGroup(instance_types=("g5.2xlarge",), count=2), cluster=cluster),
)
karpenter = Karpenter("karpenter", KarpenterArgs(cluster=cluster)).connection
bursts = GpuNodePool(
    "g5",
    GpuNodePoolArgs(
        settings=NodePool(
            instance_types=("g5.xlarge", "g5.2xlarge"), capacity=(Capacity.SPOT, Capacity.ON_DEMAND), max_gpus=8
        ),
        cluster=cluster,
        karpenter=karpenter,
    ),
)
plain = gpu_software.DevicePlugin(kind="device_plugin")
DevicePlugin("gpus", DevicePluginArgs(settings=plain, cluster=cluster, after=[fixed, bursts]))

pulumi.export("cluster", cluster.name)
pulumi.export("node_group", fixed.node_group_name)
