from __future__ import annotations

import json
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import interruptions, versions
from eks_gpu.nodes.interruption_queue import queue_policy
from eks_gpu.nodes.karpenter import LONGEST_NAME, Karpenter, KarpenterArgs, chart_values
from eks_gpu.recording import RecordedResource, Recording, record
from eks_gpu.settings.karpenter import KarpenterController
from tests.support.clusters import cluster

RELEASE = "kubernetes:helm.sh/v3:Release"
QUEUE = "aws:sqs/queue:Queue"


def _record(
    *, outputs: bool = False, chart_source: str | None = None, isolated: bool = False, node_repair: bool = False
) -> Recording:
    def program() -> None:
        system_nodes = k8s.core.v1.ConfigMap("system-nodes")
        served = cluster(outputs=outputs, ready=(system_nodes,)).within(isolated=isolated)
        settings = KarpenterController(node_repair=node_repair)
        Karpenter("karpenter", KarpenterArgs(cluster=served, settings=settings, chart_source=chart_source))

    return record(program)


def _controller(recording: Recording) -> RecordedResource:
    return recording.named("karpenter-chart")


def test_n09_every_event_that_announces_an_interruption_reaches_the_queue() -> None:
    recording = _record()
    queue = recording.one(QUEUE)
    rules = {
        rule.urn: json.loads(rule["eventPattern"]) for rule in recording.of_type("aws:cloudwatch/eventRule:EventRule")
    }
    targets = recording.of_type("aws:cloudwatch/eventTarget:EventTarget")

    assert all(queue.urn in target.property_dependencies["arn"] for target in targets)
    targeted = [urn for target in targets for urn in target.property_dependencies["rule"]]
    assert sorted(targeted) == sorted(rules)
    assert sorted((pattern["source"][0], pattern["detail-type"][0]) for pattern in rules.values()) == [
        ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
        ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
        ("aws.ec2", "EC2 Instance State-change Notification"),
        ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
        ("aws.health", "AWS Health Event"),
    ]


def test_n09_the_controller_listens_to_the_queue() -> None:
    recording = _record()

    assert _controller(recording)["values"]["settings"]["interruptionQueue"] == "karpenter-interruptions-queue"
    assert recording.one(QUEUE).urn in _controller(recording).property_dependencies["values"]


def test_the_queue_is_encrypted_and_forgets_after_five_minutes() -> None:
    queue = _record().one(QUEUE)

    assert (queue["messageRetentionSeconds"], queue["sqsManagedSseEnabled"]) == (300, True)


def test_the_queue_takes_events_from_aws_alone_and_only_over_tls() -> None:
    send, insecure = _statements(queue_policy("arn:aws:sqs:us-east-1:123456789012:karpenter"))

    assert send["Principal"] == {"Service": list(interruptions.SENDERS)}
    assert (insecure["Effect"], insecure["Principal"], insecure["Condition"]) == (
        "Deny",
        "*",
        {"Bool": {"aws:SecureTransport": "false"}},
    )


def _statements(policy: dict[str, Any]) -> list[dict[str, Any]]:
    return list(policy["Statement"])


@pytest.mark.parametrize("needed", [QUEUE, "aws:sqs/queuePolicy:QueuePolicy", "aws:eks/accessEntry:AccessEntry"])
def test_n09_the_controller_goes_before_what_it_works_with(needed: str) -> None:
    recording = _record()

    assert recording.reaches(_controller(recording), recording.one(needed))


def test_n09_the_controller_goes_before_its_rights_its_nodes_role_and_the_system_nodes() -> None:
    recording = _record()
    policies = recording.of_type("aws:iam/rolePolicy:RolePolicy")
    attachments = recording.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")

    assert policies
    assert attachments
    for needed in (*policies, *attachments, recording.named("system-nodes"), recording.named("karpenter-crds")):
        assert recording.reaches(_controller(recording), needed)


def test_the_crds_have_a_chart_of_their_own_because_helm_never_upgrades_the_other_ones() -> None:
    recording = _record()
    definitions, controller = recording.named("karpenter-crds"), _controller(recording)

    assert definitions["chart"].endswith("/karpenter-crd")
    assert controller["skipCrds"] is True
    assert definitions["version"] == controller["version"] == versions.KARPENTER.version


def test_karpenter_s_nodes_may_join_as_ec2_instances() -> None:
    entry = _record().one("aws:eks/accessEntry:AccessEntry")

    assert entry["type"] == "EC2_LINUX"


def test_the_controller_has_its_rights_by_pod_identity() -> None:
    association = _record().one("aws:eks/podIdentityAssociation:PodIdentityAssociation")

    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "karpenter")


def test_the_chart_is_told_cluster_queue_and_region() -> None:
    assert chart_values(cluster_name="prod", queue_name="queue", region="eu-west-1") == {
        "replicas": 2,
        "serviceAccount": {"name": "karpenter"},
        "settings": {"clusterName": "prod", "interruptionQueue": "queue", "eksControlPlane": True},
        "controller": {
            "resources": {
                "requests": {"cpu": "1", "memory": "1Gi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            },
            "env": [{"name": "AWS_REGION", "value": "eu-west-1"}],
        },
    }


@pytest.mark.parametrize(("isolated", "told"), [(True, True), (False, None)])
def test_the_controller_is_told_where_iam_and_prices_are_out_of_reach(*, isolated: bool, told: bool | None) -> None:
    assert _controller(_record(isolated=isolated))["values"]["settings"].get("isolatedVPC") is told


@pytest.mark.parametrize(("wanted", "gates"), [(True, {"nodeRepair": True}), (False, None)])
def test_n07_broken_nodes_are_replaced_only_where_asked(*, wanted: bool, gates: dict[str, bool] | None) -> None:
    assert _controller(_record(node_repair=wanted))["values"]["settings"].get("featureGates") == gates
    assert not KarpenterController().node_repair, "it asks neither budgets nor do-not-disrupt, so a false alarm is dear"


def test_n09_the_instance_profile_is_ours_and_goes_after_the_controller() -> None:
    recording = _record()
    profile = recording.one("aws:iam/instanceProfile:InstanceProfile")

    assert recording.named("karpenter-node-role").urn in profile.property_dependencies["role"]
    assert recording.reaches(_controller(recording), profile)


def test_output_identities_give_the_same_graph() -> None:
    assert [resource.urn for resource in _record(outputs=True).resources] == [
        resource.urn for resource in _record().resources
    ]


def test_a_mirror_serves_both_charts() -> None:
    recording = _record(chart_source="oci://registry.example/mirror")

    assert {release["chart"] for release in recording.of_type(RELEASE)} == {
        "oci://registry.example/mirror/karpenter",
        "oci://registry.example/mirror/karpenter-crd",
    }


def test_a_cluster_without_subnets_is_refused() -> None:
    def program() -> None:
        Karpenter("karpenter", KarpenterArgs(cluster=cluster(subnets={})))

    with pytest.raises(pulumi.InputPropertiesError, match=r"cluster\.private_subnets: is empty"):
        record(program)


def test_a_name_of_which_no_rule_could_be_named_is_refused() -> None:
    longest = "k" * LONGEST_NAME

    rules = record(lambda: Karpenter(longest, KarpenterArgs(cluster=cluster())))
    assert max(len(rule.name) for rule in rules.of_type("aws:cloudwatch/eventRule:EventRule")) + 8 == 64
    with pytest.raises(pulumi.InputPropertiesError, match=r"name: 'kk+' is too long .* use up to 17 characters"):
        record(lambda: Karpenter(f"{longest}k", KarpenterArgs(cluster=cluster())))
