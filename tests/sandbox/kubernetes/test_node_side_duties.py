"""Each duty in a world of a few objects; what it writes is put down. `tests/e2e/test_node_side.py` has the real one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from eks_gpu.facts import gpu_software, labels, resources, storage, versions
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_groups import AMI_ANNOTATION
from sandbox.kubernetes.node_side.custom_resources import CONDITIONS, FINALIZER, ClusterPolicies, NodeClasses
from sandbox.kubernetes.node_side.gpus import Gpus
from sandbox.kubernetes.node_side.terminated import Terminated
from sandbox.kubernetes.node_side.unnoticed import ANNOTATION, Unnoticed
from sandbox.kubernetes.node_side.volumes import Volumes
from sandbox.kubernetes.node_side.world import CLUSTER_POLICIES, NODE_CLAIMS, NODE_CLASSES, World
from sandbox.kubernetes.rest import ApiError, Kind

Object = dict[str, Any]
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


class Objects(list[Object]):
    def by_name(self) -> Mapping[str, Object]:
        return {each["metadata"]["name"]: each for each in self}


class Fake:
    """A world that is its own API server: a list of objects for each kind, and of what was written."""

    def __init__(self, **kinds: list[Object]) -> None:
        self.kinds = {name: Objects(objects) for name, objects in kinds.items()}
        self.written: list[tuple[str, str, Any]] = []
        self.config: Object | None = None
        self.refusal: ApiError | None = None
        self.api = self

    @property
    def world(self) -> World:
        return cast("World", self)

    def of(self, kind: Kind) -> Objects:
        return self.kinds.get(kind.plural, Objects())

    def get(self, kind: Kind, name: str, _: str = "") -> Object | None:
        return self.config if kind == rest.CONFIG_MAPS else self.of(kind).by_name().get(name)

    def create(self, _: Kind, body: Object, __: str = "") -> Object:
        if self.refusal is not None:
            raise self.refusal
        self.written.append(("create", body["metadata"]["name"], body))
        return body

    def patch(self, _: Kind, name: str, body: Object, __: str = "", *, status: bool = False) -> None:
        self.written.append(("status" if status else "patch", name, body))

    def delete(self, _: Kind, name: str, __: str = "", **query: str) -> bool:
        self.written.append(("delete", name, query))
        return True

    def statuses(self) -> list[tuple[str, Any]]:
        return [(name, body["status"]) for verb, name, body in self.written if verb == "status"]


def an(
    name: str,
    *,
    owner: str = "",
    status: Object | None = None,
    spec: Object | None = None,
    **metadata: Any,  # noqa: ANN401 - parts of its metadata
) -> Object:
    owners = {"ownerReferences": [{"kind": owner}]} if owner else {}
    known = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": "1", **owners, **metadata}
    return {"metadata": known, "spec": spec or {}, "status": status or {}}


def gpu_node(name: str = "gpu", *, allocatable: Object | None = None, **metadata: Any) -> Object:  # noqa: ANN401 - as above
    found = an(name, status={**READY, "allocatable": allocatable or {}}, **metadata)
    found["metadata"]["labels"] = {labels.INSTANCE_TYPE: "g5.12xlarge", **metadata.get("labels", {})}
    return found


def plugin(node: str = "gpu", *, label: tuple[str, str] | None = None, **fields: Any) -> Object:  # noqa: ANN401 - as above
    key, value = label or (labels.APP_NAME, versions.NVIDIA_DEVICE_PLUGIN.name)
    spec = {"nodeName": node, "containers": [{"name": "main"}], "volumes": [{"configMap": {"name": "sharing"}}]}
    return {**an(f"plugin-{node}", owner="DaemonSet", status=READY, spec=spec, labels={key: value}), **fields}


def advertised(fake: Fake) -> list[tuple[str, Any]]:
    Gpus().step(fake.world)
    return [(name, status["allocatable"]) for name, status in fake.statuses()]


@pytest.mark.parametrize("label", [None, (labels.APP, gpu_software.OPERATOR_DEVICE_PLUGIN)])
def test_a_ready_plugin_makes_the_gpus_of_its_own_node_known(label: tuple[str, str] | None) -> None:
    fake = Fake(nodes=[gpu_node(), gpu_node("other")], pods=[plugin(label=label)])
    assert advertised(fake) == [("gpu", {resources.GPU: "4"})]


@pytest.mark.parametrize("change", [{"status": {}}, {"metadata": an("x", owner="DaemonSet")["metadata"]}])
def test_a_plugin_that_is_not_ready_and_a_pod_that_is_none_make_nothing_known(change: Object) -> None:
    assert advertised(Fake(nodes=[gpu_node()], pods=[plugin(**change)])) == []


def test_a_node_that_is_not_ready_is_left_alone() -> None:
    node = gpu_node()
    node["status"]["conditions"] = []
    assert advertised(Fake(nodes=[node], pods=[plugin()])) == []


def test_an_image_without_driver_has_no_gpu_and_one_with_a_plugin_of_its_own_needs_none() -> None:
    standard = gpu_node(annotations={AMI_ANNOTATION: "AL2023_x86_64_STANDARD"})
    assert advertised(Fake(nodes=[standard], pods=[plugin()])) == []
    bottlerocket = gpu_node(annotations={AMI_ANNOTATION: "BOTTLEROCKET_x86_64_NVIDIA"})
    assert advertised(Fake(nodes=[bottlerocket])) == [("gpu", {resources.GPU: "4"})]


@pytest.mark.parametrize(("alias", "found"), [("bottlerocket@v1.66.0", True), ("al2023@v20260724", False)])
def test_a_node_of_karpenter_has_a_plugin_of_its_own_if_its_class_says_bottlerocket(alias: str, *, found: bool) -> None:
    class_ = an("g5", spec={"amiSelectorTerms": [{"alias": alias}]})
    fake = Fake(nodes=[gpu_node(labels={labels.EC2_NODE_CLASS: "g5"})], ec2nodeclasses=[class_])
    assert bool(advertised(fake)) is found


def test_adapters_are_made_known_by_their_own_plugin() -> None:
    efa = plugin(label=(labels.NAME, gpu_software.EFA_DEVICE_PLUGIN))
    assert advertised(Fake(nodes=[gpu_node()], pods=[efa])) == [("gpu", {resources.EFA: "1"})]


def test_a_file_is_read_once_for_each_pod_and_one_that_cannot_be_read_makes_the_plugin_fail() -> None:
    fake = Fake(nodes=[gpu_node()], pods=[plugin()])
    fake.config = {"data": {"default": "["}}
    duty = Gpus()
    duty.step(fake.world)
    fake.config = {"data": {"default": "version: v1"}}
    duty.step(fake.world)
    assert fake.statuses() == []
    # Another pod reads it anew.
    fake.kinds["pods"][0]["metadata"]["uid"] = "another"
    duty.step(fake.world)
    assert len(fake.statuses()) == 1
    assert len(duty.configs) == 1


def test_gpus_that_the_label_partitions_are_made_known_as_the_plugin_is_told_to() -> None:
    node = gpu_node(labels={labels.INSTANCE_TYPE: "p4d.24xlarge", labels.MIG_CONFIG: "all-1g.5gb"})
    pod = plugin()
    assert advertised(Fake(nodes=[node], pods=[pod])) == [("gpu", {resources.GPU: "8"})]
    pod["spec"]["containers"].append({"name": "plugin", "env": [{"name": "MIG_STRATEGY", "value": "mixed"}]})
    assert advertised(Fake(nodes=[node], pods=[pod])) == [("gpu", {resources.mig("1g.5gb"): "56"})]


def test_pods_go_with_their_node_and_no_others() -> None:
    gone, there, pending = (an(name, spec={"nodeName": node}) for name, node in (("a", "x"), ("b", "gpu"), ("c", "")))
    fake = Fake(nodes=[gpu_node()], pods=[gone, there, pending])
    Terminated().step(fake.world)
    assert fake.written == [("delete", "a", {"gracePeriodSeconds": "0"})]


@pytest.mark.parametrize(
    ("status", "node", "told"),
    [
        ({"phase": "Pending"}, "gpu", True),
        ({"phase": "Pending", "startTime": "2026-11-21T00:00:00Z"}, "gpu", False),
        ({"phase": "Running"}, "gpu", False),
        ({"phase": "Pending"}, "elsewhere", False),
        ({"phase": "Pending"}, "", False),
    ],
)
def test_a_pod_that_kwok_does_not_start_on_a_ready_node_is_told_of_again(
    status: Object, node: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter((0.0, 1.0, 5.0, 6.0))
    monkeypatch.setattr("sandbox.kubernetes.node_side.unnoticed.time.monotonic", lambda: next(clock))
    fake = Fake(nodes=[gpu_node()], pods=[an("pod", spec={"nodeName": node}, status=status)])
    duty = Unnoticed()
    for _ in range(2):
        duty.step(fake.world)
    assert not fake.written
    for _ in range(2):
        duty.step(fake.world)
    assert [(verb, name, list(body["metadata"]["annotations"])) for verb, name, body in fake.written] == (
        [("patch", "pod", [ANNOTATION])] if told else []
    )


def a_claim(**annotations: str) -> Object:
    spec = {"storageClassName": "disk", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    asked = {storage.PROVISIONER_ANNOTATION: storage.EBS_DRIVER, **annotations}
    return an("claim", spec=spec, annotations=asked)


def a_class(driver: str = storage.EBS_DRIVER, mode: str = "WaitForFirstConsumer") -> Object:
    return {**an("disk"), "provisioner": driver, "volumeBindingMode": mode}


def made(claim: Object, class_: Object) -> list[Object]:
    node = gpu_node(labels={labels.ZONE: "us-east-1b"})
    fake = Fake(nodes=[node], persistentvolumeclaims=[claim], storageclasses=[class_])
    Volumes().step(fake.world)
    return [body for verb, _, body in fake.written if verb == "create"]


def test_a_volume_is_made_where_the_first_pod_goes_once_that_is_known() -> None:
    assert made(a_claim(), a_class()) == []
    assert made(a_claim(**{storage.SELECTED_NODE_ANNOTATION: "gone"}), a_class()) == []
    (volume,) = made(a_claim(**{storage.SELECTED_NODE_ANNOTATION: "gpu"}), a_class())
    assert "us-east-1b" in str(volume["spec"]["nodeAffinity"])


def test_a_volume_is_made_only_by_a_driver_of_ours_that_kubernetes_has_asked() -> None:
    assert len(made(a_claim(), a_class(mode="Immediate"))) == 1
    assert made(a_claim(), a_class("other.csi", "Immediate")) == []
    assert made(a_claim(**{storage.PROVISIONER_ANNOTATION: "other.csi"}), a_class(mode="Immediate")) == []
    bound = a_claim()
    bound["spec"]["volumeName"] = "there"
    assert made(bound, a_class(mode="Immediate")) == []


def test_a_volume_that_somebody_made_first_is_no_problem_and_another_refusal_is_one() -> None:
    claims, classes = [a_claim()], [a_class(mode="Immediate")]
    fake = Fake(persistentvolumeclaims=claims, storageclasses=classes)
    fake.refusal = ApiError(409, "there")
    Volumes().step(fake.world)
    fake.refusal = ApiError(422, "invalid")
    with pytest.raises(ApiError, match="invalid"):
        Volumes().step(fake.world)


@pytest.mark.parametrize(
    ("phase", "policy", "driver", "removed"),
    [
        ("Released", "Delete", storage.EFS_DRIVER, True),
        ("Bound", "Delete", storage.EFS_DRIVER, False),
        ("Released", "Retain", storage.EFS_DRIVER, False),
        ("Released", "Delete", "other.csi", False),
    ],
)
def test_a_volume_goes_when_it_is_given_back_unless_it_is_to_stay(
    phase: str, policy: str, driver: str, *, removed: bool
) -> None:
    annotations = {storage.PROVISIONED_BY_ANNOTATION: driver}
    spec = {"persistentVolumeReclaimPolicy": policy}
    fake = Fake(persistentvolumes=[an("pv", status={"phase": phase}, spec=spec, annotations=annotations)])
    Volumes().step(fake.world)
    assert [verb for verb, _, _ in fake.written] == (["delete"] if removed else [])


def operator(**fields: Any) -> Object:  # noqa: ANN401 - as above
    return {**an("operator", status=READY, labels={labels.APP: gpu_software.OPERATOR}), **fields}


def test_a_policy_is_ready_with_the_operator_and_all_its_operands() -> None:
    policy = an("cluster-policy")
    operand = an("operand", owner="DaemonSet", status=READY)
    other = an("elsewhere", owner="DaemonSet", namespace="other")

    def state(*pods: Object) -> list[str]:
        fake = Fake(**{CLUSTER_POLICIES.plural: [policy], "pods": list(pods)})
        ClusterPolicies().step(fake.world)
        return [status["state"] for _, status in fake.statuses()]

    assert state(operand) == []
    assert state(operator(status={}), operand) == []
    assert state(operator(), operand, other) == ["ready"]
    assert state(operator(), {**operand, "status": {}}) == ["notReady"]
    policy["status"] = {"state": "ready"}
    assert state(operator(), operand) == []


def a_node_class(**metadata: Any) -> Object:  # noqa: ANN401 - as above
    return an("g5", spec={"role": "nodes"}, generation=1, **metadata)


def of_node_classes(node_class: Object, *, runs: bool = True, used: bool = False) -> Fake:
    claims = [an("claim", spec={"nodeClassRef": {"name": "g5"}})] if used else []
    fake = Fake(**{NODE_CLASSES.plural: [node_class], NODE_CLAIMS.plural: claims})
    NodeClasses(lambda: runs).step(fake.world)
    return fake


def test_a_new_node_class_is_held_and_made_ready_while_karpenter_runs() -> None:
    fake = of_node_classes(a_node_class())
    assert ("patch", "g5", {"metadata": {"finalizers": [FINALIZER]}}) in fake.written
    ((_, status),) = fake.statuses()
    assert [each["type"] for each in status["conditions"]] == list(CONDITIONS)
    assert status["instanceProfile"]
    assert of_node_classes(a_node_class(), runs=False).written == []


def test_a_deleted_node_class_goes_when_no_claim_needs_it_and_karpenter_runs() -> None:
    going = a_node_class(finalizers=["other", FINALIZER], deletionTimestamp="2026-11-21T16:00:00Z")
    assert of_node_classes(going).written == [("patch", "g5", {"metadata": {"finalizers": ["other"]}})]
    assert of_node_classes(going, used=True).written == []
    assert of_node_classes(going, runs=False).written == []
