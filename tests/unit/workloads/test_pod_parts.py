from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import servers
from eks_gpu.planning.start_up import StartUpProbe
from eks_gpu.storage.model_cache import USER_ID, CacheClaim
from eks_gpu.workloads import pod_parts

CACHE = CacheClaim(claim_name="cache", read_bytes_per_second=1.0)


def volumes(shared_memory_gib: int = 8, *, read_only: bool = True) -> pod_parts.Volumes:
    return pod_parts.server_volumes(CACHE, shared_memory_gib=shared_memory_gib, cache_read_only=read_only)


@given(gpus=st.integers(min_value=1, max_value=8), cpu=st.floats(min_value=1, max_value=96), memory=st.integers(1, 999))
def test_w01_gpus_are_whole_and_requested_as_they_are_limited(gpus: int, cpu: float, memory: int) -> None:
    resources = pod_parts.gpu_resources("nvidia.com/gpu", gpus, cpu=cpu, memory_gib=memory)
    requests, limits = resources["requests"], resources["limits"]
    assert requests["nvidia.com/gpu"] == limits["nvidia.com/gpu"] == str(gpus)
    assert requests["memory"] == limits["memory"] == f"{memory}Gi"
    assert requests["cpu"] == f"{round(cpu * 1000)}m"
    assert "cpu" not in limits


def test_w01_a_share_is_asked_for_by_its_own_name() -> None:
    resources = pod_parts.gpu_resources("nvidia.com/gpu.shared", 1, cpu=4, memory_gib=16)
    assert resources["limits"] == {"nvidia.com/gpu.shared": "1", "memory": "16Gi"}


def test_w02_other_gpu_models_are_excluded_and_the_first_is_preferred() -> None:
    affinity = pod_parts.node_affinity(("l4", "a10g"))["nodeAffinity"]
    assert affinity["requiredDuringSchedulingIgnoredDuringExecution"] == {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "gpu-type", "operator": "In", "values": ["l4", "a10g"]},
                    {"key": "workload", "operator": "In", "values": ["inference", "development"]},
                ]
            }
        ]
    }
    preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [term["preference"]["matchExpressions"][0]["values"] for term in preferred] == [["l4"], ["a10g"]]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=30, unique=True))
def test_w02_weights_fall_and_stay_within_what_kubernetes_takes(gpu_types: list[str]) -> None:
    affinity = pod_parts.node_affinity(gpu_types)["nodeAffinity"]
    weights = [term["weight"] for term in affinity["preferredDuringSchedulingIgnoredDuringExecution"]]
    assert weights == sorted(weights, reverse=True)
    assert all(1 <= weight <= 100 for weight in weights)


def test_w02_a_server_tolerates_gpu_pools_and_those_dedicated_to_its_models_only() -> None:
    assert pod_parts.tolerations(("a100",)) == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "gpu-type", "operator": "Equal", "value": "a100", "effect": "NoSchedule"},
    ]


@given(st.integers(min_value=1, max_value=512))
def test_w03_shared_memory_is_kept_in_memory_and_limited(gib: int) -> None:
    parts = volumes(gib)
    [mount] = [mount for mount in parts.mounts if mount["mountPath"] == "/dev/shm"]  # noqa: S108 - in the container
    [volume] = [volume for volume in parts.volumes if volume["name"] == mount["name"]]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": f"{gib}Gi"}


def test_every_mount_has_its_volume() -> None:
    parts = volumes()
    assert {mount["name"] for mount in parts.mounts} == {volume["name"] for volume in parts.volumes}


def test_w05_an_offline_server_cannot_write_to_the_cache() -> None:
    def read_only(parts: pod_parts.Volumes) -> tuple[Any, Any]:
        [mount] = [mount for mount in parts.mounts if mount["mountPath"] == "/models"]
        [volume] = [volume for volume in parts.volumes if volume["name"] == mount["name"]]
        assert volume["persistentVolumeClaim"]["claimName"] == "cache"
        return mount["readOnly"], volume["persistentVolumeClaim"]["readOnly"]

    assert read_only(volumes(read_only=True)) == (True, True)
    assert read_only(volumes(read_only=False)) == (False, False)


def test_w04_the_startup_probe_waits_and_the_others_do_not_delay() -> None:
    start_up = StartUpProbe(initial_delay_seconds=15, period_seconds=10, failure_threshold=60)
    probes = pod_parts.probes(servers.TRITON, start_up)
    assert probes["startupProbe"] == {
        "httpGet": {"path": "/v2/health/ready", "port": "http"},
        "initialDelaySeconds": 15,
        "periodSeconds": 10,
        "failureThreshold": 60,
        "timeoutSeconds": 5,
    }
    assert probes["readinessProbe"]["httpGet"]["path"] == "/v2/health/ready"
    assert probes["livenessProbe"]["httpGet"]["path"] == "/v2/health/live"
    assert "initialDelaySeconds" not in probes["readinessProbe"]
    assert "initialDelaySeconds" not in probes["livenessProbe"]


def test_pods_satisfy_the_restricted_level() -> None:
    assert pod_parts.pod_security() == {
        "runAsNonRoot": True,
        "runAsUser": USER_ID,
        "runAsGroup": USER_ID,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod_parts.container_security() == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_replicas_are_spread_over_zones_by_wish_only() -> None:
    [constraint] = pod_parts.spread_over_zones({"app.kubernetes.io/name": "x"})
    assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
    assert constraint["topologyKey"] == "topology.kubernetes.io/zone"
    assert constraint["labelSelector"] == {"matchLabels": {"app.kubernetes.io/name": "x"}}
