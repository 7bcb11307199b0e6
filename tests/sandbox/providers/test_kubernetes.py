from __future__ import annotations

import pytest

from sandbox.providers.kubernetes.provider import RELEASE, Kubernetes
from sandbox.providers.naming import NameRequest
from sandbox.providers.schema import Failure
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import UNKNOWN, Properties

NAME = NameRequest("g5", b"seed")
NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
PATCH = "kubernetes:core/v1:NamespacePatch"
NAMESPACE = "kubernetes:core/v1:Namespace"


def checked(kubernetes: Kubernetes, token: str, inputs: Properties, old: Properties | None = None) -> Properties:
    result = kubernetes.check(token, old or {}, inputs, NAME)
    assert result.failures == []
    return result.inputs


def test_an_object_without_a_name_gets_one_with_eight_digits_and_keeps_it(kubernetes: Kubernetes) -> None:
    first = checked(kubernetes, NAMESPACE, {"metadata": {"labels": {"a": "b"}}})
    second = kubernetes.check(NAMESPACE, first, {}, NameRequest("g5", b"another")).inputs

    assert first["metadata"]["name"].startswith("g5-")
    assert len(first["metadata"]["name"]) == len("g5-12345678")
    assert first["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    assert first["metadata"]["labels"] == {"a": "b"}
    assert second["metadata"]["name"] == first["metadata"]["name"]


def test_a_name_given_stays_as_it_is(kubernetes: Kubernetes) -> None:
    inputs = checked(kubernetes, NAMESPACE, {"metadata": {"name": "gpu"}})

    assert inputs == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpu"}}


def test_kind_and_version_follow_from_the_type(kubernetes: Kubernetes) -> None:
    inputs = checked(kubernetes, "kubernetes:node.k8s.io/v1:RuntimeClass", {"handler": "nvidia"})

    assert (inputs["apiVersion"], inputs["kind"]) == ("node.k8s.io/v1", "RuntimeClass")


def test_a_custom_resource_is_taken_whatever_it_holds(kubernetes: Kubernetes) -> None:
    inputs = checked(kubernetes, NODE_POOL, {"spec": {"anything": [1, {"x": UNKNOWN}]}})

    assert inputs["spec"] == {"anything": [1, {"x": UNKNOWN}]}
    assert inputs["apiVersion"] == "karpenter.sh/v1"


def test_an_object_of_a_known_type_is_judged(kubernetes: Kubernetes) -> None:
    found = kubernetes.check("kubernetes:node.k8s.io/v1:RuntimeClass", {}, {"handlr": "nvidia"}, NAME).failures

    assert found == [
        Failure("handlr", 'unknown property "handlr" of RuntimeClass; did you mean "handler"'),
        Failure("handler", 'missing required property "handler" of RuntimeClass'),
    ]


def test_a_type_without_a_version_is_no_type(kubernetes: Kubernetes) -> None:
    (failure,) = kubernetes.check("kubernetes:NodePool", {}, {"apiVersion": "a", "kind": "b"}, NAME).failures

    assert "kubernetes:GROUP/VERSION:KIND" in failure.reason


def test_a_patch_needs_the_name_of_its_object_and_gets_none(kubernetes: Kubernetes) -> None:
    assert [failure.path for failure in kubernetes.check(PATCH, {}, {}, NAME).failures] == ["metadata.name"]
    assert checked(kubernetes, PATCH, {"metadata": {"name": "kube-system"}})["kind"] == "Namespace"


@pytest.mark.parametrize(("metadata", "id_"), [({"name": "a"}, "a"), ({"name": "a", "namespace": "team"}, "team/a")])
def test_the_id_is_the_namespace_and_the_name(kubernetes: Kubernetes, metadata: Properties, id_: str) -> None:
    inputs = checked(kubernetes, NODE_POOL, {"metadata": metadata, "spec": {}})

    made = kubernetes.create(NODE_POOL, inputs)

    assert made == Stored(id_, inputs)
    assert kubernetes.read(NODE_POOL, made) == made
    assert kubernetes.update(NODE_POOL, made, inputs, {**inputs, "spec": {"a": 1}})["spec"] == {"a": 1}
    kubernetes.delete(NODE_POOL, made)


def test_a_preview_leaves_the_status_unknown(kubernetes: Kubernetes) -> None:
    outputs = kubernetes.preview_create(NAMESPACE, checked(kubernetes, NAMESPACE, {}))

    assert outputs["status"] is UNKNOWN
    assert outputs["metadata"]["name"].startswith("g5-")


def test_a_release_gets_its_defaults_and_counts_its_revisions(kubernetes: Kubernetes) -> None:
    inputs = checked(kubernetes, RELEASE, {"chart": "oci://registry/gpu-operator", "version": "v25.10.1"})

    preview = kubernetes.preview_create(RELEASE, inputs)
    made = kubernetes.create(RELEASE, inputs)
    after = kubernetes.update(RELEASE, made, inputs, {**inputs, "version": "v25.10.2"})

    assert (inputs["namespace"], inputs["timeout"]) == ("default", 300)
    assert preview["status"] is UNKNOWN
    assert made.id == f"default/{inputs['name']}"
    assert made.state["status"]["chart"] == "gpu-operator"
    assert made.state["status"]["status"] == "deployed"
    assert (made.state["status"]["revision"], after["status"]["revision"]) == (1, 2)
    assert after["status"]["version"] == "v25.10.2"


def test_a_release_without_a_chart_is_refused(kubernetes: Kubernetes) -> None:
    (failure,) = kubernetes.check(RELEASE, {}, {"valuess": {}}, NAME).failures[1:]

    assert failure == Failure("chart", 'missing required property "chart" of Release')
