"""WORK007: the budget covers the start."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from eks_gpu.facts import declarations, images, labels, resources, storage
from eks_gpu.facts.images import GB
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.reading import need
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.stack import Stack
from tests.support.judging import TODAY, changed, complaint, judge, left_open, not_concerned, passes
from tests.support.objects import objects

MODEL = "meta-llama/Llama-3.1-70B-Instruct"
"""140 GB in 16 bits."""
PATIENT = 100_000


def probe(failures: int, delay: int = 15, period: int = 10) -> dict[str, Any]:
    return {"initialDelaySeconds": delay, "periodSeconds": period, "failureThreshold": failures}


def server(failures: int = 60, **settings: object) -> Resource:
    """Return a Deployment on the cache that waits for its pods long enough."""
    container = {"args": ["--model", MODEL], "startupProbe": probe(failures), **settings}
    deployment = examples.on_cache({key: value for key, value in container.items() if value is not None})
    patient = changed(deployment, "spec.progressDeadlineSeconds", PATIENT)
    return dataclasses.replace(patient, create_timeout_seconds=PATIENT)


def declared(pod: Resource, **annotations: str) -> Resource:
    names = {"model": declarations.MODEL_BYTES, "image": declarations.IMAGE_BYTES}
    said = {names[key]: value for key, value in annotations.items()}
    return changed(pod, "spec.template.metadata.annotations", said)


SMALL_IMAGE = "1"
"""One byte: pulling it takes no time worth counting."""


def on(pod: Resource, *around: Resource) -> Report:
    """Judge a server whose image weighs nothing, with a pool that it may land on."""
    return judge("WORK007", *around, *POOL, declared(pod, model=str(140 * GB), image=SMALL_IMAGE))


TEMPLATE = examples.launch_template()
POOL = (TEMPLATE, examples.node_group(TEMPLATE, scalingConfig={"minSize": 1, "maxSize": 9}))


def test_w04_140_gb_from_an_elastic_file_system_need_594_seconds() -> None:
    assert passes(on(server(60), *examples.model_cache()))
    message = complaint(on(server(30), *examples.model_cache()))
    assert message == (
        "container server needs 594 s to start (2 x 267 s to read 140 GB from the elastic file system models at "
        "500 MiB/s, 60 s to settle), and its startup probe allows 305 s (15 + 10 x 29)"
    )


def test_w04_the_last_probe_that_may_fail_is_the_edge() -> None:
    assert passes(on(server(startupProbe=probe(59, delay=15)), *examples.model_cache()))
    assert "allows 585 s" in complaint(on(server(startupProbe=probe(58)), *examples.model_cache()))
    assert passes(on(server(startupProbe=probe(2, delay=0, period=595)), *examples.model_cache()))


def test_w04_exactly_enough_is_enough() -> None:
    """500 MiB/s read 100,000 MiB in 200 s: twice that and a minute are 460 s."""
    exact = declared(server(startupProbe=probe(46, delay=10)), model="100000Mi", image=SMALL_IMAGE)
    assert passes(judge("WORK007", *examples.model_cache(), *POOL, exact))
    shorter = declared(server(startupProbe=probe(46, delay=9)), model="100000Mi", image=SMALL_IMAGE)
    assert "needs 460 s" in complaint(judge("WORK007", *examples.model_cache(), *POOL, shorter))


def test_w04_a_probe_without_numbers_has_kubernetes_own() -> None:
    bare = {"httpGet": {"path": "/health", "port": 8000}}
    assert "allows 20 s (0 + 10 x 2)" in complaint(on(server(startupProbe=bare), *examples.model_cache()))


def test_w05_a_bursting_file_system_takes_hours() -> None:
    message = complaint(on(server(), *examples.model_cache(throughputMode="bursting")))
    assert "2 x 20972 s to read 140 GB from the bursting file system models at 6.37 MiB/s" in message
    assert "bursting file system" in complaint(on(server(), *examples.model_cache(throughputMode=None)))


def test_w05_what_is_provisioned_counts_up_to_what_a_client_can_read() -> None:
    def provisioned(mib: int) -> tuple[Resource, ...]:
        return examples.model_cache(throughputMode="provisioned", provisionedThroughputInMibps=mib)

    assert passes(on(server(60), *provisioned(500)))
    assert "at 100 MiB/s" in complaint(on(server(60), *provisioned(100)))
    assert "at 500 MiB/s" in complaint(on(server(30), *provisioned(3000)))
    without = examples.model_cache(throughputMode="provisioned")
    assert left_open(on(server(), *without)) == ["provisionedThroughputInMibps"]


def test_w05_without_a_cache_the_hub_is_read() -> None:
    downloads = examples.deployment(examples.container(args=["--model", MODEL], startupProbe=probe(60)))
    message = complaint(
        judge("WORK007", declared(patient(downloads), image=SMALL_IMAGE), *POOL, options={"hubMegabytesPerSecond": 50})
    )
    assert "2 x 2800 s to read 140 GB from the hub at 47.7 MiB/s" in message


def patient(deployment: Resource) -> Resource:
    changed_ = changed(deployment, "spec.progressDeadlineSeconds", PATIENT)
    return dataclasses.replace(changed_, create_timeout_seconds=PATIENT)


@pytest.mark.parametrize(
    ("parameters", "failures", "speed"),
    [
        ({"type": "gp3", "throughput": "500"}, 60, None),
        ({"type": "gp3"}, 60, "a volume of the class shared at 125 MiB/s"),
        ({}, 60, "a volume of the class shared at 125 MiB/s"),
    ],
)
def test_w05_a_volume_on_ebs_is_as_fast_as_its_class(
    parameters: dict[str, str], failures: int, speed: str | None
) -> None:
    _, _, claim = examples.model_cache()
    of_class = examples.resource(
        tokens.STORAGE_CLASS,
        "shared",
        {"metadata": {"name": "shared"}, "provisioner": storage.EBS_DRIVER, "parameters": parameters},
    )
    report = on(server(failures), of_class, claim)
    assert passes(report) if speed is None else speed in complaint(report)


def test_w05_the_size_is_declared_or_read_off_the_name() -> None:
    cache = examples.model_cache()
    assert "140 GB" in complaint(judge("WORK007", *cache, server(30)))
    assert "300 GB" in complaint(judge("WORK007", *cache, declared(server(60), model=str(300 * GB))))
    quantised = server(30, args=["--model", "org/Llama-3.1-70B-AWQ"])
    assert left_open(judge("WORK007", *cache, quantised)) == ["spec.template.spec.containers[0].image"]
    assert left_open(judge("WORK007", *cache, server(args=["--model", "org/mistral-large"]))) == [
        "spec.template.spec.containers[0].args"
    ]


def test_w05_a_folder_on_the_claim_is_read_from_the_claim() -> None:
    local = examples.on_cache(
        {"args": ["--model", "/models/Llama-3.1-70B-Instruct"], "startupProbe": probe(30)}, path="/models"
    )
    assert "the elastic file system models" in complaint(judge("WORK007", *examples.model_cache(), patient(local)))


def test_w05_a_model_in_the_image_is_read_from_the_image_volume() -> None:
    slow = examples.launch_template(blockDeviceMappings=[examples.volume(throughput=None, volumeType="gp2")])
    group = examples.node_group(slow, scalingConfig={"minSize": 1, "maxSize": 9})
    baked = examples.deployment(examples.container(args=["--model", "/opt/Llama-70B"], startupProbe=probe(60)))
    message = complaint(judge("WORK007", slow, group, declared(patient(baked), model=str(140 * GB), image="1")))
    assert "the image volume of inference at 128 MiB/s" in message


def test_w05_offline_the_cache_is_read_all_the_same() -> None:
    offline = server(30, env=[{"name": "HF_HUB_OFFLINE", "value": "1"}])
    second = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    own = [place.data for place in offline.view.at("spec", "template", "spec", "volumes").items()]
    pod = changed(offline, "spec.template.spec.volumes", [*own, second])
    mounts = [place.data for place in need(Stack([offline]).pods[0].containers)[0].place["volumeMounts"].items()]
    also = [*mounts, {"name": "data", "mountPath": "/data"}]
    pod = changed(pod, "spec.template.spec.containers.0.volumeMounts", also)
    assert "the elastic file system models" in complaint(on(pod, *examples.model_cache()))


@pytest.mark.parametrize(("medium", "told"), [({}, True), ({"medium": "Memory"}, False)])
def test_w05_what_an_init_container_brought_is_read_from_the_nodes_disk(medium: dict[str, str], told: bool) -> None:
    volumes = [{"name": "models", "emptyDir": medium}]
    container = examples.container(
        args=["--model", "/models/Llama-70B"],
        startupProbe=probe(30),
        volumeMounts=[{"name": "models", "mountPath": "/models"}],
    )
    report = on(patient(examples.deployment(container, volumes=volumes)))
    if told:
        assert "the image volume of inference at 500 MiB/s" in complaint(report)
    else:
        assert left_open(report) == ["spec.template.spec.volumes"]


@pytest.mark.parametrize(
    ("provisioner", "parameters"),
    [(storage.EBS_DRIVER, {"type": "io2"}), ("fsx.csi.aws.com", {}), ("fsx.csi.aws.com", {"type": "gp3"})],
)
def test_w05_how_fast_other_volumes_are_is_left_open(provisioner: str, parameters: dict[str, str]) -> None:
    _, _, claim = examples.model_cache()
    of_class = examples.resource(
        tokens.STORAGE_CLASS,
        "shared",
        {"metadata": {"name": "shared"}, "provisioner": provisioner, "parameters": parameters},
    )
    assert left_open(on(server(), of_class, claim)) == ["parameters"]


@pytest.mark.parametrize(
    "settings",
    [
        {"args": ["--model", "s3://models/Llama-70B"]},
        {"args": ["--model", "$(MODEL)"]},
        {"args": None, "volumeMounts": []},
        {"startupProbe": {**probe(60), "failureThreshold": UNKNOWN}},
    ],
)
def test_what_nobody_can_tell_is_left_open(settings: dict[str, Any]) -> None:
    assert len(left_open(on(server(**settings), *examples.model_cache()))) == 1


def test_a_claim_of_another_stack_is_left_open() -> None:
    assert left_open(on(server())) == ["spec.template.spec.volumes[1].persistentVolumeClaim.claimName"]


def test_an_unknown_throughput_mode_is_left_open() -> None:
    assert left_open(on(server(), *examples.model_cache(throughputMode=UNKNOWN))) == ["throughputMode"]


def test_w04_it_is_silent_where_there_is_no_startup_probe() -> None:
    bare = changed(server(1), "spec.template.spec.containers.0.startupProbe", None)
    assert passes(judge("WORK007", *examples.model_cache(), bare))


def test_training_is_not_concerned() -> None:
    job = dataclasses.replace(server(1), type="kubernetes:batch/v1:Job")
    assert not_concerned(judge("WORK007", *examples.model_cache(), job))


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
        "of inference at 125 MiB/s, 594 s to read the model and settle), and progressDeadlineSeconds allows 600 s"
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


# --- other people's servers -------------------------------------------------------------------------------------------

WITH_PROBES = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: mistral}
spec: {accessModes: [ReadWriteOnce], storageClassName: default, resources: {requests: {storage: 50Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mistral}
spec:
  template:
    spec:
      volumes: [{name: cache, persistentVolumeClaim: {claimName: mistral}}]
      containers:
      - name: mistral
        image: vllm/vllm-openai:v0.11.0
        args: ["vllm serve mistralai/Mistral-7B-Instruct-v0.3"]
        resources: {limits: {nvidia.com/gpu: 1}}
        volumeMounts: [{mountPath: /root/.cache/huggingface, name: cache}]
        startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 60}
"""

INJECTED = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: llama}
spec:
  predictor:
    model:
      modelFormat: {name: huggingface}
      args: [--model_name=llama3]
      storageUri: s3://models/llama
      resources: {limits: {nvidia.com/gpu: "1"}}
"""


@pytest.mark.parametrize("manifests", [WITH_PROBES, INJECTED], ids=["vLLM on a claim", "KServe"])
def test_servers_of_public_documentation_are_not_refused(manifests: str) -> None:
    assert judge("WORK007", *objects(manifests)).findings == ()
