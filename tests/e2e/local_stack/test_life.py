"""The local stack's whole life, lived once: it comes up, changes nothing, grows, and goes, each in the right order."""

from __future__ import annotations

from datetime import datetime

from eks_gpu.facts import labels, resources
from tests.e2e.local_stack.living import SCALED_TO, Life, bought, has_gpu_taint, is_ready, names, waiting
from tests.e2e.order import created, first, last, told_to_go


def test_the_local_stack_comes_up_on_the_real_api_server(life: Life) -> None:
    assert life.up.code == 0
    assert "Policies:" in life.up.output, "the pack judged it"


def test_a_second_up_changes_nothing(life: Life) -> None:
    assert life.again.code == 0, life.again.output


def test_a_refresh_finds_no_drift(life: Life) -> None:
    assert life.refresh.code == 0, life.refresh.output


def test_down_leaves_no_object_and_no_aws_resource_whatever_was_running(life: Life) -> None:
    assert bought(life.grown), "Karpenter had bought nodes when it began"
    assert life.down.code == 0, life.down.output
    assert "nothing is left in Kubernetes; it is stopped\n" in life.down.output
    assert life.down.output.endswith("nothing is left in AWS; it is stopped\n")


def test_every_deployment_is_ready(life: Life) -> None:
    assert waiting(life.built) == []
    assert {"karpenter", "vllm"} <= set(names(life.built["Deployment"]))


def test_g08_the_gpus_of_the_group_are_proven_and_the_stack_says_when(life: Life) -> None:
    """The pods of Jobs succeed here by themselves: this proves the wiring, and nothing about any GPU."""
    [job] = [each for each in life.built["Job"] if each["metadata"]["namespace"] == "gpu-validation"]
    assert [each["type"] for each in job["status"]["conditions"] if each["status"] == "True"][-1] == "Complete"
    assert job["status"]["succeeded"] == job["spec"]["completions"] == 1
    assert f'inference: "passed at {job["status"]["completionTime"]}"' in life.up.output


def test_the_claim_of_the_model_cache_is_bound(life: Life) -> None:
    claim = life.named("PersistentVolumeClaim", "model-cache")
    assert claim["status"]["phase"] == "Bound"


def test_the_daemon_sets_of_the_gpu_software_reach_every_gpu_node_and_no_other(life: Life) -> None:
    for objects in (life.built, life.grown):
        with_gpus = {node["metadata"]["name"] for node in objects["Node"] if has_gpu_taint(node)}
        assert with_gpus
        for daemon in ("nvidia-device-plugin", "dcgm-exporter"):
            running = {
                pod["spec"]["nodeName"]
                for pod in objects["Pod"]
                if pod["metadata"]["name"].startswith(f"{daemon}-") and is_ready(pod)
            }
            assert running == with_gpus, daemon


def test_gpus_are_advertised_once_the_device_plugin_runs(life: Life) -> None:
    for node in life.grown["Node"]:
        advertised = int(node["status"]["allocatable"].get(resources.GPU, "0"))
        assert (advertised > 0) == has_gpu_taint(node), node["metadata"]["name"]


def test_what_the_managed_node_has_no_room_for_runs_on_a_node_that_karpenter_bought(life: Life) -> None:
    assert not bought(life.built), "the managed node has room for the first server"
    servers = [pod for pod in life.grown["Pod"] if pod["metadata"]["name"].startswith("vllm-") and is_ready(pod)]
    assert len(servers) == SCALED_TO
    (node,) = bought(life.grown)
    assert node["metadata"]["labels"][labels.KARPENTER_NODEPOOL] == "g5", "the dear pool is dedicated to training"
    assert {pod["spec"]["nodeName"] for pod in servers} > {node["metadata"]["name"]}


def test_the_pools_are_accepted_and_ready(life: Life) -> None:
    for kind in ("NodePool", "EC2NodeClass"):
        assert names(life.built[kind]) == ["g5", "p4d"]
        for each in life.built[kind]:
            ready = [one for one in each["status"]["conditions"] if one["type"] == "Ready"]
            assert [one["status"] for one in ready] == ["True"], each["metadata"]["name"]


# --- order is dependency, never luck: what the API server was asked for, and when ---------------------------------


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
