"""WORK007: the budget covers the start."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from eks_gpu.facts import storage
from eks_gpu.facts.images import GB
from eks_gpu.planning.reading import need
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes
from tests.support.objects import objects
from tests.support.starting import MODEL, POOL, SMALL_IMAGE, declared, on, patient, probe, server


def test_w04_140_gb_from_an_elastic_file_system_need_594_seconds() -> None:
    assert passes(on(server(60), *examples.model_cache()))
    message = complaint(on(server(30), *examples.model_cache()))
    assert message == (
        "container server needs 594 s to start (2 x 267 s to read 140 GB from the elastic file system models at "
        "500 MiB/s, 60 s to settle), and its startup probe allows 305 s (15 + 10 x 29)"
    )
    (finding,) = on(server(30), *examples.model_cache()).findings
    assert finding.fix == (
        "set failureThreshold of the startup probe to 59 at least, as VllmServer does, or read the model from a faster "
        "file system"
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


def test_w04_who_gives_its_pods_a_probe_of_its_own_is_not_judged_by_kubernetes_defaults() -> None:
    spec = {"containers": [examples.container(args=["--model", MODEL], startupProbe=None)]}
    groups = [{"groupName": "gpu", "replicas": 1, "template": {"spec": spec}}]
    props = {"metadata": {"name": "llm"}, "spec": {"rayClusterConfig": {"workerGroupSpecs": groups}}}
    service = examples.resource("kubernetes:ray.io/v1:RayService", "llm", props)
    assert passes(judge("WORK007", *POOL, service))


def test_training_is_not_concerned() -> None:
    job = dataclasses.replace(server(1), type="kubernetes:batch/v1:Job")
    assert not_concerned(judge("WORK007", *examples.model_cache(), job))


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
