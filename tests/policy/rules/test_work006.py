"""WORK006: inference has a startup probe."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import labels
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

WITHOUT = examples.container(startupProbe=None)
LATE = {"httpGet": {"path": "/health", "port": 8000}, "initialDelaySeconds": 600}


def carried_by(token: str, resource: Resource) -> Resource:
    return dataclasses.replace(resource, type=token)


def test_w04_a_startup_probe_passes() -> None:
    assert passes(judge("WORK006", examples.deployment()))


def test_w04_none_fails() -> None:
    assert complaint(judge("WORK006", examples.deployment(WITHOUT))) == "container server has no startup probe"


def test_w04_a_liveness_probe_without_a_startup_probe_is_what_kills() -> None:
    container = examples.container(startupProbe=None, livenessProbe={"httpGet": {"port": 8000}})
    assert "its liveness probe kills it while it loads" in complaint(judge("WORK006", examples.deployment(container)))


@pytest.mark.parametrize("probe", ["readinessProbe", "livenessProbe"])
def test_w04_a_long_delay_does_not_stand_in_for_it(probe: str) -> None:
    container = examples.container(startupProbe=None, **{probe: LATE})
    assert f"{probe} waits 600 s instead" in complaint(judge("WORK006", examples.deployment(container)))


def test_w04_the_path_that_other_probes_ask_is_named_where_it_is_known() -> None:
    asked = examples.container(startupProbe=None, livenessProbe={"httpGet": {"path": "/v2/health/live", "port": 8000}})
    assert complaint(judge("WORK006", examples.deployment(asked))) == (
        "container server has no startup probe on /v2/health/live: its liveness probe kills it while it loads"
    )
    half = examples.container(startupProbe=None, readinessProbe={"httpGet": {"path": UNKNOWN}}, livenessProbe=UNKNOWN)
    assert complaint(judge("WORK006", examples.deployment(half))) == "container server has no startup probe"


@pytest.mark.parametrize(("seconds", "long"), [(119, False), (120, True)])
def test_w04_two_minutes_are_a_long_delay(seconds: int, long: bool) -> None:
    container = examples.container(startupProbe=None, readinessProbe={"initialDelaySeconds": seconds})
    assert ("waits 120 s" in complaint(judge("WORK006", examples.deployment(container)))) is long


def test_w04_sidecars_without_gpus_need_none() -> None:
    sidecar = {"name": "proxy", "image": "envoy:1.36.0"}
    assert passes(judge("WORK006", examples.deployment(examples.container(), sidecar)))


@pytest.mark.parametrize(
    "token", ["kubernetes:ray.io/v1:RayService", "kubernetes:serving.kserve.io/v1beta1:InferenceService"]
)
def test_w04_ray_and_kserve_inject_theirs(token: str) -> None:
    assert passes(judge("WORK006", carried_by(token, examples.deployment(WITHOUT))))


def test_w04_the_leader_of_a_group_needs_one_and_its_workers_do_not() -> None:
    pod = {"spec": {"containers": [WITHOUT]}}
    kind = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
    both = {"spec": {"leaderWorkerTemplate": {"leaderTemplate": pod, "workerTemplate": pod}}}
    report = judge("WORK006", examples.resource(kind, "group", both))
    assert [finding.path for finding in report.findings] == ["spec.leaderWorkerTemplate.leaderTemplate.spec"]
    alone = {"spec": {"leaderWorkerTemplate": {"workerTemplate": pod}}}
    assert messages(judge("WORK006", examples.resource(kind, "group", alone))).keys() == {"group"}


def test_a_pod_is_what_its_label_says() -> None:
    notebook = changed(examples.deployment(WITHOUT), "spec.template.metadata.labels", {labels.WORKLOAD: "development"})
    assert not_concerned(judge("WORK006", notebook))
    served = changed(examples.deployment(WITHOUT), "spec.template.metadata.labels", {labels.WORKLOAD: "inference"})
    assert messages(judge("WORK006", carried_by("kubernetes:core/v1:Pod", served))).keys() == {"llm"}


def test_a_label_of_somebody_elses_meaning_says_nothing() -> None:
    labelled = changed(examples.deployment(WITHOUT), "spec.template.metadata.labels", {labels.WORKLOAD: "billing"})
    assert messages(judge("WORK006", labelled)).keys() == {"llm"}


@pytest.mark.parametrize("token", ["kubernetes:batch/v1:Job", "kubernetes:apps/v1:DaemonSet", "kubernetes:core/v1:Pod"])
def test_what_does_not_serve_is_not_concerned(token: str) -> None:
    assert not_concerned(judge("WORK006", carried_by(token, examples.deployment(WITHOUT))))


def test_servers_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("WORK006", examples.deployment(examples.container(resources={}, startupProbe=None))))


def test_unknown_labels_are_left_open() -> None:
    pod = changed(examples.deployment(WITHOUT), "spec.template.metadata.labels", UNKNOWN)
    assert left_open(judge("WORK006", pod)) == ["spec.template.metadata.labels"]


def test_an_unknown_probe_is_a_probe() -> None:
    assert passes(judge("WORK006", examples.deployment(examples.container(startupProbe=UNKNOWN))))


@pytest.mark.parametrize(
    "settings",
    [
        {"image": "nvidia/cuda:12.8.1-base-ubi9", "command": ["nvidia-smi"]},
        {"image": "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"},
        {"image": "registry.k8s.io/pause:3.10"},
        {"image": "nvcr.io/nvidia/tritonserver:25.08-py3-sdk"},
        {
            "image": "example.com/tools:v1",
            "command": ["/bin/bash", "-c", "--"],
            "args": ["while true; do sleep 30; done;"],
        },
        {"image": "example.com/tools:v1", "command": ["sleep", "infinity"]},
        {"image": "example.com/tools:v1", "args": ["tail -f /dev/null"]},
        {"image": "example.com/tools:v1", "command": ["sh", "-c", "nvidia-smi -l 5"]},
    ],
)
def test_what_tries_out_a_gpu_or_holds_one_serves_nobody(settings: dict[str, object]) -> None:
    report = judge("WORK006", examples.deployment(examples.container(startupProbe=None, **settings)))
    assert passes(report)


@pytest.mark.parametrize(
    "settings",
    [
        {"image": "nvidia/cuda:12.8.1-base-ubi9", "ports": [{"containerPort": 8000}]},
        {"image": "example.com/server:v1", "args": ["sleep 10; exec serve"]},
        {"image": "example.com/server:v1", "args": ["nvidia-smi && exec serve"]},
        {"image": "nvidia/cuda:12.8.1-base-ubi9", "livenessProbe": {"httpGet": {"port": 80}}},
        {"image": "nvcr.io/nvidia/tritonserver:25.08-py3"},
    ],
)
def test_w04_what_is_asked_for_answers_needs_a_startup_probe_whatever_it_runs_first(
    settings: dict[str, object],
) -> None:
    container = examples.container(startupProbe=None, **settings)
    assert "has no startup probe" in complaint(judge("WORK006", examples.deployment(container)))


def test_an_image_that_is_not_known_is_no_way_out() -> None:
    container = examples.container(startupProbe=None, image=UNKNOWN, args=UNKNOWN)
    assert "has no startup probe" in complaint(judge("WORK006", examples.deployment(container)))
