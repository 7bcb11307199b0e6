"""Order is dependency, never luck: what the API server was asked for, and when."""

from __future__ import annotations

from datetime import datetime

from tests.e2e.local_stack.living import Life
from tests.e2e.order import created, first, last, told_to_go


def test_g02_the_runtime_class_is_there_before_the_device_plugin(life: Life) -> None:
    assert last(created(life, "runtimeclasses", "nvidia")) < first(created(life, "daemonsets", "nvidia-device-plugin"))


def test_the_definitions_are_there_before_the_pools_that_need_them(life: Life) -> None:
    for resource in ("nodepools", "ec2nodeclasses"):
        defined = created(life, "customresourcedefinitions", resource)
        assert last(defined) < first(created(life, resource))


def test_the_rules_of_prometheus_come_after_their_definitions(life: Life) -> None:
    for resource in ("prometheusrules", "servicemonitors"):
        assert last(created(life, "customresourcedefinitions", resource)) < first(created(life, resource))


def test_the_pools_are_there_before_what_needs_their_nodes(life: Life) -> None:
    assert last(created(life, "nodepools")) < first(created(life, "daemonsets", "nvidia-device-plugin"))


def test_g08_gpus_are_proven_after_pools_and_software_and_before_servers(life: Life) -> None:
    validation = created(life, "jobs", "inference-")
    assert last(created(life, "nodepools")) < first(validation)
    assert last(created(life, "daemonsets", "nvidia-device-plugin")) < first(validation)
    assert last(validation) < first(created(life, "deployments", "vllm"))


def test_g08_the_proof_is_finished_before_the_first_server_is_made(life: Life) -> None:
    [job] = [each for each in life.built["Job"] if each["metadata"]["name"].startswith("inference-")]
    completed = datetime.fromisoformat(job["status"]["completionTime"])
    assert completed <= first(created(life, "deployments", "vllm"))


def test_the_server_comes_after_the_claim_and_goes_before_it(life: Life) -> None:
    assert last(created(life, "persistentvolumeclaims", "model-cache")) < first(created(life, "deployments", "vllm"))
    assert first(told_to_go(life, "deployments", "vllm")) < first(
        told_to_go(life, "persistentvolumeclaims", "model-cache")
    )


def test_nothing_of_a_node_pool_survives_its_controller(life: Life) -> None:
    controller = first(told_to_go(life, "deployments", "karpenter"))
    assert last(told_to_go(life, "nodepools")) < controller
    assert last(told_to_go(life, "ec2nodeclasses")) < controller
    for claim in told_to_go(life, "nodeclaims"):
        assert claim.answered < controller
    finished = [
        event
        for event in life.events
        if event.resource == "nodeclaims" and event.succeeded and event.answered >= controller
    ]
    assert not finished, "every claim was gone, and its finalizers with it, when the controller was told to go"


def test_the_runtime_class_goes_after_the_device_plugin(life: Life) -> None:
    assert first(told_to_go(life, "daemonsets", "nvidia-device-plugin")) < first(
        told_to_go(life, "runtimeclasses", "nvidia")
    )
