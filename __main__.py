"""Builds the platform that the selected stack file describes: settings in, components joined, outputs out."""

import pulumi

from eks_gpu.cluster.assembly import connect as connect_cluster
from eks_gpu.cluster.network import connect as connect_network
from eks_gpu.facts.namespaces import INFERENCE
from eks_gpu.foundation import stack_config
from eks_gpu.foundation.aws_provider import stack_tags, tagged_provider
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.installation import install_gpu_software
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter import Karpenter, KarpenterArgs
from eks_gpu.observability.gpu_monitoring import GpuMonitoring, GpuMonitoringArgs
from eks_gpu.settings.platform import Environment
from eks_gpu.storage.model_cache import ModelCache, ModelCacheArgs
from eks_gpu.workloads.model_server import ModelServerArgs
from eks_gpu.workloads.serving import serve

settings = stack_config.load()
tags = stack_tags(stack=pulumi.get_stack(), environment=settings.environment, owner=settings.owner)
opts = pulumi.ResourceOptions(providers=[tagged_provider("aws", region=stack_config.region(), tags=tags)])
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
    karpenter = Karpenter("karpenter", KarpenterArgs(cluster=cluster), opts).connection
    pools += [
        GpuNodePool(key, GpuNodePoolArgs(settings=pool, cluster=cluster, karpenter=karpenter, tags=tags), opts)
        for key, pool in settings.node_pools.items()
    ]
if settings.gpu_software:
    gpus = install_gpu_software("gpus", settings.gpu_software, cluster, after=pools, opts=opts)
    if settings.monitoring:
        watched = GpuMonitoringArgs(settings=settings.monitoring, cluster=cluster, gpu_software=gpus)
        GpuMonitoring("monitoring", watched, opts)
    if settings.model_cache:
        inside = pulumi.ResourceOptions(provider=cluster.provider, depends_on=cluster.ready)
        space = Namespace("inference", NamespaceArgs(namespace=INFERENCE, pod_security=PodSecurity.RESTRICTED), inside)
        kept = ModelCacheArgs(
            settings=settings.model_cache, cluster=cluster, namespace=INFERENCE, protect=protected, after=[space]
        )
        cache = ModelCache("model-cache", kept, opts).claim
        if settings.workloads:
            place = ModelServerArgs(
                cluster=cluster,
                namespace=INFERENCE,
                gpu_software=gpus,
                cache=cache,
                after=[space, *pools],
            )
            pulumi.export("server_urls", serve(settings.workloads, place, opts))

pulumi.export("cluster_name", cluster.name)
