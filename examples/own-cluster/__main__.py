"""GPU capacity on a VPC and a cluster of the program's own."""

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from eks_gpu import (
    AddOns,
    AddOnsArgs,
    ClusterConnection,
    DevicePlugin,
    DevicePluginArgs,
    GpuNodeGroup,
    GpuNodeGroupArgs,
    GpuNodePool,
    GpuNodePoolArgs,
    Karpenter,
    KarpenterArgs,
    NodeAddOns,
    SystemNodes,
    SystemNodesArgs,
)
from eks_gpu.settings import gpu_software
from eks_gpu.settings.gpu_pool import Capacity
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.system_nodes import SystemNodes as SystemNodesSettings

VERSION = "1.35"
ANYWHERE = "0.0.0.0/0"
ZONES = {"us-east-1a": "10.70.0.0/18", "us-east-1b": "10.70.64.0/18"}

vpc = aws.ec2.Vpc("vpc", cidr_block="10.70.0.0/16", enable_dns_hostnames=True, tags={"Name": "own"})
subnets = {
    zone: aws.ec2.Subnet(f"private-{zone}", vpc_id=vpc.id, cidr_block=cidr, availability_zone=zone)
    for zone, cidr in ZONES.items()
}
gateway = aws.ec2.InternetGateway("gateway", vpc_id=vpc.id)
edge = aws.ec2.Subnet("public", vpc_id=vpc.id, cidr_block="10.70.255.0/24", availability_zone="us-east-1a")
way_in = aws.ec2.RouteTable(
    "public", vpc_id=vpc.id, routes=[{"cidr_block": ANYWHERE, "gateway_id": gateway.id}], tags={"Name": "own-public"}
)
reachable = aws.ec2.RouteTableAssociation("public", subnet_id=edge.id, route_table_id=way_in.id)
nat = aws.ec2.NatGateway(
    "nat",
    subnet_id=edge.id,
    allocation_id=aws.ec2.Eip("nat", domain="vpc").id,
    opts=pulumi.ResourceOptions(depends_on=[reachable]),
)
way_out = aws.ec2.RouteTable("private", vpc_id=vpc.id, routes=[{"cidr_block": ANYWHERE, "nat_gateway_id": nat.id}])
routed = [
    aws.ec2.RouteTableAssociation(f"private-{zone}", subnet_id=subnet.id, route_table_id=way_out.id)
    for zone, subnet in subnets.items()
]
control_plane = eks.Cluster(
    "cluster",
    version=VERSION,
    vpc_id=vpc.id,
    private_subnet_ids=[subnet.id for subnet in subnets.values()],
    authentication_mode=eks.AuthenticationMode.API,
    skip_default_node_group=True,
    skip_default_security_groups=True,
    create_instance_role=False,
    # The add-ons are the library's, at exact versions and with identities of their own.
    bootstrap_self_managed_addons=False,
    use_default_vpc_cni=True,
    kube_proxy_addon_options=eks.KubeProxyAddonOptionsArgs(enabled=False),
    coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=False),
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
).after(*routed)
cluster = cluster.after(*NodeAddOns("node-add-ons", AddOnsArgs(cluster=cluster)).ready)
system = SystemNodes("system-nodes", SystemNodesArgs(settings=SystemNodesSettings(), cluster=cluster))
cluster = cluster.after(system.node_group)
cluster = cluster.after(*AddOns("add-ons", AddOnsArgs(cluster=cluster)).ready)
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
