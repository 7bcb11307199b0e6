from __future__ import annotations

from typing import Any

import pulumi
import pytest

from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.validation.new_nodes import cluster_rules, namespace_rules
from eks_gpu.gpu.validation.node_gate import NodeGate, NodeGateArgs, by_gpu_count
from eks_gpu.recording import Recording, record
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation
from tests.support.clusters import cluster

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
G5 = NodePool(instance_types=("g5.xlarge", "g5.2xlarge", "g5.12xlarge"), max_gpus=8, validate_new_nodes=True)


def _gate(pool: NodePool = G5, runtime_class: str | None = "nvidia", **validation: Any) -> Recording:  # noqa: ANN401
    def program() -> None:
        software = GpuSoftware(
            ready=(),
            gpu_resource="nvidia.com/gpu",
            shared=False,
            runtime_class_name=runtime_class,
            owns_exporter=True,
            namespace="nvidia",
        )
        args = NodeGateArgs(
            settings=Validation(**validation), cluster=cluster(), gpu_software=software, pools={"g5": pool}
        )
        NodeGate("gate", args)

    return record(program)


def _daemons(recording: Recording) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in recording.of_type(DAEMON_SET)}


def test_g08_nodes_are_checked_for_as_many_gpus_as_they_have() -> None:
    daemons = _daemons(_gate())
    assert set(daemons) == {"g5-1", "g5-4"}
    for name, pod in daemons.items():
        count = name.rpartition("-")[2]
        told = {each["name"]: each["value"] for each in pod["initContainers"][0]["env"]}
        [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert told["EXPECTED"] == count
        assert {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "In", "values": [count]} in term[
            "matchExpressions"
        ]


def test_the_checks_leave_a_node_when_it_is_opened() -> None:
    [term] = _daemons(_gate())["g5-1"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert {"key": "eks-gpu.io/validated", "operator": "DoesNotExist"} in term["matchExpressions"]


def test_g08_the_checks_ask_for_no_gpu_because_karpenter_would_see_none_left() -> None:
    for pod in _daemons(_gate()).values():
        for container in (*pod["initContainers"], *pod["containers"]):
            named = {**container["resources"]["requests"], **container["resources"]["limits"]}
            assert set(named) == {"cpu", "memory"}


def test_g08_only_the_checks_are_privileged_to_see_every_gpu() -> None:
    pod = _daemons(_gate())["g5-1"]
    for container in pod["initContainers"]:
        assert container["securityContext"]["privileged"] is True
        assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"} in container["env"]
    [rest] = pod["containers"]
    assert rest["securityContext"]["runAsNonRoot"] is True
    assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in rest["env"]


def test_g08_a_new_node_is_asked_for_minutes_and_pulls_nothing_huge() -> None:
    pool = NodePool(instance_types=("g5.48xlarge",), max_gpus=8, validate_new_nodes=True)
    pod = _daemons(_gate(pool, diagnostic_level=3, timeout_minutes=90))["g5-8"]
    assert [each["name"] for each in pod["initContainers"]] == [
        "device-count",
        "vector-add",
        "diagnostic",
        "host-bandwidth",
    ]
    assert {"name": "TEST", "value": "1"} in pod["initContainers"][2]["env"]
    assert not any("pytorch" in each["image"] for each in pod["initContainers"])


def test_n05_the_checks_tolerate_every_taint_and_the_gate_none() -> None:
    recording = _gate()
    assert _daemons(recording)["g5-1"]["tolerations"] == [{"operator": "Exists"}]
    assert "tolerations" not in recording.one(DEPLOYMENT)["spec"]["template"]["spec"]


def test_g01_the_runtime_class_is_named_on_the_plain_path_and_not_on_the_operators() -> None:
    assert _daemons(_gate())["g5-1"]["runtimeClassName"] == "nvidia"
    assert "runtimeClassName" not in _daemons(_gate(runtime_class=None))["g5-1"]


def test_a_broken_node_does_not_hold_up_a_deployment() -> None:
    for daemon in _gate().of_type(DAEMON_SET):
        assert daemon["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_the_gate_may_do_what_it_does_and_no_more() -> None:
    assert cluster_rules() == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]},
        {"apiGroups": ["karpenter.sh"], "resources": ["nodeclaims"], "verbs": ["delete"]},
    ]
    assert namespace_rules() == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]


def test_the_gate_starts_when_it_has_its_rights() -> None:
    recording = _gate()
    gate = recording.one(DEPLOYMENT)
    for name in ("gate-cluster-role-binding", "gate-role-binding", "gate-account", "gate-program"):
        assert recording.reaches(gate, recording.named(name))
    assert gate["spec"]["template"]["spec"]["serviceAccountName"] == recording.named("gate-account")["metadata"]["name"]


def test_one_gate_at_a_time() -> None:
    spec = _gate().one(DEPLOYMENT)["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_the_gate_runs_the_program_of_the_package() -> None:
    recording = _gate()
    [program] = recording.named("gate-program")["data"]
    [container] = recording.one(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python", f"/gate/{program}"]


def test_a_pool_that_keeps_nothing_closed_is_refused() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"pools\.g5: does not keep its new nodes closed"):
        _gate(G5.model_copy(update={"validate_new_nodes": False}))


def test_of_types_with_as_many_gpus_one_is_enough() -> None:
    assert {count: kind.name for count, kind in by_gpu_count(G5).items()} == {4: "g5.12xlarge", 1: "g5.xlarge"}
