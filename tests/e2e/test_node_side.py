from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml

from eks_gpu.facts import gpu_software, labels, resources, storage, taints
from sandbox import charts
from sandbox.kubernetes import control_plane, nodes, records
from sandbox.kubernetes.api import NOT_FOUND, Api, RefusedError
from sandbox.kubernetes.stages import FAIL_ANNOTATION
from tests.e2e import node_manifests as manifests
from tests.e2e.node_manifests import NAMESPACE
from tests.support.cluster import Cluster, eventually

FAILS = {"annotations": {FAIL_ANNOTATION: "true"}}
SLICED = {"sharing": {"timeSlicing": {"renameByDefault": True, "resources": [{"name": resources.GPU, "replicas": 3}]}}}


def all_nodes(kube: Api) -> list[dict[str, Any]]:
    return kube.list("v1", "Node")


def phase(kube: Api, name: str) -> str:
    found = kube.get("v1", "Pod", name, NAMESPACE) or {}
    return str(found.get("status", {}).get("phase", ""))


def advertised(kube: Api) -> dict[str, str]:
    """Return the accelerators of the only GPU node."""
    (node,) = kube.list("v1", "Node", selector=labels.GPU_PRESENT)
    return {name: value for name, value in node["status"]["allocatable"].items() if resources.is_gpu(name)}


def volumes(kube: Api) -> list[dict[str, Any]]:
    return kube.list("v1", "PersistentVolume")


def test_nodes_of_a_group_are_ready_when_it_is_made_and_gone_with_their_pods_when_it_is_deleted(
    cluster: Cluster, kube: Api
) -> None:
    nodes.apply(cluster.plane, manifests.group())

    found = all_nodes(kube)
    assert all(nodes.is_ready(node) for node in found)
    assert {node["metadata"]["labels"][labels.ZONE] for node in found} == {"us-east-1a", "us-east-1b"}
    agent = manifests.workload("DaemonSet", "agent", {"app": "agent"}, {"tolerations": [taints.TOLERATE_EVERYTHING]})
    kube.create(agent)
    kube.create(manifests.pod("server"))
    eventually(lambda: len([each for each in kube.list("v1", "Pod") if nodes.is_ready(each)]) == 3, "three ready pods")

    nodes.leave(cluster.plane, "e2e", "system")

    assert all_nodes(kube) == []
    eventually(lambda: not kube.list("v1", "Pod", NAMESPACE), "no pod is left")


def test_a_group_grows_shrinks_and_changes_its_labels_and_taints_on_the_nodes_that_it_has(
    cluster: Cluster, kube: Api
) -> None:
    nodes.apply(cluster.plane, manifests.group())
    before = {node["metadata"]["name"] for node in all_nodes(kube)}

    nodes.apply(cluster.plane, manifests.group(size=3, labels={"team": "a"}, taints=(taints.GPU.eks(),)))
    found = all_nodes(kube)
    assert len(found) == 3
    assert before < {node["metadata"]["name"] for node in found}
    for node in found:
        assert node["metadata"]["labels"]["team"] == "a"
        assert labels.WORKLOAD not in node["metadata"]["labels"]
        assert taints.GPU.kubernetes() in node["spec"]["taints"]

    nodes.apply(cluster.plane, manifests.group(size=1, labels={"team": "a"}))
    (left,) = all_nodes(kube)
    assert taints.GPU.kubernetes() not in left["spec"].get("taints", ())


def test_another_launch_template_replaces_the_nodes(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.group())
    before = {node["metadata"]["name"] for node in all_nodes(kube)}

    nodes.apply(cluster.plane, manifests.group(launched_from="lt-1 2"))

    after = {node["metadata"]["name"] for node in all_nodes(kube)}
    assert len(after) == 2
    assert before.isdisjoint(after)


def test_a_gpu_is_there_once_the_device_plugin_is_and_gone_when_it_goes(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.gpu_group())
    kube.create(manifests.pod("job", gpus=4))
    assert advertised(kube) == {}

    kube.create(manifests.sharing_config())
    kube.create(manifests.device_plugin())
    eventually(lambda: phase(kube, "job") == "Running", "the pod runs on four GPUs")
    assert advertised(kube) == {resources.GPU: "4"}

    kube.delete("apps/v1", "DaemonSet", "nvidia-device-plugin", NAMESPACE)
    eventually(lambda: advertised(kube) == {resources.GPU: "0"}, "no GPU is advertised any more")


def test_shared_gpus_are_advertised_as_the_configuration_of_their_node_says(cluster: Cluster, kube: Api) -> None:
    of_node = {**manifests.gpu_group().labels, labels.DEVICE_PLUGIN_CONFIG: "sliced"}
    nodes.apply(cluster.plane, manifests.gpu_group(labels=of_node))
    kube.create(manifests.sharing_config(sliced=yaml.safe_dump(SLICED)))

    kube.create(manifests.device_plugin())

    assert eventually(lambda: advertised(kube) == {resources.GPU_SHARED: "12"}, "twelve shares are advertised")


def test_an_image_without_driver_has_no_gpu_whatever_runs_there(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.gpu_group(ami_type="AL2023_x86_64_STANDARD"))
    kube.create(manifests.sharing_config())
    kube.create(manifests.device_plugin())
    eventually(lambda: any(nodes.is_ready(each) for each in kube.list("v1", "Pod", NAMESPACE)), "the plugin is ready")

    # What comes later is seen later: by then the plugin has been looked at, too.
    nodes.apply(cluster.plane, manifests.group("others", **_as_gpu_group(size=1)))
    other = {labels.EKS_NODE_GROUP: "others"}
    eventually(lambda: _gpus(kube, other) == "4", "the node with a driver has GPUs")
    assert _gpus(kube, {labels.EKS_NODE_GROUP: "gpus"}) is None


def test_a_claim_on_efs_is_bound_at_once_and_its_volume_goes_with_it(kube: Api) -> None:
    kube.create(manifests.storage_class("cache", storage.EFS_DRIVER))
    kube.create(manifests.claim("models", "cache", "ReadWriteMany"))

    eventually(lambda: _bound(kube, "models"), "the claim is bound")
    (volume,) = volumes(kube)
    assert volume["spec"]["csi"]["volumeHandle"].startswith("fs-1::fsap-")

    kube.delete("v1", "PersistentVolumeClaim", "models", NAMESPACE)
    eventually(lambda: not volumes(kube), "the volume is gone")


def test_a_claim_on_ebs_is_bound_in_the_zone_of_its_first_pod(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.group())
    kube.create(manifests.storage_class("gp3", storage.EBS_DRIVER, volumeBindingMode="WaitForFirstConsumer"))
    kube.create(manifests.claim("disk", "gp3", "ReadWriteOnce"))
    mounted = [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    kube.create(manifests.pod("server", volumes=mounted, nodeSelector={labels.ZONE: "us-east-1b"}))

    eventually(lambda: phase(kube, "server") == "Running", "the pod runs")
    (volume,) = volumes(kube)
    assert "us-east-1b" in str(volume["spec"]["nodeAffinity"])


def test_what_is_to_fail_never_gets_ready_and_a_job_of_it_fails(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.group())
    kube.create(manifests.workload("Deployment", "broken", {"app": "broken"}, **FAILS))
    kube.create(manifests.job("broken", **FAILS))
    kube.create(manifests.job("fine"))

    eventually(lambda: _conditions(kube, "fine") >= {"Complete"}, "a job that works is complete")
    eventually(lambda: _conditions(kube, "broken") >= {"Failed"}, "the job has failed")
    (pod,) = kube.list("v1", "Pod", NAMESPACE, selector="app=broken")
    assert pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert not nodes.is_ready(pod)


@pytest.mark.parametrize("part", ["kube-apiserver", "node-side"])
def test_the_node_side_goes_on_when_a_part_was_killed(cluster: Cluster, kube: Api, part: str) -> None:
    record = records.read(cluster.checkout, part)
    assert record is not None
    os.kill(record.pid, signal.SIGKILL)
    eventually(lambda: not record.alive, f"{part} has ended")
    control_plane.start(cluster.checkout)

    nodes.apply(cluster.plane, manifests.gpu_group())
    kube.create(manifests.sharing_config())
    kube.create(manifests.device_plugin())

    eventually(lambda: advertised(kube) == {resources.GPU: "4"}, "the GPUs are advertised")


def test_a_cluster_policy_is_ready_when_operator_and_operands_are(cluster: Cluster, kube: Api) -> None:
    nodes.apply(cluster.plane, manifests.gpu_group())
    nodes.apply(cluster.plane, manifests.group())
    kube.create(_cluster_policies())
    policy = {
        "apiVersion": gpu_software.CLUSTER_POLICY_API,
        "kind": gpu_software.CLUSTER_POLICY_KIND,
        "metadata": {"name": gpu_software.CLUSTER_POLICY},
    }
    eventually(lambda: _accepted(kube, policy), "the policy's kind is known")
    broken = {**manifests.workload("DaemonSet", "operand", {"app": "operand"}, **FAILS)}
    kube.create(broken)
    eventually(lambda: len(kube.list("v1", "Pod", NAMESPACE)) == 2, "the operand has pods, on every node but the GPUs'")
    kube.create(manifests.workload("Deployment", "operator", {labels.APP: gpu_software.OPERATOR}))
    eventually(lambda: _state(kube) == "notReady", "the policy waits for its operand")

    kube.delete("apps/v1", "DaemonSet", "operand", NAMESPACE)
    assert eventually(lambda: _state(kube) == "ready", "the policy is ready")


def _as_gpu_group(**changes: object) -> dict[str, Any]:
    whole = manifests.gpu_group()
    fields = ("instance_types", "ami_type", "labels", "taints")
    return {**{field: getattr(whole, field) for field in fields}, **changes}


def _gpus(kube: Api, label: dict[str, str]) -> str | None:
    ((key, value),) = label.items()
    (node,) = kube.list("v1", "Node", selector=f"{key}={value}")
    found: str | None = node["status"]["allocatable"].get(resources.GPU)
    return found


def _bound(kube: Api, name: str) -> bool:
    found = kube.get("v1", "PersistentVolumeClaim", name, NAMESPACE) or {}
    return bool(found.get("status", {}).get("phase") == "Bound")


def _conditions(kube: Api, job: str) -> set[str]:
    found = kube.get("batch/v1", "Job", job, NAMESPACE) or {}
    return {each["type"] for each in found.get("status", {}).get("conditions", ()) if each["status"] == "True"}


def _state(kube: Api) -> str:
    api, kind = gpu_software.CLUSTER_POLICY_API, gpu_software.CLUSTER_POLICY_KIND
    found = kube.get(api, kind, gpu_software.CLUSTER_POLICY) or {}
    return str((found.get("status") or {}).get("state", ""))


def _cluster_policies() -> dict[str, Any]:
    path = Path(charts.__file__).parent / "gpu-operator" / "crds" / "nvidia.com_clusterpolicies.yaml"
    definition: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return definition


def _accepted(kube: Api, manifest: dict[str, Any]) -> bool:
    try:
        kube.create(manifest)
    except RefusedError as error:
        if error.status != NOT_FOUND:
            raise
        return False
    return True
