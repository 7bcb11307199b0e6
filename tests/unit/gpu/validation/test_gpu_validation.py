from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.installation import install_gpu_software
from eks_gpu.gpu.validation.gpu_validation import GpuValidation, GpuValidationArgs, PoolToProve
from eks_gpu.gpu.validation.proving import Proven, nodes_of, prove_gpus
from eks_gpu.nodes.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.recording import Recording, record
from eks_gpu.settings.gpu_pool import GpuPool, Purpose
from eks_gpu.settings.gpu_software import DevicePlugin, Operator
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation
from tests.support.clusters import cluster

JOB = "kubernetes:batch/v1:Job"
SERVICE = "kubernetes:core/v1:Service"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
GROUP = NodeGroup(instance_types=("g5.2xlarge",), count=2)
POOL = NodePool(instance_types=("g5.xlarge",), max_gpus=4)
FABRIC = NodePool(instance_types=("p4d.24xlarge",), max_gpus=16, purpose=Purpose.TRAINING, efa=True, dedicated=True)


def _software(**validation: Any) -> Operator:  # noqa: ANN401 - those of the block
    return Operator(kind="operator", validation=Validation(**validation))


def _build(
    software: Operator | DevicePlugin, pools: Mapping[str, GpuPool], *, outputs: bool = False
) -> tuple[Recording, Proven]:
    seen: list[Proven] = []

    def program() -> None:
        place = cluster(outputs=outputs)
        controller = k8s.core.v1.ConfigMap("karpenter")
        karpenter = KarpenterConnection(node_role_name="node", instance_profile_name="node", ready=(controller,))
        built: list[pulumi.Resource] = []
        for key, pool in pools.items():
            if isinstance(pool, NodeGroup):
                built.append(GpuNodeGroup(key, GpuNodeGroupArgs(settings=pool, cluster=place)))
            elif isinstance(pool, NodePool):
                built.append(GpuNodePool(key, GpuNodePoolArgs(settings=pool, cluster=place, karpenter=karpenter)))
        gpus = install_gpu_software("gpus", software, place, pools=pools, after=built)
        proven = prove_gpus("validation", software, gpus, place, pools=pools, built=built)
        k8s.core.v1.Pod("server", opts=pulumi.ResourceOptions(depends_on=list(proven.software.ready)))
        seen.append(proven)

    recording = record(program)
    return recording, seen[0]


def test_g08_nothing_is_proven_unless_the_settings_ask_for_it() -> None:
    recording, proven = _build(Operator(kind="operator"), {"inference": GROUP})
    assert not recording.of_type(JOB)
    assert not recording.of_type("eks-gpu:index:GpuValidation")
    assert not proven.passed


@pytest.mark.parametrize("outputs", [False, True])
@pytest.mark.parametrize("software", [_software(), DevicePlugin(kind="device_plugin", validation=Validation())])
def test_g08_the_proof_comes_after_pools_and_software_and_before_servers(
    software: Operator | DevicePlugin, *, outputs: bool
) -> None:
    recording, _ = _build(software, {"inference": GROUP}, outputs=outputs)
    job = recording.one(JOB)
    assert recording.reaches(job, recording.one("aws:eks/nodeGroup:NodeGroup"))
    assert recording.reaches(job, recording.one(RELEASE))
    assert recording.reaches(job, recording.named("validation-checks"))
    assert recording.reaches(recording.named("server"), job)


def test_g08_without_the_gate_servers_do_not_wait() -> None:
    recording, proven = _build(_software(gate=False), {"inference": GROUP})
    assert not recording.reaches(recording.named("server"), recording.one(JOB))
    assert set(proven.passed) == {"inference"}


def test_n07_the_proof_says_on_what_with_what_and_which_image() -> None:
    recording, _ = _build(_software(), {"inference": GROUP})
    proves = recording.one(JOB)["metadata"]["annotations"]["eks-gpu.io/proves"]
    assert proves == "g5.2xlarge, gpu-operator v26.7.0, AL2023 v20260724"


def test_n07_where_each_new_node_is_proven_a_new_image_needs_no_new_job() -> None:
    watched = POOL.model_copy(update={"validate_new_nodes": True})
    recording, _ = _build(_software(node_pools=True), {"g5": watched})
    assert "v20260724" not in recording.one(JOB)["metadata"]["annotations"]["eks-gpu.io/proves"]


def test_g08_karpenters_pools_are_proven_only_on_request_because_it_costs_money() -> None:
    pools: dict[str, GpuPool] = {"inference": GROUP, "g5": POOL}
    without, _ = _build(_software(), pools)
    with_them, proven = _build(_software(node_pools=True), pools)
    assert len(without.of_type(JOB)) == 1
    assert len(with_them.of_type(JOB)) == 2
    assert set(proven.passed) == {"inference", "g5"}


def test_g08_a_job_finds_its_pool_and_no_other() -> None:
    recording, _ = _build(_software(node_pools=True), {"g5": POOL, "p4d": FABRIC})
    found = {
        job["metadata"]["name"].rpartition("-")[0]: job["spec"]["template"]["spec"] for job in recording.of_type(JOB)
    }
    assert found["g5"]["nodeSelector"] == {"karpenter.sh/nodepool": "g5"}
    assert found["p4d"]["nodeSelector"] == {"karpenter.sh/nodepool": "p4d"}
    assert [each["value"] for each in found["p4d"]["tolerations"]] == ["present", "a100"]


def test_g09_the_nodes_of_a_pool_with_efa_find_each_other_by_a_service_that_is_there_first() -> None:
    recording, _ = _build(_software(node_pools=True), {"g5": POOL, "p4d": FABRIC})
    [service] = [each for each in recording.of_type(SERVICE) if each["metadata"]["namespace"] == "gpu-validation"]
    [job] = [each for each in recording.of_type(JOB) if each["metadata"]["name"] == service["metadata"]["name"]]
    assert service["metadata"]["name"].startswith("p4d-")
    assert recording.reaches(job, service)
    assert service["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"


def test_g08_a_failed_job_runs_again_and_a_finished_one_does_not() -> None:
    recording, _ = _build(_software(), {"inference": GROUP})
    job = recording.one(JOB)
    assert job["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"
    assert "ttlSecondsAfterFinished" not in job["spec"]


def test_g08_the_engine_waits_a_little_longer_than_the_job_lives() -> None:
    recording, _ = _build(_software(timeout_minutes=20), {"inference": GROUP})
    job = recording.one(JOB)
    assert job["spec"]["activeDeadlineSeconds"] == 20 * 60
    assert job.options.custom_timeouts == {"create": "25m", "update": "25m"}


def test_a_group_that_grew_leaves_the_old_proof_alone() -> None:
    names = [
        _build(_software(), {"inference": GROUP.model_copy(update={"count": count})})[0].one(JOB) for count in (2, 5)
    ]
    assert names[0].urn == names[1].urn
    assert set(names[0].options.ignore_changes) == {"spec.completions", "spec.parallelism"}


def test_the_namespace_lets_nobody_be_privileged() -> None:
    recording, _ = _build(_software(), {"inference": GROUP})
    [namespace] = [each for each in recording.of_type(NAMESPACE) if each["metadata"]["name"] == "gpu-validation"]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"


def test_the_scripts_are_those_of_the_package() -> None:
    recording, _ = _build(_software(), {"inference": GROUP})
    config = recording.named("validation-checks")
    assert set(config["data"]) == {
        "all-reduce.sh",
        "all_reduce.py",
        "device-count.sh",
        "diagnostic.sh",
        "vector-add.sh",
    }
    [volume] = [each for each in recording.one(JOB)["spec"]["template"]["spec"]["volumes"] if "configMap" in each]
    assert volume["configMap"]["name"] == config["metadata"]["name"]


def test_a_pool_without_labels_is_refused_because_any_node_would_do() -> None:
    def program() -> None:
        place = cluster()
        software = GpuSoftware(
            ready=(),
            gpu_resource="nvidia.com/gpu",
            shared=False,
            runtime_class_name=None,
            owns_exporter=True,
            namespace="gpu-operator",
        )
        pool = PoolToProve(settings=GROUP, selector={}, resource=k8s.core.v1.ConfigMap("pool"))
        args = GpuValidationArgs(settings=_software(), cluster=place, gpu_software=software, pools={"inference": pool})
        GpuValidation("validation", args)

    with pytest.raises(pulumi.InputPropertiesError, match=r"pools\.inference\.selector: is empty"):
        record(program)


def test_what_is_no_pool_has_no_nodes() -> None:
    seen: list[Mapping[str, pulumi.Input[str]]] = []
    record(lambda: seen.append(nodes_of(k8s.core.v1.ConfigMap("other"))))
    assert seen == [{}]


def test_n07_new_nodes_are_proven_where_the_pool_asks_for_it_and_before_its_job_needs_one() -> None:
    pools: dict[str, GpuPool] = {
        "inference": GROUP,
        "open": POOL,
        "g5": POOL.model_copy(update={"validate_new_nodes": True}),
    }
    recording, _ = _build(_software(node_pools=True), pools)
    [daemon] = recording.of_type("kubernetes:apps/v1:DaemonSet")
    assert daemon["metadata"]["name"] == "g5-1"
    gate = recording.named("validation-new-nodes-gate")
    assert all(recording.reaches(job, gate) for job in recording.of_type(JOB))
    assert recording.reaches(recording.named("server"), gate)


def test_n07_without_such_a_pool_there_is_no_gate() -> None:
    recording, _ = _build(_software(node_pools=True), {"open": POOL})
    assert not recording.of_type("eks-gpu:index:NodeGate")


def test_n07_a_gate_alone_makes_no_place_for_jobs() -> None:
    recording, proven = _build(_software(), {"g5": POOL.model_copy(update={"validate_new_nodes": True})})
    assert not recording.of_type("eks-gpu:index:GpuValidation")
    assert recording.reaches(recording.named("server"), recording.named("validation-new-nodes-gate"))
    assert not proven.passed
