from __future__ import annotations

from eks_gpu.facts import labels, resources
from tests.e2e.local_stack.living import SCALED_TO, Life, bought, has_gpu_taint, is_ready, names, waiting


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
