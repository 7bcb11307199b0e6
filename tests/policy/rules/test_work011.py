"""WORK011: a pod that uses a GPU asks for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import resources
from eks_gpu.facts.visible_devices import VISIBLE_DEVICES
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, not_concerned, passes

ASKS = {"limits": {resources.GPU: "1"}}


def pod(resources_of: object = None, **settings: object) -> Resource:
    box = {"name": "debug", "image": "nvidia/cuda:12.8.1-base-ubuntu24.04", "resources": resources_of or {}, **settings}
    return examples.resource("kubernetes:core/v1:Pod", "debug", {"spec": {"containers": [box]}})


def sees(devices: str) -> dict[str, object]:
    return {"env": [{"name": "A", "value": "b"}, {"name": VISIBLE_DEVICES, "value": devices}]}


@pytest.mark.parametrize(
    "command",
    [["nvidia-smi"], ["sh", "-c", "while true; do nvidia-smi; sleep 5; done"], ["/usr/bin/nvidia-smi", "-L"]],
)
def test_w08_a_pod_that_runs_nvidia_smi_without_a_gpu_fails(command: list[str]) -> None:
    assert complaint(judge("WORK011", pod(command=command))) == (
        "container debug runs nvidia-smi and the pod asks for no GPU: it sees none"
    )
    assert complaint(judge("WORK011", pod(args=command))).endswith("it sees none")


@pytest.mark.parametrize(
    "script",
    [
        "if command -v nvidia-smi; then nvidia-smi; fi",
        "which nvidia-smi && python gpu.py",
        "if ! /usr/bin/nvidia-smi; then exec cpu; fi",
        "nvidia-smi -L || echo none",
        "kubectl exec ds/driver -- nvidia-smi",
    ],
)
def test_w08_a_script_that_gets_along_without_the_tool_is_not_concerned(script: str) -> None:
    assert not_concerned(judge("WORK011", pod(command=["sh", "-c", script])))


@pytest.mark.parametrize("script", ["nvidia-smi; serve || true", "which python && nvidia-smi", "nvidia-smi | tee log"])
def test_w08_a_script_that_relies_on_the_tool_fails(script: str) -> None:
    assert "runs nvidia-smi" in complaint(judge("WORK011", pod(command=["sh", "-c", script])))


def test_w08_a_part_of_a_gpu_in_the_words_of_others_is_asked_for() -> None:
    shared = pod(command=["nvidia-smi"], resources={"limits": {"nvidia.com/gpumem": "4000"}})
    assert passes(judge("WORK011", shared))


@pytest.mark.parametrize("devices", ["all", "0", "0,1", "GPU-fef8089b"])
def test_w08_a_pod_that_is_shown_gpus_without_asking_fails(devices: str) -> None:
    message = complaint(judge("WORK011", pod(**sees(devices))))
    assert message.startswith(f"container debug sets {VISIBLE_DEVICES} to {devices} and the pod asks for no GPU")
    assert "nobody counted" in message


@pytest.mark.parametrize("devices", ["", "none", "void"])
def test_w08_a_pod_that_hides_gpus_is_not_concerned(devices: str) -> None:
    assert not_concerned(judge("WORK011", pod(**sees(devices))))


def test_w08_a_pod_that_asks_passes() -> None:
    assert passes(judge("WORK011", pod(ASKS, command=["nvidia-smi"])))
    assert passes(judge("WORK011", pod({"limits": {resources.mig("1g.5gb"): 1}}, command=["nvidia-smi"])))
    assert passes(judge("WORK011", pod({"claims": [{"name": "gpu"}]}, command=["nvidia-smi", "-L"])))


def test_w08_zero_gpus_are_none() -> None:
    assert "it sees none" in complaint(judge("WORK011", pod({"limits": {resources.GPU: 0}}, command=["nvidia-smi"])))


def test_w08_only_the_container_that_uses_them_is_named() -> None:
    boxes = [{"name": "web", "image": "nginx:1"}, {"name": "smi", "image": "x:1", "command": ["nvidia-smi"]}]
    both = examples.resource("kubernetes:core/v1:Pod", "debug", {"spec": {"containers": boxes}})
    assert complaint(judge("WORK011", both)).startswith("container smi runs nvidia-smi")


def test_daemon_sets_that_watch_gpus_are_not_concerned() -> None:
    server = examples.deployment({"name": "exporter", "image": "dcgm-exporter:4.8.2", **sees("all")})
    assert not_concerned(judge("WORK011", replace(server, type="kubernetes:apps/v1:DaemonSet")))


def test_a_launchers_workers_may_ask_by_claims_whose_class_is_in_the_stack() -> None:
    spec = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}
    props = {"metadata": {"name": "w"}, "spec": {"spec": spec}}
    template = examples.resource("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate", "w", props)
    worker = {
        "containers": [{"name": "worker", "image": "x:1", "resources": {"claims": [{"name": "dev"}]}}],
        "resourceClaims": [{"name": "dev", "resourceClaimTemplateName": "w"}],
    }
    launcher = {"containers": [{"name": "launcher", "image": "x:1", "command": ["mpirun", "nvidia-smi"]}]}
    replicas = {"Launcher": {"template": {"spec": launcher}}, "Worker": {"template": {"spec": worker}}}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "train", {"spec": {"mpiReplicaSpecs": replicas}})
    assert passes(judge("WORK011", template, job))


def test_a_launcher_runs_its_command_on_workers_that_ask() -> None:
    boxes = {
        "Launcher": [{"name": "launcher", "image": "nccl:1", "command": ["mpirun", "nvidia-smi"]}],
        "Worker": [{"name": "worker", "image": "nccl:1", "resources": ASKS}],
    }
    specs = {role: {"template": {"spec": {"containers": box}}} for role, box in boxes.items()}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "nccl", {"spec": {"mpiReplicaSpecs": specs}})
    assert passes(judge("WORK011", job))


@pytest.mark.parametrize("args", [["--image=nvidia-smi-exporter:1"], ["serve", "--port", 8000]])
def test_words_that_only_look_like_it_are_not_concerned(args: list[object]) -> None:
    assert not_concerned(judge("WORK011", pod(args=args)))
    assert not_concerned(judge("WORK011", pod()))


def test_what_is_not_known_is_left_open_where_no_gpu_is_asked() -> None:
    path = "spec.containers[0]"
    assert left_open(judge("WORK011", pod(command=UNKNOWN))) == [f"{path}.command"]
    assert left_open(judge("WORK011", pod(env=[{"name": VISIBLE_DEVICES, "value": UNKNOWN}]))) == [
        f"{path}.env[0].value"
    ]
    assert not_concerned(judge("WORK011", pod(ASKS, command=UNKNOWN)))
    assert not_concerned(judge("WORK011", pod(env=[{"name": "BUCKET", "value": UNKNOWN}])))


def test_a_use_that_is_known_fails_beside_an_unknown_one() -> None:
    boxes = [
        {"name": "a", "image": "x:1", "command": UNKNOWN},
        {"name": "b", "image": "x:1", "command": ["nvidia-smi"]},
    ]
    report = judge("WORK011", examples.resource("kubernetes:core/v1:Pod", "two", {"spec": {"containers": boxes}}))
    assert complaint(report).startswith("container b runs nvidia-smi")
    assert len(report.not_evaluated) == 1
