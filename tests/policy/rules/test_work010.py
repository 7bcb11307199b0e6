"""WORK010: CPU and memory feed the GPU."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes

JOB = "kubernetes:kubeflow.org/v1:PyTorchJob"


def server(limits: dict[str, object], requests: object = None) -> Resource:
    amounts = {"limits": {resources.GPU: 1, **limits}} | ({} if requests is None else {"requests": requests})
    return examples.deployment(examples.container(resources=amounts))


def training(**limits: object) -> Resource:
    box = {"name": "pytorch", "image": "x:1", "resources": {"limits": {resources.GPU: 1, **limits}}}
    spec = {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [box]}}}}}
    return examples.resource(JOB, "train", {"spec": spec})


def pool(*kinds: str) -> Resource:
    return examples.node_pool(types=kinds)


def test_w07_one_cpu_starves_a_gpu() -> None:
    message = complaint(judge("WORK010", server({"cpu": "1", "memory": "24Gi"}), pool("g5.2xlarge")))
    assert message == "container server has 1 CPU for each GPU; 4 to 8 feed one"


def test_w07_four_gib_starve_a_gpu() -> None:
    message = complaint(judge("WORK010", server({"cpu": 4, "memory": "4Gi"}), pool("g5.2xlarge")))
    assert message == "container server has 4 GiB of memory for each GPU; 8 to 16 GiB feed one"


@pytest.mark.parametrize(("cpu", "enough"), [("4", True), ("3900m", False)])
def test_w07_four_cpu_are_enough(cpu: str, enough: bool) -> None:
    report = judge("WORK010", server({"cpu": cpu, "memory": "8Gi"}), pool("g5.2xlarge"))
    assert passes(report) is enough


@pytest.mark.parametrize(("cpu", "enough"), [("3", True), ("2500m", False)])
def test_w07_the_floor_is_lowered_to_what_the_smallest_node_has(cpu: str, enough: bool) -> None:
    report = judge("WORK010", server({"cpu": cpu, "memory": "10Gi"}), pool("g5.xlarge", "g5.2xlarge"))
    assert passes(report) is enough


def test_w07_each_gpu_counts() -> None:
    four = {resources.GPU: 4, "cpu": "8", "memory": "128Gi"}
    assert "has 2 CPU for each GPU" in complaint(judge("WORK010", server(four), pool("g5.12xlarge")))
    assert passes(judge("WORK010", server(four | {"cpu": "40"}), pool("g5.12xlarge")))


def test_w07_training_needs_more() -> None:
    report = judge("WORK010", training(cpu="6", memory="64Gi"), pool("p5.48xlarge"))
    assert complaint(report) == "container pytorch has 6 CPU for each GPU; 8 to 16 feed one"
    small = judge("WORK010", training(cpu="8", memory="16Gi"), pool("p5.48xlarge"))
    assert "16 GiB of memory for each GPU; 32 to 64 GiB feed one" in complaint(small)
    assert passes(judge("WORK010", training(cpu="8", memory="32Gi"), pool("p5.48xlarge")))


def test_w07_a_limit_lets_a_small_request_grow() -> None:
    grown = server({"cpu": "10", "memory": "20G"}, {"cpu": "2", "memory": "6G", resources.GPU: 1})
    assert passes(judge("WORK010", grown, pool("g5.2xlarge")))
    held = server({}, {"cpu": "1", resources.GPU: 1})
    assert "has 1 CPU for each GPU" in complaint(judge("WORK010", held, pool("g5.2xlarge")))


def test_a_placeholder_that_computes_nothing_is_not_concerned() -> None:
    resting = changed(server({"cpu": "1"}), "spec.template.spec.containers.0.image", "registry.k8s.io/pause:3.10.1")
    assert not_concerned(judge("WORK010", resting))


def test_w07_so_much_that_gpus_are_left_over_fails() -> None:
    greedy = server({"cpu": "30", "memory": "32Gi"})
    message = complaint(judge("WORK010", greedy, pool("g5.12xlarge", "g5.24xlarge")))
    assert message == (
        "asks 30 CPU and 32 GiB of memory for 1 GPU: on a g5.24xlarge only 3 of 4 GPUs can be used, and on no type "
        "all of them"
    )
    assert passes(judge("WORK010", greedy, pool("g5.12xlarge", "g5.8xlarge")))
    assert "on a p4d.24xlarge only 4 of 8" in complaint(
        judge("WORK010", server({"cpu": "8", "memory": "240Gi"}), pool("p4d.24xlarge"))
    )


def test_w07_what_fits_nowhere_is_another_rules() -> None:
    assert passes(judge("WORK010", server({"cpu": "64", "memory": "32Gi"}), pool("g5.xlarge")))


def test_without_pools_the_smallest_node_is_the_measure() -> None:
    assert "has 1 CPU" in complaint(judge("WORK010", server({"cpu": "1", "memory": "16Gi"})))
    assert passes(judge("WORK010", server({"cpu": "3", "memory": "8Gi"})))


def test_it_is_advice_everywhere() -> None:
    for environment in Environment:
        (finding,) = judge("WORK010", server({"cpu": "1"}), environment=environment).findings
        assert finding.level is Level.ADVISORY


def test_unset_passes() -> None:
    assert passes(judge("WORK010", server({})))
    assert passes(judge("WORK010", training()))


def test_unknown_amounts_are_left_open_and_silence_no_other_clause() -> None:
    assert left_open(judge("WORK010", server({"cpu": UNKNOWN}))) == [
        "spec.template.spec.containers[0].resources.limits.cpu"
    ]
    boxes = [examples.container(name="a", resources={"limits": {resources.GPU: 1, "cpu": "1"}})]
    boxes.append({"name": "b", "image": "x:1", "resources": {"requests": {"cpu": UNKNOWN}}})
    report = judge("WORK010", examples.deployment(*boxes))
    assert len(report.not_evaluated) == 1


@pytest.mark.parametrize("amount", ["many", "0.5"])
def test_an_amount_of_gpus_that_is_none_is_another_rules(amount: str) -> None:
    assert passes(judge("WORK010", server({"cpu": "1", resources.GPU: amount})))


def test_slices_shares_and_other_pods_are_not_concerned() -> None:
    for name in (resources.mig("1g.5gb"), resources.GPU_SHARED):
        box = examples.container(resources={"limits": {name: 1, "cpu": "1"}})
        assert not_concerned(judge("WORK010", examples.deployment(box)))
    shared = f"version: v1\nsharing: {{timeSlicing: {{resources: [{{name: {resources.GPU}, replicas: 4}}]}}}}\n"
    release = examples.release(
        "p", NVIDIA_DEVICE_PLUGIN.name, "0.20.0", values={"config": {"map": {"default": shared}}}
    )
    assert not_concerned(judge("WORK010", release, pool("g5.xlarge"), server({"cpu": "1"})))
    probe = {"name": "probe", "image": "x:1", "resources": {"limits": {resources.GPU: 1, "cpu": "100m"}}}
    assert not_concerned(
        judge("WORK010", examples.resource("kubernetes:core/v1:Pod", "p", {"spec": {"containers": [probe]}}))
    )
    assert not_concerned(
        judge("WORK010", changed(server({"cpu": "1"}), "spec.template.metadata.labels", {"workload": "development"}))
    )


@pytest.mark.parametrize(
    "limits",
    [
        {"cpu": "6", "memory": "24Gi"},
        {"memory": "32Gi"},
        {"cpu": "4", "memory": "16Gi"},
    ],
    ids=["KServe's language models", "Triton with memory alone", "a chart for vLLM"],
)
def test_public_servers_pass(limits: dict[str, object]) -> None:
    assert passes(judge("WORK010", server(limits)))
    assert passes(judge("WORK010", server(limits), pool("g5.2xlarge", "g6.4xlarge")))
