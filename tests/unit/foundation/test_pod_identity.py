from __future__ import annotations

import json
from collections.abc import Mapping

import pulumi
import pytest

from eks_gpu.foundation.pod_identity import PodIdentity, PodIdentityArgs
from eks_gpu.foundation.policy_document import allow, document
from eks_gpu.recording import Recording, record

READ = document(allow("ReadObjects", ["s3:GetObject"], ["arn:aws:s3:::models/*"]))
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"


def _record(
    *,
    outputs: bool = False,
    policies: Mapping[str, Mapping[str, object]] | None = None,
    managed: Mapping[str, str] | None = None,
) -> Recording:
    def program() -> None:
        name = "prod"
        args = PodIdentityArgs(
            cluster_name=pulumi.Output.from_input(name) if outputs else name,
            namespace="inference",
            service_account="mirror",
            policies=policies or {},
            managed_policies=managed or {},
        )
        PodIdentity("mirror", args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_one_service_account_gets_a_role_that_only_pod_identity_may_assume(*, outputs: bool) -> None:
    recording = _record(outputs=outputs, policies={"read": READ})

    trust = json.loads(recording.one("aws:iam/role:Role")["assumeRolePolicy"])
    assert trust["Statement"] == [
        {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    "aws:RequestTag/kubernetes-namespace": "inference",
                    "aws:RequestTag/kubernetes-service-account": "mirror",
                }
            },
        }
    ]
    association = recording.one(ASSOCIATION)
    assert (association["clusterName"], association["namespace"], association["serviceAccount"]) == (
        "prod",
        "inference",
        "mirror",
    )


def test_pods_get_the_role_only_after_its_policies() -> None:
    recording = _record(policies={"read": READ}, managed={"driver": "arn:aws:iam::aws:policy/Some"})

    association = recording.one(ASSOCIATION)
    assert recording.reaches(association, recording.named("mirror-policy-read"))
    assert recording.reaches(association, recording.named("mirror-managed-policy-driver"))


def test_names_and_parents_are_stable() -> None:
    recording = _record(policies={"read": READ}, managed={"driver": "arn:aws:iam::aws:policy/Some"})

    component = recording.one("eks-gpu:index:PodIdentity")
    assert {child.name for child in recording.children(component)} == {
        "mirror-role",
        "mirror-policy-read",
        "mirror-managed-policy-driver",
        "mirror-association",
    }


def test_a_document_may_hold_outputs() -> None:
    def program() -> None:
        statement = allow("ReadObjects", ["s3:GetObject"], [pulumi.Output.from_input("arn:aws:s3:::late/*")])
        args = PodIdentityArgs(
            cluster_name="prod", namespace="n", service_account="s", policies={"read": document(statement)}
        )
        PodIdentity("reader", args)

    policy = json.loads(record(program).one("aws:iam/rolePolicy:RolePolicy")["policy"])
    assert policy["Statement"][0]["Resource"] == ["arn:aws:s3:::late/*"]


def test_a_role_that_may_do_nothing_and_missing_names_are_refused_together() -> None:
    args = PodIdentityArgs(cluster_name="", namespace="inference", service_account="")

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(lambda: PodIdentity("mirror", args))

    assert [error["property_path"] for error in refused.value.errors or ()] == [
        "cluster_name",
        "service_account",
        "policies",
    ]


def test_an_empty_policy_arn_is_refused_by_its_key() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"managed_policies\.driver: is missing"):
        _record(managed={"driver": ""})
