from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.cluster.add_ons import (
    AddOns,
    AddOnsArgs,
    NodeAddOns,
    add_on_inputs,
    node_monitoring_agent_configuration,
)
from eks_gpu.facts import versions
from eks_gpu.recording import Recording, record
from tests.support.clusters import cluster

ADD_ON = "aws:eks/addon:Addon"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
Installer = Callable[[str, AddOnsArgs], object]


def _record(
    kind: Installer, *, version: str = "1.35", outputs: bool = False, controllers_on: Mapping[str, str] | None = None
) -> Recording:
    def program() -> None:
        gate = k8s.core.v1.ConfigMap("gate")
        place = cluster(version=version, outputs=outputs, ready=(gate,))
        kind("add-ons", AddOnsArgs(cluster=place, controllers_on=controllers_on or {}))

    return record(program)


@pytest.mark.parametrize("version", versions.KUBERNETES_VERSIONS)
@pytest.mark.parametrize("kind", [NodeAddOns, AddOns])
def test_g07_every_add_on_is_at_the_exact_version_for_the_clusters(kind: Installer, version: str) -> None:
    for add_on in _record(kind, version=version).of_type(ADD_ON):
        assert add_on["addonVersion"] == versions.ADD_ONS[add_on["addonName"]][version].version
        assert add_on["addonVersion"].startswith("v")


def test_together_they_install_all_the_add_ons_that_are_known() -> None:
    names = [add_on["addonName"] for kind in (NodeAddOns, AddOns) for add_on in _record(kind).of_type(ADD_ON)]
    assert sorted(names) == sorted(versions.ADD_ONS)


@pytest.mark.parametrize("outputs", [False, True])
@pytest.mark.parametrize("kind", [NodeAddOns, AddOns])
def test_add_ons_come_after_what_the_cluster_needs_first(kind: Installer, *, outputs: bool) -> None:
    recording = _record(kind, outputs=outputs)

    for add_on in recording.of_type(ADD_ON):
        assert add_on["clusterName"] == "prod"
        assert recording.reaches(add_on, recording.named("gate"))


@pytest.mark.parametrize(
    ("kind", "add_on", "account", "policy"),
    [
        (NodeAddOns, "vpc-cni", "aws-node", "AmazonEKS_CNI_Policy"),
        (AddOns, "aws-ebs-csi-driver", "ebs-csi-controller-sa", "AmazonEBSCSIDriverPolicyV2"),
        (AddOns, "aws-efs-csi-driver", "efs-csi-controller-sa", "service-role/AmazonEFSCSIDriverPolicy"),
    ],
)
def test_an_add_on_that_calls_aws_has_an_identity_of_its_own_before_it_starts(
    kind: Installer, add_on: str, account: str, policy: str
) -> None:
    recording = _record(kind)

    (association,) = (one for one in recording.of_type(ASSOCIATION) if one["serviceAccount"] == account)
    assert association["namespace"] == "kube-system"
    assert recording.reaches(recording.named(f"add-ons-{add_on}"), association)
    attached = {
        attachment["policyArn"]
        for attachment in recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        if recording.reaches(association, attachment)
    }
    assert attached == {f"arn:aws:iam::aws:policy/{policy}"}


def test_claims_that_name_no_class_get_an_encrypted_volume_in_the_zone_of_their_pod() -> None:
    recording = _record(AddOns)
    storage = recording.one("kubernetes:storage.k8s.io/v1:StorageClass")

    assert storage["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert (storage["provisioner"], storage["volumeBindingMode"]) == ("ebs.csi.aws.com", "WaitForFirstConsumer")
    assert storage["parameters"] == {"type": "gp3", "encrypted": "true"}
    assert recording.reaches(storage, recording.named("add-ons-aws-ebs-csi-driver"))


def test_the_cni_waits_for_the_agent_that_hands_out_its_identity() -> None:
    recording = _record(NodeAddOns)
    assert recording.reaches(recording.named("add-ons-vpc-cni"), recording.named("add-ons-eks-pod-identity-agent"))


def test_the_monitoring_agents_dcgm_server_reaches_tainted_gpu_nodes() -> None:
    assert node_monitoring_agent_configuration() == {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
    add_on = _record(AddOns).named("add-ons-eks-node-monitoring-agent")
    assert json.loads(add_on["configurationValues"]) == node_monitoring_agent_configuration()


def _configured(recording: Recording) -> dict[str, Any]:
    """Return what each add-on is told, by its name."""
    return {
        add_on["addonName"]: json.loads(add_on["configurationValues"])
        for add_on in recording.of_type(ADD_ON)
        if "configurationValues" in add_on.inputs
    }


def test_controllers_run_on_the_nodes_that_are_named() -> None:
    told = _configured(_record(AddOns, controllers_on={"workload": "system"}))

    assert told["coredns"]["nodeSelector"] == {"workload": "system"}
    for driver in ("aws-ebs-csi-driver", "aws-efs-csi-driver"):
        assert told[driver]["controller"]["nodeSelector"] == {"workload": "system"}


def test_controllers_run_anywhere_where_no_nodes_are_named() -> None:
    told = _configured(_record(AddOns))

    assert "coredns" not in told
    assert all("controller" not in values for values in told.values())


def test_n05_the_parts_of_volume_drivers_on_each_node_reach_every_gpu_pool() -> None:
    told = _configured(_record(AddOns, controllers_on={"workload": "system"}))

    assert told["aws-ebs-csi-driver"]["node"] == {"tolerateAllTaints": True}
    assert told["aws-efs-csi-driver"]["node"] == {"tolerations": [{"operator": "Exists"}]}


def test_configuration_is_left_out_where_the_defaults_are_right() -> None:
    inputs = add_on_inputs(versions.COREDNS["1.35"])
    assert "configuration_values" not in inputs
    assert (inputs["resolve_conflicts_on_create"], inputs["resolve_conflicts_on_update"]) == ("OVERWRITE", "OVERWRITE")


@pytest.mark.parametrize("kind", [NodeAddOns, AddOns])
def test_a_cluster_of_an_unknown_version_is_refused(kind: Installer) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"cluster: runs Kubernetes 1\.29, which no add-on versions"):
        _record(kind, version="1.29")
