"""New nodes that stay closed until their GPUs are proven: the gate's program and rights, before the real API server.

Pods become ready here by themselves, so this proves what happens to a node when its checks have passed, and nothing
about the checks.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eks_gpu.facts import labels, namespaces, resources, taints
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.validation import new_nodes
from eks_gpu.gpu.validation.node_gate import NodeGate, NodeGateArgs
from eks_gpu.gpu.validation.node_gate_program import Gate, InCluster, Memory, gate_of, step
from eks_gpu.recording import record
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation
from sandbox.kubernetes import nodes
from sandbox.kubernetes.api import Api
from tests.e2e import node_manifests
from tests.support import clusters
from tests.support.cluster import Cluster, eventually
from tests.support.manifests import Manifest, manifests

POOL = NodePool(instance_types=("g5.12xlarge",), max_gpus=8, validate_new_nodes=True)
PARTS = ("Namespace", "ConfigMap", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")


def _emitted() -> list[Manifest]:
    def program() -> None:
        software = GpuSoftware(
            ready=(),
            gpu_resource=resources.GPU,
            shared=False,
            runtime_class_name=None,
            owns_exporter=True,
            namespace=namespaces.GPU_OPERATOR,
        )
        args = NodeGateArgs(
            settings=Validation(), cluster=clusters.cluster(), gpu_software=software, pools={"g5": POOL}
        )
        NodeGate("gate", args)

    found = manifests(record(program))
    first = [each for kind in PARTS for each in found if each["kind"] == kind]
    return [*first, *(each for each in found if each["kind"] not in PARTS)]


def _closed_group() -> Any:  # noqa: ANN401 - a shape, as the sandbox has them
    """Return a group of one node as Karpenter's pool would start it."""
    return node_manifests.gpu_group(
        labels={
            **labels.pool_labels("a10g", "inference"),
            labels.KARPENTER_NODEPOOL: "g5",
            labels.INSTANCE_GPU_COUNT: "4",
        },
        taints=(taints.GPU.eks(), taints.NOT_VALIDATED.eks()),
    )


def _gate(emitted: list[Manifest]) -> Gate:
    [deployment] = [each for each in emitted if each["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return gate_of({each["name"]: each["value"] for each in container["env"]})


def _as_the_gate(cluster: Cluster, folder: Path) -> InCluster:
    """Return the way to the API server that the gate's pod has: with the token of its service account."""
    plane = cluster.plane
    (folder / "ca.crt").write_bytes(base64.b64decode(plane.certificate_authority))
    path = f"/api/v1/namespaces/{namespaces.NODE_VALIDATION}/serviceaccounts/{new_nodes.GATE}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    request = urllib.request.Request(  # noqa: S310 - the sandbox's own address
        plane.endpoint + path,
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {plane.token}", "Content-Type": "application/json"},
    )
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    with urllib.request.urlopen(request, context=context, timeout=15) as answer:  # noqa: S310 - the same
        (folder / "token").write_text(json.load(answer)["status"]["token"])
    return InCluster(plane.endpoint, folder)


@pytest.fixture
def emitted(kube: Api) -> list[Manifest]:
    found = _emitted()
    for each in found:
        kube.create(each)
    return found


def _node(kube: Api) -> Mapping[str, Any]:
    [node] = kube.list("v1", "Node", selector=labels.KARPENTER_NODEPOOL)
    return node


def _taints(node: Mapping[str, Any]) -> set[str]:
    return {each["key"] for each in node["spec"].get("taints", ())}


def _checking(kube: Api) -> list[dict[str, Any]]:
    selector = f"{labels.APP_NAME}={new_nodes.CHECKING}"
    return kube.list("v1", "Pod", namespaces.NODE_VALIDATION, selector=selector)


def test_n07_a_new_node_opens_when_its_checks_have_passed_and_they_leave_it(
    cluster: Cluster, kube: Api, emitted: list[Manifest], tmp_path: Path
) -> None:
    api, gate = _as_the_gate(cluster, tmp_path), _gate(emitted)
    nodes.apply(cluster.plane, _closed_group())
    assert taints.NOT_VALIDATED.key in _taints(_node(kube))
    eventually(lambda: [pod for pod in _checking(kube) if nodes.is_ready(pod)], "the checks run on the closed node")

    [line] = step(api, gate, Memory(), time.time())

    assert line.endswith("opened, its GPUs are proven")
    opened = _node(kube)
    assert _taints(opened) == {taints.GPU.key}
    assert opened["metadata"]["labels"][labels.VALIDATED] == "true"
    eventually(lambda: not _checking(kube), "the checks have left the node")
    assert step(api, gate, Memory(), time.time()) == []


def test_n07_the_gates_rights_are_enough_to_give_a_node_back_and_no_more(
    cluster: Cluster, emitted: list[Manifest], tmp_path: Path
) -> None:
    api = _as_the_gate(cluster, tmp_path)
    assert emitted
    answers = {}
    for verb, path in (
        ("DELETE", "/apis/karpenter.sh/v1/nodeclaims/gone"),
        ("DELETE", "/api/v1/nodes/gone"),
        ("GET", "/api/v1/secrets"),
        ("GET", f"/api/v1/namespaces/{namespaces.KUBE_SYSTEM}/pods"),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            api.call(verb, path)
        answers[path] = refused.value.code
        refused.value.close()
    # What it may do is not there; what it may not do is forbidden.
    assert list(answers.values()) == [404, 403, 403, 403]
