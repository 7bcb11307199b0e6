"""COST004: GPU quotas are enforced."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

GPU, MIG = resources.GPU, resources.mig("1g.5gb")


def quota(name: str = "gpus", /, namespace: str | None = "team-a", **spec: object) -> Resource:
    metadata = {"name": name} | ({} if namespace is None else {"namespace": namespace})
    return examples.resource(tokens.RESOURCE_QUOTA, name, {"metadata": metadata, "spec": spec})


def pod(resource: str, namespace: object = "team-a") -> Resource:
    server = examples.deployment(examples.container(resources={"limits": {resource: "1"}}))
    return changed(server, "metadata.namespace", namespace)


def test_w13_a_limit_alone_is_never_enforced() -> None:
    message = complaint(judge("COST004", quota(hard={f"limits.{GPU}": "16"})))
    assert message == f"limits {GPU} to 16 by limits.{GPU}, which Kubernetes accepts and never enforces"


def test_w13_a_request_with_an_equal_limit_passes_and_a_request_alone_too() -> None:
    assert passes(judge("COST004", quota(hard={f"requests.{GPU}": "16", f"limits.{GPU}": 16})))
    assert passes(judge("COST004", quota(hard={f"requests.{GPU}": 4})))


def test_w13_a_limit_beside_another_request_fails() -> None:
    message = complaint(judge("COST004", quota(hard={f"requests.{GPU}": "32", f"limits.{GPU}": "16"})))
    assert message.endswith(f"what it does enforce is another figure, 32 by requests.{GPU}")


@pytest.mark.parametrize("hard", [{f"limits.{GPU}": "1"}, {f"limits.{GPU}": "1", f"requests.{GPU}": "2"}, {GPU: "1"}])
def test_w13_the_remedy_names_the_key_that_counts(hard: dict[str, object]) -> None:
    (finding,) = judge("COST004", quota(hard=hard)).findings
    assert finding.fix == f"count requests.{GPU}"


@pytest.mark.parametrize("key", [GPU, resources.GPU_SHARED, MIG])
def test_w13_a_bare_name_is_never_enforced(key: str) -> None:
    assert f"has the key {key}" in complaint(judge("COST004", quota(hard={key: "4"})))


@pytest.mark.parametrize("name", [MIG, resources.GPU_SHARED])
def test_w13_slices_and_shares_need_keys_of_their_own(name: str) -> None:
    message = complaint(judge("COST004", quota(hard={f"requests.{GPU}": "16"}), pod(name)))
    assert message == f"counts requests.{GPU}, but llm in its namespace asks {name}, which no quota counts"
    assert passes(judge("COST004", quota(hard={f"requests.{GPU}": "16", f"requests.{name}": "7"}), pod(name)))


def test_w13_a_second_quota_of_the_namespace_may_count_the_slices() -> None:
    both = (quota(hard={f"requests.{GPU}": "16"}), quota("slices", hard={f"requests.{MIG}": "7"}))
    assert passes(judge("COST004", *both, pod(MIG)))
    apart = (both[0], quota("slices", "team-b", hard={f"requests.{MIG}": "7"}))
    assert list(messages(judge("COST004", *apart, pod(MIG)))) == ["gpus"]


def test_pods_of_other_namespaces_do_not_matter() -> None:
    assert passes(judge("COST004", quota(hard={f"requests.{GPU}": "16"}), pod(MIG, "team-b"), pod(GPU)))


def test_objects_that_name_no_namespace_are_together() -> None:
    server = examples.deployment(examples.container(resources={"limits": {MIG: "1"}}))
    assert MIG in complaint(judge("COST004", quota(hard={f"requests.{GPU}": "1"}, namespace=None), server))


def test_a_namespace_that_pulumi_names_is_known_by_its_resource() -> None:
    home = examples.resource(tokens.NAMESPACE, "team", {"metadata": {}})
    props = {"metadata": {"namespace": UNKNOWN}, "spec": {"hard": {f"requests.{GPU}": "8"}}}
    counted = examples.resource(tokens.RESOURCE_QUOTA, "gpus", props, metadata=(home,))
    served = pod(MIG, UNKNOWN)
    there = examples.resource(served.type, served.name, served.props, metadata=(home,))
    assert MIG in complaint(judge("COST004", home, counted, there))
    assert passes(judge("COST004", home, counted, pod(GPU)))


def test_a_quota_for_some_of_the_pods_is_not_asked_about_the_others() -> None:
    scope = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["low"]}]}
    assert passes(judge("COST004", quota(hard={f"requests.{GPU}": "16"}, scopeSelector=scope), pod(MIG)))


def test_gpu_pods_without_a_quota_are_not_concerned() -> None:
    assert not_concerned(judge("COST004", pod(GPU)))


def test_unset_and_other_quotas_are_not_concerned() -> None:
    assert not_concerned(judge("COST004", quota()))
    assert not_concerned(judge("COST004", quota(hard={"requests.cpu": "8", "limits.memory": "4Gi", "pods": "10"})))


def test_unknown_figures_and_namespaces_are_left_open() -> None:
    sound = quota(hard={f"requests.{GPU}": "16"})
    assert left_open(judge("COST004", unknown(sound, "spec.hard"))) == ["spec.hard"]
    assert left_open(judge("COST004", sound, pod(MIG, UNKNOWN))) == ["metadata.namespace"]
    assert passes(judge("COST004", sound, pod(GPU, UNKNOWN)))
    assert left_open(judge("COST004", unknown(sound, "metadata.namespace"), pod(GPU))) == ["metadata.namespace"]


def test_a_clause_known_to_fail_fails_beside_an_unknown_one() -> None:
    report = judge("COST004", quota(hard={GPU: "4", f"limits.{GPU}": UNKNOWN}))
    assert f"has the key {GPU}" in complaint(report)
    assert len(report.not_evaluated) == 1


def test_a_public_quota_beside_kueue_and_object_counts_passes() -> None:
    hard = {
        "requests.nvidia.com/gpu": "4",
        "count/jobs.batch": "10",
        "gold.storageclass.storage.k8s.io/requests.storage": "5Gi",
    }
    assert passes(judge("COST004", quota("compute-resources", "myspace", hard=hard), pod(GPU, "myspace")))
