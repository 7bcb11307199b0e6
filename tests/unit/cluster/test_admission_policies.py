from __future__ import annotations

import copy
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.cluster.admission_policies import AdmissionPolicies, AdmissionPoliciesArgs
from eks_gpu.recording import Recording, record
from eks_gpu_policies.admission.manifests import SAID, manifests
from eks_gpu_policies.rule import Environment
from tests.support.clusters import cluster

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding"


def built(given: list[dict[str, Any]], *, outputs: bool = False) -> Recording:
    def program() -> None:
        ready = k8s.core.v1.Namespace("ready")
        place = cluster(outputs=outputs, ready=(ready,))
        AdmissionPolicies("admission", AdmissionPoliciesArgs(cluster=place, manifests=given))

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_every_policy_and_binding_is_built_as_it_was_handed_in(*, outputs: bool) -> None:
    given = manifests(Environment.PROD)
    recording = built(given, outputs=outputs)
    found = [*recording.of_type(POLICY), *recording.of_type(BINDING)]
    assert len(found) == len(given) == 2 * len(SAID)
    by_kind = {(each.inputs["kind"], each.inputs["metadata"]["name"]): each.inputs for each in found}
    for manifest in given:
        inputs = by_kind[manifest["kind"], manifest["metadata"]["name"]]
        assert {key: inputs[key] for key in manifest} == manifest


def test_a_binding_comes_after_its_policy_and_the_policy_after_the_cluster() -> None:
    recording = built(manifests(Environment.PROD, rules={"COST005"}))
    policy, binding = recording.one(POLICY), recording.one(BINDING)
    assert (policy.name, binding.name) == ("admission-eks-gpu-cost005", "admission-eks-gpu-cost005-binding")
    assert recording.reaches(binding, policy)
    assert recording.reaches(policy, recording.named("ready"))
    assert policy.provider == binding.provider
    assert "kubernetes" in str(policy.provider)


def refusal(given: list[dict[str, Any]]) -> str:
    with pytest.raises(pulumi.InputPropertiesError) as caught:
        built(given)
    return str(caught.value)


def test_nothing_to_hold_is_refused() -> None:
    assert "manifests: is missing" in refusal([])


def test_other_objects_are_refused_each_by_its_place() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}
    assert "manifests[2]: is v1 Pod; only ValidatingAdmissionPolicy" in refusal(
        [*manifests(Environment.PROD, rules={"COST005"}), pod]
    )


def test_all_mistakes_are_said_at_once() -> None:
    policy, binding = manifests(Environment.PROD, rules={"COST005"})
    alone, nameless = copy.deepcopy(binding), copy.deepcopy(policy)
    alone["spec"]["policyName"] = "gone"
    nameless["metadata"].pop("name")
    said = refusal([policy, policy, alone, nameless])
    assert "manifests[1]: is a second ValidatingAdmissionPolicy named eks-gpu-cost005" in said
    assert "manifests[2]: binds the policy gone, which is not among the manifests" in said
    assert "manifests[3]: is a ValidatingAdmissionPolicy without metadata.name or spec" in said
