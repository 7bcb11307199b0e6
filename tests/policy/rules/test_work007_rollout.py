"""WORK007, of a Deployment as a whole: deadlines, and rolling updates."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from eks_gpu.facts import images, labels, resources
from eks_gpu.facts.images import GB
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, passes
from tests.support.starting import POOL, SMALL_IMAGE, TEMPLATE, declared, server

# --- a rollout as a whole ---------------------------------------------------------------------------------------------


def rollout(
    mib_per_second: int,
    *,
    deadline: int | None = None,
    timeout: float | None = None,
    annotations: dict[str, str] | None = None,
) -> Report:
    """Judge a Deployment of 140 GB of weights and 15.5 GB of image, from a pending pod to a ready one."""
    template = examples.launch_template(blockDeviceMappings=[examples.volume(throughput=mib_per_second)])
    group = examples.node_group(template, scalingConfig={"minSize": 1, "maxSize": 9})
    pod = declared(server(), model=str(140 * GB), image="15.5G")
    pod = changed(changed(pod, "spec.progressDeadlineSeconds", deadline), "metadata.annotations", annotations or {})
    pod = dataclasses.replace(pod, create_timeout_seconds=timeout)
    return judge("WORK007", *examples.model_cache(), template, group, pod)


def test_w04_node_pull_and_load_together_exceed_the_default_deadline() -> None:
    report = rollout(125, timeout=1200)
    assert complaint(report) == (
        "a rollout takes up to 1011 s (180 s for a node, 2 x 118 s to write the image of 15.5 GB to the image volume "
        "of inference at 125 MiB/s, 594 s to read the model and settle), most of it for reading the model, and "
        "progressDeadlineSeconds allows 600 s"
    )
    assert report.findings[0].fix == (
        "set it to 1011 s at least, as VllmServer does, or read the model from a faster file system"
    )
    assert passes(rollout(125, deadline=1011, timeout=1011))
    assert "allows 1010 s" in complaint(rollout(125, deadline=1010, timeout=1011))


def test_w04_pulumi_waits_no_longer_unless_it_is_told_to() -> None:
    assert "Pulumi's wait (customTimeouts or pulumi.com/timeoutSeconds) allows 600 s" in complaint(
        rollout(125, deadline=1200)
    )
    assert passes(rollout(125, deadline=1200, annotations={labels.TIMEOUT_SECONDS: "1200"}))
    assert passes(rollout(125, deadline=1200, annotations={labels.SKIP_AWAIT: "true"}))
    assert "allows 900 s" in complaint(
        rollout(125, deadline=1200, timeout=900, annotations={labels.TIMEOUT_SECONDS: "1200"})
    )


def test_w04_a_faster_volume_shortens_it() -> None:
    assert passes(rollout(500, deadline=834, timeout=834))


def test_images_on_local_disks_are_pulled_in_no_time() -> None:
    pod = declared(server(), model=str(140 * GB), image="15.5G")
    pod = changed(pod, "spec.progressDeadlineSeconds", 775)
    local = (examples.node_pool(), examples.node_class(instanceStorePolicy="RAID0"))
    assert passes(judge("WORK007", *examples.model_cache(), *local, pod))


def test_an_image_of_a_size_that_nobody_declared_is_left_open_unless_the_rest_is_too_much() -> None:
    pod = changed(server(), "spec.progressDeadlineSeconds", 780)
    cache = examples.model_cache()
    assert left_open(judge("WORK007", *cache, *POOL, pod)) == ["spec.template.spec.containers[0].image"]
    short = changed(pod, "spec.progressDeadlineSeconds", 770)
    assert "a rollout takes up to 774 s" in complaint(judge("WORK007", *cache, *POOL, short))


def test_an_image_that_was_measured_needs_no_declaration() -> None:
    pod = changed(server(image=images.VLLM.reference), "spec.progressDeadlineSeconds", 800)
    assert "the image of 30 GB" in complaint(judge("WORK007", *examples.model_cache(), *POOL, pod))


def test_only_deployments_have_a_deadline() -> None:
    whole = dataclasses.replace(changed(server(), "spec.progressDeadlineSeconds", 1), type=tokens.STATEFUL_SET)
    assert passes(judge("WORK007", *examples.model_cache(), whole))


def test_nobody_waits_for_plain_manifests_but_kubernetes() -> None:
    pod = declared(server(), model=str(140 * GB), image=SMALL_IMAGE)
    pod = dataclasses.replace(pod, create_timeout_seconds=None)
    report = evaluate(
        (*examples.model_cache(), *POOL, pod),
        environment=Environment.PROD,
        rules=(BY_ID["WORK007"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert passes(report)


# --- a rolling update -------------------------------------------------------------------------------------------------


PLUGIN = examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version)


def update(nodes: int, replicas: int = 1, gpus: int = 1, **strategy: object) -> Report:
    """Judge an update of servers on a group of ``nodes`` nodes with one GPU each."""
    group = examples.node_group(TEMPLATE, scalingConfig={"minSize": 0, "desiredSize": nodes, "maxSize": nodes})
    pod = declared(server(resources={"limits": {resources.GPU: str(gpus)}}), model="1G", image=SMALL_IMAGE)
    pod = changed(changed(pod, "spec.replicas", replicas), "spec.strategy", strategy or None)
    return judge("WORK007", *examples.model_cache(), TEMPLATE, group, PLUGIN, pod)


def test_w05_a_surge_without_a_spare_gpu_never_ends() -> None:
    report = update(nodes=2, replicas=2)
    assert complaint(report) == (
        "a rolling update starts a pod before it stops one, and inference has no GPU to spare beside 2 x 1: "
        "the update never ends"
    )
    assert report.findings[0].level is Level.ADVISORY
    assert passes(update(nodes=3, replicas=2))


@pytest.mark.parametrize(
    "strategy",
    [
        {"type": "Recreate"},
        {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        {"rollingUpdate": {"maxUnavailable": "50%"}},
    ],
)
def test_w05_an_update_that_stops_a_pod_first_needs_no_spare_gpu(strategy: dict[str, Any]) -> None:
    assert passes(update(nodes=2, replicas=2, **strategy))


def test_w05_a_set_replaces_its_pods_one_by_one() -> None:
    group = examples.node_group(TEMPLATE, scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 1})
    pod = declared(server(), model="1G", image=SMALL_IMAGE)
    own = dataclasses.replace(pod, type="kubernetes:apps/v1:StatefulSet")
    assert passes(judge("WORK007", *examples.model_cache(), TEMPLATE, group, PLUGIN, own))
    assert "never ends" in complaint(judge("WORK007", *examples.model_cache(), TEMPLATE, group, PLUGIN, pod))


def test_w05_who_asks_for_shares_alone_counts_no_gpus() -> None:
    group = examples.node_group(TEMPLATE, scalingConfig={"minSize": 0, "desiredSize": 1, "maxSize": 1})
    wanted = {"limits": {resources.GPU_SHARED: "1"}}
    pod = declared(server(resources=wanted), model="1G", image=SMALL_IMAGE)
    tolerant = changed(pod, "spec.template.spec.tolerations", [{"operator": "Exists"}])
    assert passes(judge("WORK007", *examples.model_cache(), TEMPLATE, group, tolerant))


def test_w05_a_quarter_of_four_pods_may_be_away() -> None:
    assert passes(update(nodes=4, replicas=4))
    assert "never ends" in complaint(update(nodes=3, replicas=3))


def test_w05_shares_of_a_gpu_that_somebody_else_sets_up_may_be_spare() -> None:
    pod = declared(server(), model="1G", image=SMALL_IMAGE)
    group = examples.node_group(TEMPLATE)
    assert left_open(judge("WORK007", *examples.model_cache(), TEMPLATE, group, pod)) == ["device plugin"]
    sliced = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}"
    sharing = examples.release(
        "plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"config": {"map": {"default": sliced}}},
    )
    assert passes(judge("WORK007", *examples.model_cache(), TEMPLATE, group, sharing, pod))


@pytest.mark.parametrize(
    ("size", "spare"),
    [
        ({"desiredSize": 1, "maxSize": 2}, True),
        ({"desiredSize": 2, "maxSize": 1}, False),
        ({"desiredSize": 1}, False),
        ({"desiredSize": 2}, True),
        ({}, True),
    ],
)
def test_w05_a_group_has_what_it_may_grow_to(size: dict[str, Any], spare: bool) -> None:
    pod = declared(server(), model="1G", image=SMALL_IMAGE)
    group = examples.node_group(TEMPLATE, scalingConfig=size)
    report = judge("WORK007", *examples.model_cache(), TEMPLATE, group, PLUGIN, pod)
    assert passes(report) if spare else "never ends" in complaint(report)


@pytest.mark.parametrize(("nodes", "spare"), [(1, False), (2, True)])
def test_w05_a_static_node_pool_has_its_nodes_whatever_its_limit(nodes: int, spare: bool) -> None:
    pod = declared(server(), model="1G", image=SMALL_IMAGE)
    static = examples.node_pool(replicas=nodes)
    report = judge("WORK007", *examples.model_cache(), static, examples.node_class(), PLUGIN, pod)
    assert passes(report) if spare else "never ends" in complaint(report)


def test_w05_a_pool_that_grows_has_a_spare_gpu_below_its_limit() -> None:
    pod = declared(server(), model="1G", image=SMALL_IMAGE)
    node_class = examples.node_class()
    bounded = examples.node_pool(limits={resources.GPU: "1"})
    assert "g5 has no GPU to spare" in complaint(
        judge("WORK007", *examples.model_cache(), bounded, node_class, PLUGIN, pod)
    )
    assert passes(judge("WORK007", *examples.model_cache(), examples.node_pool(), node_class, pod))
