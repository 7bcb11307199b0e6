from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.facts import taints
from eks_gpu.gpu.validation.checks import script_files
from eks_gpu.gpu.validation.manifest import Place, job_name, job_spec, meeting_service_spec
from eks_gpu.gpu.validation.proof import prove
from eks_gpu.settings.gpu_pool import Purpose
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.sharing import Mps, Sharing, TimeSlicing
from eks_gpu.settings.validation import Validation

G5 = NodeGroup(instance_types=("g5.2xlarge",), count=3)
SLICED = G5.model_copy(update={"sharing": Sharing(time_slicing=TimeSlicing(replicas=4))})
FABRIC = NodePool(instance_types=("p4d.24xlarge",), max_gpus=16, purpose=Purpose.TRAINING, efa=True)


def _spec(pool: NodeGroup | NodePool, runtime_class: str | None = "nvidia") -> dict[str, Any]:
    place = Place(
        namespace="gpu-validation",
        selector={"eks.amazonaws.com/nodegroup": "inference-1"},
        taints=(taints.GPU, taints.dedicated("a100")),
        runtime_class_name=runtime_class,
        scripts="gpu-validation-1",
    )
    return job_spec("inference-abc", prove(pool, Validation(), Sharing()), place, 30)


def _pod(pool: NodeGroup | NodePool, runtime_class: str | None = "nvidia") -> dict[str, Any]:
    return dict(_spec(pool, runtime_class)["template"]["spec"])


def _containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["initContainers"], *pod["containers"]]


def _name(pool: NodeGroup | NodePool, *proves: str, validation: Validation | None = None) -> str:
    return job_name("inference", prove(pool, validation or Validation(), Sharing()), proves, "scripts-1")


def test_g08_all_nodes_at_once_and_no_gpu_gets_a_second_chance() -> None:
    spec = _spec(G5)
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["backoffLimit"] == 0
    assert spec["activeDeadlineSeconds"] == 30 * 60
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_g08_a_pod_that_is_evicted_says_nothing_about_a_gpu() -> None:
    [rule] = _spec(G5)["podFailurePolicy"]["rules"]
    assert rule == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def test_g08_a_finished_job_stays_because_the_engine_would_miss_it() -> None:
    assert "ttlSecondsAfterFinished" not in _spec(G5)


def test_g08_each_pod_has_a_node_to_itself() -> None:
    [term] = _pod(G5)["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"] == {"batch.kubernetes.io/job-name": "inference-abc"}


def test_g03_pods_that_share_a_gpu_may_be_on_one_node() -> None:
    pod = _pod(SLICED)
    assert "affinity" not in pod
    assert all(each["resources"]["limits"]["nvidia.com/gpu"] == "1" for each in _containers(pod))


def test_g08_the_checks_run_in_order_and_the_last_one_ends_the_pod() -> None:
    pod = _pod(G5)
    assert [each["name"] for each in pod["initContainers"]] == ["device-count", "vector-add", "diagnostic"]
    assert [each["name"] for each in pod["containers"]] == ["host-bandwidth"]


@pytest.mark.parametrize("pool", [G5, SLICED, FABRIC], ids=["exclusive", "shared", "fabric"])
def test_w01_every_container_asks_whole_gpus_as_request_and_limit(pool: NodeGroup | NodePool) -> None:
    for container in _containers(_pod(pool)):
        wanted = container["resources"]
        assert wanted["requests"] == wanted["limits"]
        assert int(wanted["limits"]["nvidia.com/gpu"]) >= 1
        assert "memory" in wanted["limits"]


def test_g08_what_a_check_says_last_is_what_the_failure_shows() -> None:
    assert {each["terminationMessagePolicy"] for each in _containers(_pod(G5))} == {"FallbackToLogsOnError"}


@pytest.mark.parametrize("pool", [G5, FABRIC], ids=["exclusive", "fabric"])
def test_no_check_is_privileged_and_only_dcgm_is_root(pool: NodeGroup | NodePool) -> None:
    for container in _containers(_pod(pool)):
        security = container["securityContext"]
        assert "privileged" not in security
        assert "add" not in security.get("capabilities", {})
        assert security["allowPrivilegeEscalation"] is False
        assert (security["runAsUser"] == 0) == ("/dcgm:" in container["image"])


def test_the_pods_see_nothing_of_the_cluster() -> None:
    pod = _pod(G5)
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]


def test_they_run_on_the_nodes_of_their_pool_whatever_keeps_others_off() -> None:
    pod = _pod(G5)
    assert pod["nodeSelector"] == {"eks.amazonaws.com/nodegroup": "inference-1"}
    assert [each["key"] for each in pod["tolerations"]] == ["nvidia.com/gpu", "gpu-type"]


def test_karpenter_leaves_their_node_alone() -> None:
    annotations = _spec(G5)["template"]["metadata"]["annotations"]
    assert annotations == {"karpenter.sh/do-not-disrupt": "true"}


def test_g01_the_runtime_class_is_named_on_the_plain_path_and_not_on_the_operators() -> None:
    assert _pod(G5)["runtimeClassName"] == "nvidia"
    assert "runtimeClassName" not in _pod(G5, runtime_class=None)


def test_w05_pytorch_has_shared_memory_within_its_limit() -> None:
    pod = _pod(FABRIC)
    [shared] = [volume["emptyDir"] for volume in pod["volumes"] if volume["name"] == "shared-memory"]
    assert shared == {"medium": "Memory", "sizeLimit": "1Gi"}
    mount = {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108 - the container's own
    has_it = {each["name"] for each in _containers(pod) if mount in each["volumeMounts"]}
    assert {each["name"] for each in _containers(pod)} - has_it == {"device-count", "vector-add"}
    assert {"all-reduce-node", "all-reduce-nodes"} <= has_it


def test_g03_a_pod_with_a_share_hides_nothing_that_the_device_plugin_mounts_for_mps() -> None:
    limited = G5.model_copy(update={"sharing": Sharing(mps=Mps(replicas=4))})
    paths = {mount["mountPath"] for each in _containers(_pod(limited)) for mount in each["volumeMounts"]}
    assert paths == {"/checks", "/tmp"}  # noqa: S108 - a volume of the pod


def test_g09_the_pods_find_the_first_of_them_before_they_are_ready() -> None:
    pod = _pod(FABRIC)
    last = pod["containers"][0]
    told = {each["name"]: each.get("value", each.get("valueFrom")) for each in last["env"]}
    service = meeting_service_spec("inference-abc")
    assert pod["subdomain"] == "inference-abc"
    assert told["MEETING"] == "inference-abc-0.inference-abc"
    assert "job-completion-index" in told["RANK"]["fieldRef"]["fieldPath"]
    assert last["resources"]["limits"]["vpc.amazonaws.com/efa"] == "4"
    assert service["publishNotReadyAddresses"] is True
    assert service["clusterIP"] == "None"


def test_a_pod_that_meets_nobody_needs_no_name() -> None:
    assert "subdomain" not in _pod(G5)


@pytest.mark.parametrize(
    "other",
    [
        _name(G5, "image v2"),
        _name(SLICED, "image v1"),
        _name(SLICED.model_copy(update={"sharing": Sharing(time_slicing=TimeSlicing(replicas=5))}), "image v1"),
        _name(G5, "image v1", validation=Validation(bandwidth=False)),
        _name(G5, "image v1", validation=Validation(diagnostic_level=2)),
    ],
    ids=["image", "sharing", "replicas", "fewer checks", "level"],
)
def test_n07_there_is_a_new_job_when_there_is_something_new_to_prove(other: str) -> None:
    assert other != _name(G5, "image v1")


def test_n07_there_is_none_when_only_the_number_of_nodes_changes() -> None:
    assert _name(G5.model_copy(update={"count": 9}), "image v1") == _name(G5, "image v1")


def test_the_longest_name_of_a_pool_leaves_room_for_the_pods() -> None:
    name = job_name("p" * 40, prove(G5, Validation(), Sharing()), (), "scripts-1")
    assert len(f"{name}-123") <= 63


def test_every_container_runs_a_script_that_is_there() -> None:
    files = script_files().files
    for pool in (G5, SLICED, FABRIC):
        for container in _containers(_pod(pool)):
            shell, script = container["command"]
            assert shell == "sh"
            assert script.removeprefix("/checks/") in files
