"""A validation that fails, and what the next `up` makes of it. Nothing here proves a GPU: pods end by themselves."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import labels, namespaces
from sandbox.kubernetes import nodes
from sandbox.kubernetes.api import Api, Manifest
from tests.e2e import node_manifests as manifests
from tests.support.cluster_bench import ClusterBench

GROUP: Final = "gpus"
DEADLINE_SECONDS: Final = 4

_PROGRAM: Final = f"""
import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.validation.gpu_validation import GpuValidation, GpuValidationArgs, PoolToProve
from eks_gpu.settings.gpu_software import Operator
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.validation import Validation


def hurry(args):
    # Ten minutes are a long time in a test, and the shortest that the settings allow.
    if args.type_ == "kubernetes:batch/v1:Job":
        spec = {{**args.props["spec"], "activeDeadlineSeconds": {DEADLINE_SECONDS}}}
        return pulumi.ResourceTransformResult({{**args.props, "spec": spec}}, args.opts)
    return None


pulumi.runtime.register_resource_transform(hurry)
known = dict.fromkeys(
    ("name", "arn", "endpoint", "certificate_authority", "security_group_id", "vpc_id"), "not asked for"
)
cluster = ClusterConnection(
    version="1.35", private_subnets={{}}, provider=k8s.Provider("kubernetes", enable_server_side_apply=True), **known
)
software = GpuSoftware(
    ready=(),
    gpu_resource="nvidia.com/gpu",
    shared=False,
    runtime_class_name=None,
    owns_exporter=True,
    namespace="gpu-operator",
)
pool = PoolToProve(
    settings=NodeGroup(instance_types=("g5.12xlarge",), count=1),
    selector={{"{labels.EKS_NODE_GROUP}": "{GROUP}"}},
    resource=k8s.core.v1.Namespace("pool"),
)
args = GpuValidationArgs(
    settings=Operator(kind="operator", validation=Validation()),
    cluster=cluster,
    gpu_software=software,
    pools={{"inference": pool}},
)
pulumi.export("passed", GpuValidation("validation", args).passed)
"""


def _job(kube: Api) -> Manifest:
    [job] = kube.list("batch/v1", "Job", namespaces.GPU_VALIDATION)
    return job


def test_g08_what_was_not_proven_fails_the_deployment_and_is_tried_again_by_the_next(
    bench: ClusterBench, kube: Api
) -> None:
    program = bench.program(_PROGRAM, name="validating")
    nodes.apply(bench.cluster.plane, manifests.gpu_group())

    # Without a device plugin the node advertises nothing, so nothing can be proven.
    failed = bench.up(program)
    assert failed.returncode != 0
    name = _job(kube)["metadata"]["name"]
    assert f"gpu-validation/{name}" in failed.output
    assert "DeadlineExceeded" in failed.output or "active longer than specified deadline" in failed.output

    kube.create(manifests.sharing_config())
    kube.create(manifests.device_plugin())
    passed = bench.up(program)
    assert passed.returncode == 0, passed.output
    job = _job(kube)
    assert job["metadata"]["name"] == name
    assert job["status"]["succeeded"] == 1
    assert f"passed at {job['status']['completionTime']}" in passed.output

    again = bench.up(program)
    assert again.returncode == 0, again.output
    assert _job(kube)["metadata"]["uid"] == job["metadata"]["uid"]
