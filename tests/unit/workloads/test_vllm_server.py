from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.facts import images
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.labels import ZONE
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.planning.offer import Offer
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split
from eks_gpu.planning.start_up import StartUpBudget
from eks_gpu.recording import RecordedResource, Recording, record
from eks_gpu.settings.workloads import Vllm
from eks_gpu.storage.model_cache import CacheClaim
from eks_gpu.workloads.server_manifest import ServerPlan, pod_spec
from eks_gpu.workloads.vllm_server import VllmServer, VllmServerArgs, vllm
from tests.support.clusters import cluster

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SERVICE = "kubernetes:core/v1:Service"
BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
ELASTIC = 500 * 2**20
BLOCK: dict[str, object] = {"model": "Qwen/Qwen2.5-7B-Instruct", "gpu_types": ("a10g", "l4")}


def server(**block: object) -> Vllm:
    return Vllm.model_validate({**BLOCK, **block})


def software(
    *ready: pulumi.Resource, runtime_class: str | None = None, resource: str = "nvidia.com/gpu", shared: bool = False
) -> GpuSoftware:
    return GpuSoftware(
        ready=ready,
        gpu_resource=resource,
        shared=shared,
        runtime_class_name=runtime_class,
        owns_exporter=False,
        namespace="nvidia",
    )


def build(
    settings: Vllm | None = None,
    *,
    outputs: bool = False,
    runtime_class: str | None = None,
    name: str = "chat",
    previously: tuple[str, ...] = (),
) -> Recording:
    def program() -> None:
        plugin, claim, namespace = (k8s.core.v1.ConfigMap(name) for name in ("plugin", "claim", "namespace"))
        cache = pulumi.Output.from_input("cache") if outputs else "cache"
        args = VllmServerArgs(
            settings=settings or server(),
            cluster=cluster(outputs=outputs),
            namespace=pulumi.Output.from_input("inference") if outputs else "inference",
            gpu_software=software(plugin, runtime_class=runtime_class),
            cache=CacheClaim(claim_name=cache, read_bytes_per_second=ELASTIC, ready=(claim,)),
            previously=previously,
            after=[namespace],
        )
        pulumi.export("url", VllmServer(name, args).url)

    return record(program)


def start_up(settings: Vllm, throughput_mibps: int) -> StartUpBudget:
    cache = CacheClaim(claim_name="cache", read_bytes_per_second=ELASTIC)
    return ServerPlan(
        name="chat",
        server=settings,
        program=vllm(settings, cache),
        gpu_software=software(),
        cache=cache,
        volume_throughput_mibps=throughput_mibps,
    ).budget


def pod(recording: Recording) -> Mapping[str, Any]:
    template: Mapping[str, Any] = recording.one(DEPLOYMENT)["spec"]["template"]["spec"]
    return template


def container(recording: Recording) -> Mapping[str, Any]:
    [only] = pod(recording)["containers"]
    found: Mapping[str, Any] = only
    return found


def variables(recording: Recording) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container(recording)["env"] if "value" in entry}


@pytest.mark.parametrize("outputs", [False, True])
def test_s02_servers_come_after_the_bound_claim_the_gpu_software_and_the_namespace(*, outputs: bool) -> None:
    recording = build(outputs=outputs)
    deployment = recording.one(DEPLOYMENT)
    for name in ("plugin", "claim", "namespace"):
        assert recording.named(name).urn in deployment.dependencies


def test_w01_gpus_are_asked_for_whole_and_equal() -> None:
    resources = container(build(server(gpus=2)))["resources"]
    assert resources["requests"]["nvidia.com/gpu"] == resources["limits"]["nvidia.com/gpu"] == "2"


def test_w02_the_pod_selects_its_gpu_models_by_labels_that_are_there_before_the_node() -> None:
    required = pod(build())["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    [term] = required["nodeSelectorTerms"]
    assert {expression["key"]: expression["values"] for expression in term["matchExpressions"]} == {
        "gpu-type": ["a10g", "l4"],
        "workload": ["inference", "development"],
    }


def test_w03_shared_memory_is_there_and_below_the_memory_limit() -> None:
    recording = build()
    assert container(recording)["resources"]["limits"]["memory"] == "16Gi"
    [memory] = [volume for volume in pod(recording)["volumes"] if volume.get("emptyDir", {}).get("medium") == "Memory"]
    assert memory["emptyDir"]["sizeLimit"] == "8Gi"


def test_w04_the_startup_probe_covers_the_download_and_nothing_delays_readiness() -> None:
    found = container(build())
    probe = found["startupProbe"]
    allowed = probe["initialDelaySeconds"] + probe["periodSeconds"] * (probe["failureThreshold"] - 1)
    assert allowed >= 2 * 14 * 10**9 / (100 * 10**6) + 60
    assert probe["httpGet"] == {"path": "/health", "port": "http"}
    assert "initialDelaySeconds" not in found["readinessProbe"]
    assert "initialDelaySeconds" not in found["livenessProbe"]


def test_w04_140_gb_from_the_cache_get_sixty_tries() -> None:
    large = server(model="meta-llama/Llama-3.1-70B-Instruct", gpus=8, offline=True)
    assert container(build(large))["startupProbe"]["failureThreshold"] == 60


def test_w04_kubernetes_and_pulumi_wait_as_long_as_a_first_start_takes() -> None:
    large = server(model="meta-llama/Llama-3.1-70B-Instruct", gpus=8, image_size_gb=60)
    deployment = build(large).one(DEPLOYMENT)
    deadline = deployment["spec"]["progressDeadlineSeconds"]
    assert deadline >= start_up(large, 500).rollout_seconds > 600
    assert deployment.options.custom_timeouts["create"] == f"{deadline + 60}s"


def test_w04_pulumi_waits_for_one_pod_after_another_where_they_cannot_overlap() -> None:
    one_by_one = build(server(replicas=3)).one(DEPLOYMENT)
    wait = one_by_one["spec"]["progressDeadlineSeconds"] + 60
    assert one_by_one.options.custom_timeouts["update"] == f"{3 * wait}s"
    overlapping = build(server(replicas=3, spare_gpus=1)).one(DEPLOYMENT)
    assert overlapping.options.custom_timeouts["update"] == f"{wait}s"


def test_w04_a_slower_node_volume_makes_the_rollout_wait_longer() -> None:
    assert start_up(server(), 125).rollout_seconds > start_up(server(), 500).rollout_seconds


def test_w05_models_are_kept_on_the_cache() -> None:
    recording = build()
    [mount] = [mount for mount in container(recording)["volumeMounts"] if mount["name"] == "model-cache"]
    assert variables(recording)["HF_HOME"].startswith(mount["mountPath"] + "/")
    [volume] = [volume for volume in pod(recording)["volumes"] if volume["name"] == "model-cache"]
    assert volume["persistentVolumeClaim"]["claimName"] == "cache"


def test_w05_the_first_server_fills_the_cache_unless_it_is_offline() -> None:
    online, offline = build(), build(server(offline=True))
    assert "HF_HUB_OFFLINE" not in variables(online)
    assert variables(offline)["HF_HUB_OFFLINE"] == "1"
    for recording, read_only in ((online, False), (offline, True)):
        [mount] = [mount for mount in container(recording)["volumeMounts"] if mount["name"] == "model-cache"]
        assert mount["readOnly"] is read_only


def test_w05_a_rolling_update_does_not_wait_for_a_gpu_that_nobody_frees() -> None:
    def strategy(settings: Vllm) -> Any:  # noqa: ANN401 - inputs are JSON-like
        return build(settings).one(DEPLOYMENT)["spec"]["strategy"]["rollingUpdate"]

    assert strategy(server()) == {"maxSurge": 0, "maxUnavailable": 1}
    assert strategy(server(spare_gpus=1)) == {"maxSurge": 1, "maxUnavailable": 0}


def test_w07_cpu_and_memory_grow_with_the_gpus() -> None:
    requests = container(build(server(gpus=4, cpu_per_gpu=6)))["resources"]["requests"]
    assert requests["cpu"] == "24000m"
    assert requests["memory"] == "64Gi"


def test_w09_two_replicas_get_a_disruption_budget_that_lets_one_go() -> None:
    recording = build(server(replicas=2))
    budget = recording.one(BUDGET)["spec"]
    assert budget["maxUnavailable"] == 1
    labels = recording.one(DEPLOYMENT)["spec"]["template"]["metadata"]["labels"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()


def test_w09_servers_that_are_not_ready_do_not_hold_the_drain_of_their_nodes() -> None:
    assert build(server(replicas=2)).one(BUDGET)["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_w09_a_single_replica_gets_none_because_it_would_block_every_drain() -> None:
    assert build().of_type(BUDGET) == ()


def test_w09_several_replicas_wish_to_be_in_several_zones() -> None:
    (constraint,) = pod(build(server(replicas=2)))["topologySpreadConstraints"]
    assert constraint["topologyKey"] == ZONE


def test_n09_a_single_replica_has_no_wish_that_would_make_karpenter_choose_a_zone_before_a_price() -> None:
    assert "topologySpreadConstraints" not in pod(build(server(replicas=1)))


def test_n08_the_image_is_pulled_ahead_only_on_request() -> None:
    assert build().of_type(DAEMON_SET) == ()


def test_n08_every_node_that_a_server_may_run_on_pulls_its_image_as_soon_as_it_joins() -> None:
    recording = build(server(prefetch=True))
    template = recording.one(DAEMON_SET)["spec"]["template"]["spec"]

    (image,) = template["initContainers"]
    assert (image["image"], image["command"]) == (images.VLLM.reference, ["/bin/true"])
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    assert template["affinity"] == {"nodeAffinity": {required: pod(recording)["affinity"]["nodeAffinity"][required]}}
    assert template["tolerations"] == pod(recording)["tolerations"]


def test_n08_pulling_ahead_takes_no_gpu_and_is_nobodys_server() -> None:
    recording = build(server(prefetch=True))
    prefetch = recording.one(DAEMON_SET)

    assert not any("nvidia.com" in name for box in _boxes(prefetch) for name in box["resources"]["requests"])
    assert prefetch["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    carried = prefetch["spec"]["template"]["metadata"]["labels"]
    assert not recording.one(SERVICE)["spec"]["selector"].items() <= carried.items()
    assert "workload" not in carried


def _boxes(workload: RecordedResource) -> list[Mapping[str, Any]]:
    spec = workload["spec"]["template"]["spec"]
    return [*spec["initContainers"], *spec["containers"]]


def test_w10_the_image_is_pinned() -> None:
    assert container(build())["image"] == images.VLLM.reference
    own = "mirror.example/vllm:v0.28.0"
    assert container(build(server(image=own)))["image"] == own


def test_w14_the_service_is_reachable_from_inside_only() -> None:
    recording = build()
    service = recording.one(SERVICE)
    assert service["spec"]["type"] == "ClusterIP"
    labels = recording.one(DEPLOYMENT)["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert recording.exports["url"] == "http://chat.inference:8000"


def test_the_pod_says_what_kind_of_work_it_is() -> None:
    assert build().one(DEPLOYMENT)["spec"]["template"]["metadata"]["labels"]["workload"] == "inference"


def test_the_pod_declares_what_a_start_has_to_move() -> None:
    assert build().one(DEPLOYMENT)["spec"]["template"]["metadata"]["annotations"] == {
        "eks-gpu.io/model-bytes": str(14 * 10**9),
        "eks-gpu.io/image-bytes": str(images.VLLM.size_bytes),
    }


def test_the_selector_matches_the_pods_and_two_servers_do_not_mix() -> None:
    spec = build().one(DEPLOYMENT)["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert spec["selector"]["matchLabels"]["app.kubernetes.io/instance"] == "chat"


def test_vllm_serves_the_model_on_all_its_gpus() -> None:
    found = container(build(server(gpus=2, max_model_len=8192)))
    assert found["command"] == ["vllm", "serve"]
    assert found["args"] == [
        "Qwen/Qwen2.5-7B-Instruct",
        "--port",
        "8000",
        "--tensor-parallel-size",
        "2",
        "--gpu-memory-utilization",
        "0.9",
        "--max-model-len",
        "8192",
    ]


def test_a_licensed_models_token_is_a_reference_to_a_secret() -> None:
    licensed = build(server(hf_token_secret="hub"))  # noqa: S106 - the name of a Secret
    [entry] = [entry for entry in container(licensed)["env"] if entry["name"] == "HF_TOKEN"]
    assert entry == {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
    assert "HF_TOKEN" not in {entry["name"] for entry in container(build())["env"]}


def test_the_server_is_not_confused_by_the_variables_of_a_service_called_vllm() -> None:
    assert pod(build())["enableServiceLinks"] is False


def test_the_pod_gets_no_credentials_of_the_cluster() -> None:
    assert pod(build())["automountServiceAccountToken"] is False


def test_everything_it_writes_beside_the_cache_has_a_volume() -> None:
    recording = build()
    assert container(recording)["securityContext"]["readOnlyRootFilesystem"] is True
    mounts = [mount["mountPath"] for mount in container(recording)["volumeMounts"]]
    folders = [value for name, value in variables(recording).items() if value.startswith("/") and name != "HF_HOME"]
    assert folders
    assert all(any(folder == mount or folder.startswith(f"{mount}/") for mount in mounts) for folder in folders)


def test_a_pod_that_goes_drains_first_and_within_a_spot_interruption() -> None:
    recording = build()
    drain = container(recording)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 0 < drain < pod(recording)["terminationGracePeriodSeconds"] < 120


def test_g01_the_runtime_class_is_named_where_there_is_one_of_ours() -> None:
    assert "runtimeClassName" not in pod(build())
    assert pod(build(runtime_class="nvidia"))["runtimeClassName"] == "nvidia"


def test_g03_more_than_one_share_of_a_gpu_is_refused() -> None:
    def program() -> None:
        args = VllmServerArgs(
            settings=server(gpus=2),
            cluster=cluster(),
            namespace="",
            gpu_software=software(shared=True),
            cache=CacheClaim(claim_name="cache", read_bytes_per_second=0),
        )
        VllmServer("chat", args)

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(program)
    refused_by = "the device plugin refuses them"
    assert str(refused.value).splitlines() == [
        "chat has 3 bad arguments:",
        "  namespace: is missing; give the value or the Output that will hold it",
        f"  settings.gpus: 2 shares of GPUs are not 2 GPUs, and {refused_by}; ask for 1, or do not share GPUs",
        "  cache.read_bytes_per_second: 0 is no speed; give the bytes that one server can read in a second",
    ]


def test_names_and_parents_are_stable() -> None:
    recording = build(server(replicas=2))
    component = recording.one("eks-gpu:index:VllmServer")
    assert {child.name for child in recording.children(component)} == {
        "chat-deployment",
        "chat-service",
        "chat-disruption-budget",
    }


def test_a_renamed_server_keeps_its_objects_and_its_url() -> None:
    before, after = build(server(replicas=2)), build(server(replicas=2), name="talk", previously=("chat",))

    for kind in (DEPLOYMENT, SERVICE, BUDGET):
        assert after.one(kind).inputs == before.one(kind).inputs
    assert after.exports == before.exports
    assert after.one("eks-gpu:index:VllmServer").options.aliases == ("chat",)


def offering(gpu_type: str, split: Split, *, strategy: str = "mixed") -> GpuSoftware:
    kind = CATALOGUE["p4d.24xlarge"]
    offer = Offer(pool="pool", gpu_type=gpu_type, types=(kind,), split=split)
    return replace(software(), offers=(offer,), mig_strategy=strategy)


def plan(settings: Vllm, gpus: GpuSoftware) -> ServerPlan:
    cache = CacheClaim(claim_name="cache", read_bytes_per_second=ELASTIC)
    return ServerPlan(
        name="chat",
        server=settings,
        program=vllm(settings, cache),
        gpu_software=gpus,
        cache=cache,
        volume_throughput_mibps=500,
    )


@pytest.mark.parametrize(("strategy", "resource"), [("mixed", "nvidia.com/mig-3g.20gb"), ("single", "nvidia.com/gpu")])
def test_g04_a_server_on_a_partition_asks_for_it_on_partitioned_nodes_only(strategy: str, resource: str) -> None:
    gpus = offering("a100-mig", Partitions("all-3g.20gb", strategy), strategy=strategy)
    spec = pod_spec(plan(server(gpu_types=("a100",), mig_profile="3g.20gb"), gpus))
    assert spec["containers"][0]["resources"]["limits"][resource] == "1"
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"][0]["matchExpressions"][0] == {
        "key": "gpu-type",
        "operator": "In",
        "values": ["a100-mig"],
    }


def test_a_server_asks_by_the_name_that_its_pools_advertise() -> None:
    on_a100 = server(gpu_types=("a100",))
    renamed = offering("a100", Shares(2, "nvidia.com/gpu.shared"))
    assert plan(on_a100, renamed).gpu_resource == "nvidia.com/gpu.shared"
    assert plan(on_a100, offering("a100", None)).gpu_resource == "nvidia.com/gpu"
    # Pools that the software was not told of share as the platform does.
    assert (
        plan(server(), replace(renamed, gpu_resource="nvidia.com/gpu.shared")).gpu_resource == "nvidia.com/gpu.shared"
    )


def test_several_gpus_are_refused_only_where_a_pool_of_the_server_shares_them() -> None:
    several = server(gpu_types=("a100",), gpus=2)

    def run(gpus: GpuSoftware) -> Recording:
        def program() -> None:
            claim = CacheClaim(claim_name="cache", read_bytes_per_second=ELASTIC)
            VllmServer(
                "chat",
                VllmServerArgs(
                    settings=several, cluster=cluster(), namespace="inference", gpu_software=gpus, cache=claim
                ),
            )

        return record(program)

    assert run(offering("a100", None)).one(DEPLOYMENT).name == "chat-deployment"
    with pytest.raises(pulumi.InputPropertiesError, match="2 shares of GPUs are not 2 GPUs"):
        run(offering("a100", Shares(2)))
