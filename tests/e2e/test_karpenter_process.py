from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from eks_gpu.facts import labels, resources
from sandbox.kubernetes import karpenter, nodes
from sandbox.kubernetes.api import Api
from sandbox.kubernetes.node_side.custom_resources import FINALIZER
from tests.e2e import node_manifests as manifests
from tests.e2e.node_manifests import NAMESPACE
from tests.support.cluster import Cluster, eventually
from tests.support.crds import KARPENTER

CLAIMS = ("karpenter.sh/v1", "NodeClaim")
POOLS = ("karpenter.sh/v1", "NodePool")
CLASSES = ("karpenter.k8s.aws/v1", "EC2NodeClass")


@pytest.fixture
def definitions(kube: Api, cluster: Cluster) -> Iterator[None]:
    """Put Karpenter's definitions in, and two system nodes for its pods."""
    for path in sorted((KARPENTER.folder / "pkg" / "apis" / "crds").glob("*.yaml")):
        kube.create(yaml.safe_load(path.read_text(encoding="utf-8")))
    nodes.apply(cluster.plane, manifests.group())
    eventually(lambda: _known(kube), "Karpenter's kinds are known")
    yield
    # What Karpenter alone would let go is let go while it can.
    kube.delete("v1", "Pod", "job", NAMESPACE)
    for kind, name in ((POOLS, "g5"), (CLASSES, "g5")):
        kube.delete(*kind, name)


def _known(kube: Api) -> bool:
    return {"NodeClaim", "NodePool", "EC2NodeClass"} <= {kind.kind for kind in kube.kinds()}


def is_ready(kube: Api, kind: tuple[str, str], name: str) -> bool:
    return nodes.is_ready(kube.get(*kind, name) or {})


def claims(kube: Api) -> list[dict[str, Any]]:
    return kube.list(*CLAIMS)


@pytest.mark.usefixtures("definitions")
def test_karpenter_runs_while_a_pod_of_its_deployment_is_ready(cluster: Cluster, kube: Api) -> None:
    assert not karpenter.answers(cluster.checkout)

    kube.create(manifests.karpenter())
    eventually(lambda: karpenter.answers(cluster.checkout), "Karpenter runs")

    kube.patch(manifests.karpenter(replicas=0))
    eventually(lambda: not karpenter.answers(cluster.checkout), "Karpenter has ended")


@pytest.mark.usefixtures("definitions")
def test_a_node_that_karpenter_buys_is_initialized_by_the_device_plugin(kube: Api) -> None:
    kube.create(manifests.karpenter())
    kube.create(manifests.node_class("g5"))
    eventually(lambda: is_ready(kube, CLASSES, "g5"), "the node class is ready")
    kube.create(manifests.node_pool("g5", "g5"))
    eventually(lambda: is_ready(kube, POOLS, "g5"), "the node pool is ready")
    kube.create(manifests.pod("job", gpus=4))

    eventually(lambda: _waits_for_gpus(kube), "Karpenter waits for the GPUs of a node")
    (bought,) = kube.list("v1", "Node", selector=labels.KARPENTER_NODEPOOL)
    assert bought["metadata"]["labels"][labels.INSTANCE_TYPE] == "g5.12xlarge"
    assert not {resources.GPU} & bought["status"]["allocatable"].keys()
    assert claims(kube)[0]["status"]["capacity"][resources.GPU] == "4"

    kube.create(manifests.sharing_config())
    kube.create(manifests.device_plugin())
    eventually(lambda: nodes.is_ready(claims(kube)[0]), "the claim is ready")
    eventually(lambda: nodes.is_ready(kube.get("v1", "Pod", "job", NAMESPACE) or {}), "the pod runs")


@pytest.mark.usefixtures("definitions")
def test_a_node_class_is_ready_and_goes_only_while_karpenter_runs(cluster: Cluster, kube: Api) -> None:
    kube.create(manifests.node_class("g5"))
    kube.create(manifests.karpenter())
    eventually(lambda: is_ready(kube, CLASSES, "g5"), "the node class is ready")
    assert FINALIZER in (kube.get(*CLASSES, "g5") or {})["metadata"]["finalizers"]

    kube.patch(manifests.karpenter(replicas=0))
    eventually(lambda: not karpenter.answers(cluster.checkout), "Karpenter has ended")
    kube.delete(*CLASSES, "g5")
    kube.create(manifests.node_class("other"))
    assert kube.get(*CLASSES, "g5") is not None

    kube.patch(manifests.karpenter(replicas=1))
    eventually(lambda: kube.get(*CLASSES, "g5") is None, "the node class is gone")
    eventually(lambda: is_ready(kube, CLASSES, "other"), "the other one is ready")
    kube.delete(*CLASSES, "other")
    eventually(lambda: kube.get(*CLASSES, "other") is None, "that one is gone, too")


@pytest.mark.usefixtures("definitions")
def test_karpenter_can_be_run_without_a_release_and_ends_with_the_context(cluster: Cluster) -> None:
    with karpenter.run(cluster.plane) as running:
        assert running.exit_status is None
        assert karpenter.answers(cluster.checkout)
    assert running.exit_status is not None
    assert not karpenter.answers(cluster.checkout)


def _waits_for_gpus(kube: Api) -> bool:
    conditions = [each for claim in claims(kube) for each in claim.get("status", {}).get("conditions", ())]
    return any(each["reason"] == "ResourceNotRegistered" for each in conditions)
