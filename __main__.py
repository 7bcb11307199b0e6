"""Builds the platform that the selected stack file describes: settings in, components joined, outputs out."""

import pulumi

from eks_gpu.cluster.assembly import connect as connect_cluster
from eks_gpu.cluster.network import connect as connect_network
from eks_gpu.foundation import stack_config
from eks_gpu.foundation.aws_provider import stack_tags, tagged_provider
from eks_gpu.gpu.installation import install_gpu_software
from eks_gpu.gpu.validation.proving import prove_gpus
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter import Karpenter, KarpenterArgs
from eks_gpu.observability.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs
from eks_gpu.settings.platform import Environment
from eks_gpu.workloads import serving

settings = stack_config.load()
tags = stack_tags(stack=pulumi.get_stack(), environment=settings.environment, owner=settings.owner)
provider = tagged_provider(
    "aws", region=stack_config.region(), tags=tags, allowed_accounts=stack_config.allowed_accounts()
)
opts = pulumi.ResourceOptions(providers=[provider])
protected = settings.environment is Environment.PROD

network = connect_network("network", settings.network, opts)
cluster = connect_cluster(
    settings.cluster, network, system_nodes=settings.system_nodes, protected=protected, tags=tags, opts=opts
)
pools: list[pulumi.Resource] = [
    GpuNodeGroup(key, GpuNodeGroupArgs(settings=group, cluster=cluster, tags=tags), opts)
    for key, group in settings.node_groups.items()
]
if settings.node_pools:
    karpenter = Karpenter("karpenter", KarpenterArgs(cluster=cluster, settings=settings.karpenter), opts).connection
    pools += [
        GpuNodePool(key, GpuNodePoolArgs(settings=pool, cluster=cluster, karpenter=karpenter, tags=tags), opts)
        for key, pool in settings.node_pools.items()
    ]
if settings.gpu_software:
    gpus = install_gpu_software("gpus", settings.gpu_software, cluster, pools=settings.pools, after=pools, opts=opts)
    if settings.monitoring:
        watched = GpuMonitoringArgs(settings=settings.monitoring, cluster=cluster, gpu_software=gpus)
        GpuMonitoring("monitoring", watched, opts)
    proven = prove_gpus(
        "validation", settings.gpu_software, gpus, cluster, pools=settings.pools, built=pools, opts=opts
    )
    if proven.passed:
        pulumi.export("gpu_validation", proven.passed)
    if settings.model_cache and settings.workloads:
        place = serving.prepare(
            settings.model_cache, cluster, proven.software, pools=pools, protected=protected, opts=opts
        )
        pulumi.export("server_urls", serving.serve(settings.workloads, place, opts))

pulumi.export("cluster_name", cluster.name)
