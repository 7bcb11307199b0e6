from __future__ import annotations

from typing import Any

import pytest
import yaml

from eks_gpu.facts import labels, resources, storage, versions
from eks_gpu.facts.instances import CATALOGUE
from sandbox.kubernetes.node_side import custom_resources, gpus, scaler, volumes

G5 = CATALOGUE["g5.12xlarge"]
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def sliced(replicas: int, **more: Any) -> str:  # noqa: ANN401 - keys of the plugin's file
    entry = {"name": resources.GPU, "replicas": replicas}
    return yaml.safe_dump({"version": "v1", "sharing": {"timeSlicing": {"resources": [entry], **more}}})


@pytest.mark.parametrize("config", ["", "version: v1", "sharing: {}", "sharing:", "sharing: {timeSlicing: {}}"])
def test_gpus_are_advertised_once_where_they_are_not_shared(config: str) -> None:
    assert gpus.advertised(G5, gpus.sharing(config)) == {resources.GPU: "4"}


def test_shared_gpus_are_advertised_several_times_under_the_name_that_the_file_says() -> None:
    assert gpus.advertised(G5, gpus.sharing(sliced(3))) == {resources.GPU: "12"}
    assert gpus.advertised(G5, gpus.sharing(sliced(3, renameByDefault=True))) == {resources.GPU_SHARED: "12"}


@pytest.mark.parametrize("config", ["[", "text", "- list", "sharing: {timeSlicing: {resources: [{replicas: 2}]}}"])
def test_a_file_that_is_no_configuration_is_refused(config: str) -> None:
    with pytest.raises(ValueError, match="not a configuration of the device plugin"):
        gpus.sharing(config)


def test_a_type_whose_gpus_ec2_counts_as_none_advertises_none() -> None:
    fraction = next(instance for instance in CATALOGUE.values() if instance.gpu_count == 0)
    assert gpus.advertised(fraction, gpus.EXCLUSIVE) == {}


def test_nothing_is_written_where_a_node_says_already_what_it_should() -> None:
    status = {"allocatable": {resources.CPU: "4", resources.GPU: "4"}}
    assert gpus.status_changes(status, {resources.GPU: "4"}) == {}
    assert gpus.status_changes({}, {}) == {}


def test_what_no_plugin_offers_any_more_becomes_nothing_and_the_rest_stays() -> None:
    status = {"allocatable": {resources.CPU: "4", resources.GPU: "4", resources.EFA: "1"}}
    assert gpus.status_changes(status, {resources.GPU_SHARED: "8"}) == {
        resources.GPU: "0",
        resources.EFA: "0",
        resources.GPU_SHARED: "8",
    }
    gone = {"allocatable": {resources.GPU: "0"}}
    assert gpus.status_changes(gone, {}) == {}


@pytest.mark.parametrize(
    ("type_", "profile", "each"),
    [
        ("p4d.24xlarge", "1g.5gb", 7),
        ("p4d.24xlarge", "1g.10gb", 4),
        ("p4d.24xlarge", "2g.10gb", 3),
        ("p4d.24xlarge", "3g.20gb", 2),
        ("p4d.24xlarge", "4g.20gb", 1),
        ("p4d.24xlarge", "7g.40gb", 1),
        ("p4de.24xlarge", "1g.10gb", 7),
        ("p5.48xlarge", "1g.20gb", 4),
        ("p5en.48xlarge", "1g.18gb", 7),
        ("p5en.48xlarge", "3g.71gb", 2),
    ],
)
def test_partitions_of_a_gpu_are_as_many_as_fit_its_slices(type_: str, profile: str, each: int) -> None:
    instance = CATALOGUE[type_]
    count = str(each * instance.gpu_count)
    assert gpus.partitions(instance, f"all-{profile}", "mixed") == {resources.mig(profile): count}
    assert gpus.partitions(instance, f"all-{profile}", "single") == {resources.GPU: count}


@pytest.mark.parametrize(
    ("type_", "layout", "strategy"),
    [("g5.12xlarge", "all-1g.5gb", "mixed"), ("p4d.24xlarge", "", "mixed"), ("p4d.24xlarge", "all-1g.5gb", "none")],
)
def test_gpus_that_are_not_partitioned_are_whole(type_: str, layout: str, strategy: str) -> None:
    assert gpus.partitions(CATALOGUE[type_], layout, strategy) == {}


CLAIM: dict[str, Any] = {
    "metadata": {"name": "cache", "namespace": "inference", "uid": "u-1", "resourceVersion": "7"},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}},
}


def storage_class(driver: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a StorageClass
    return {"metadata": {"name": "class"}, "provisioner": driver, **more}


def test_an_efs_volume_is_an_access_point_of_the_classs_file_system_and_of_no_zone() -> None:
    class_ = storage_class(storage.EFS_DRIVER, parameters={"fileSystemId": "fs-1"}, reclaimPolicy="Retain")
    made = volumes.volume(CLAIM, class_, "us-east-1a")
    assert made["metadata"]["name"] == "pvc-u-1"
    assert made["spec"]["csi"]["driver"] == storage.EFS_DRIVER
    assert made["spec"]["csi"]["volumeHandle"].startswith("fs-1::fsap-")
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert "nodeAffinity" not in made["spec"]
    assert made["spec"]["claimRef"]["uid"] == "u-1"
    assert made["spec"]["capacity"] == {"storage": "10Gi"}


def test_an_ebs_volume_can_be_used_in_its_zone_only_and_goes_with_its_claim() -> None:
    made = volumes.volume(CLAIM, storage_class(storage.EBS_DRIVER), "us-east-1a")["spec"]
    terms = made["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": labels.ZONE, "operator": "In", "values": ["us-east-1a"]}]}]
    assert made["csi"]["volumeHandle"].startswith("vol-")
    assert made["persistentVolumeReclaimPolicy"] == "Delete"


def node_class(**status: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a status
    metadata = {"name": "g5", "generation": 2, "finalizers": [custom_resources.FINALIZER]}
    return {"metadata": metadata, "spec": {"role": "nodes"}, "status": status}


def test_an_ec2nodeclass_is_ready_with_every_condition_at_its_own_generation() -> None:
    status = custom_resources.status(node_class(), "2026-11-21T16:00:00Z")
    assert custom_resources.is_current(node_class(**status))
    older = [{**condition, "observedGeneration": 1} for condition in status["conditions"]]
    assert not custom_resources.is_current(node_class(conditions=older))
    assert not custom_resources.is_current(node_class(conditions=status["conditions"][1:]))
    assert not custom_resources.is_current(node_class())


def test_an_ec2nodeclass_that_could_vanish_without_karpenter_is_not_done() -> None:
    bare = node_class(**custom_resources.status(node_class(), "2026-11-21T16:00:00Z"))
    bare["metadata"]["finalizers"] = []
    assert not custom_resources.is_current(bare)


def pod(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a pod's metadata, or its status
    metadata = {
        "name": "karpenter-1",
        "labels": {labels.APP_NAME: versions.KARPENTER.name},
        "ownerReferences": [{"kind": "ReplicaSet"}],
    }
    status = changes.pop("status", READY)
    return {"metadata": {**metadata, **changes}, "status": status}


def test_karpenter_runs_for_a_ready_pod_of_its_deployment_and_for_no_other() -> None:
    assert scaler.is_karpenter(pod())
    assert not scaler.is_karpenter(pod(status={}))
    assert not scaler.is_karpenter(pod(labels={labels.APP_NAME: "other"}))
    assert not scaler.is_karpenter(pod(ownerReferences=[{"kind": "Job"}]))
    assert not scaler.is_karpenter(pod(deletionTimestamp="2026-11-21T16:00:00Z"))
