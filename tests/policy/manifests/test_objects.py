from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies.manifests.documents import documents
from eks_gpu_policies.manifests.objects import Manifest, is_placeholder, objects

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: llm
  namespace: serving
spec:
  template:
    metadata:
      labels: {app: llm}
    spec:
      containers:
        - name: server
          image: ${REGISTRY}/vllm:v1
          resources:
            limits:
              nvidia.com/gpu: 1
"""


def read(text: str) -> list[Manifest]:
    return list(objects("a.yaml", (node for document in documents(text) for node in document.read())))


def test_an_object_is_a_resource_with_its_type_and_name() -> None:
    (found,) = read(DEPLOYMENT)
    assert found.resource.type == "kubernetes:apps/v1:Deployment"
    assert (found.resource.name, found.namespace, found.address) == ("llm", "serving", "Deployment/llm")
    assert found.resource.urn == "manifest:a.yaml#0"
    assert found.resource.view.at("spec", "template", "metadata", "labels").text_map() == {"app": "llm"}


def test_the_core_group_has_a_name_in_type_tokens() -> None:
    (found,) = read("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    assert found.resource.type == "kubernetes:core/v1:Pod"


def test_what_is_filled_in_later_is_not_known() -> None:
    (found,) = read(DEPLOYMENT)
    props: Any = found.resource.props
    assert props["spec"]["template"]["spec"]["containers"][0]["image"] is UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "${A}",
        "${REPO}/image:${TAG}",
        "$NAME",
        "{{ name }}",
        "a-{{inputs.parameters.b}}",
        "<% a %>",
        "<<REGION>>.example.com/a:1",
        "<ACCOUNT>",
    ],
)
def test_a_placeholder_makes_its_text_unknown(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "$(POD_IP)",
        "echo ${HOME} now",
        "{{ $labels.instance }}",
        "plain",
        "{{ $a }} of {{ $b }}",
        "a $NAME",
        "50%",
        "a<b>c",
        "x <A> y",
    ],
)
def test_what_kubernetes_or_a_shell_or_an_alert_fills_in_is_what_it_says(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 1),
        ("spec", 6),
        ("spec.template.spec", 10),
        ("spec.template.spec.containers[0]", 12),
        ("spec.template.spec.containers[0].resources.limits.nvidia.com/gpu", 16),
        ("spec.template.spec.containers[0].resources.limits.cpu", 15),
        ("spec.template.spec.containers[7].image", 11),
        ("status.phase", 1),
    ],
)
def test_a_property_is_found_on_its_line_and_a_missing_one_on_that_above_it(path: str, line: int) -> None:
    (found,) = read(DEPLOYMENT)
    assert found.line_of(path) == line


def test_lists_are_taken_apart_lists_in_lists_too() -> None:
    text = """\
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Pod, metadata: {name: a}}
  - apiVersion: v1
    kind: PodList
    items:
      - metadata: {name: b}
      - metadata: {name: c}
  - apiVersion: v1
    kind: Service
    metadata: {name: d}
"""
    assert [(item.address, item.line) for item in read(text)] == [
        ("Pod/a", 4),
        ("Pod/b", 8),
        ("Pod/c", 9),
        ("Service/d", 10),
    ]
    assert [item.resource.type.rpartition(":")[2] for item in read(text)] == ["Pod", "Pod", "Pod", "Service"]


def test_two_objects_of_one_name_are_two() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: %s}\n"
    first, second = read(f"{pod % 'x'}---\n{pod % 'y'}")
    assert first.resource.urn != second.resource.urn


@pytest.mark.parametrize(
    "text",
    [
        "services: {web: {image: nginx}}\n",
        "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
        "apiVersion: v1\nkind: Config\nusers: []\n",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: a}\n",
        "apiVersion: 1\nkind: Pod\n",
        "- apiVersion: v1\n  kind: Pod\n",
        "text\n",
        "apiVersion: v1\nkind: List\nitems: none\n",
    ],
)
def test_what_no_api_server_takes_is_no_object(text: str) -> None:
    assert read(text) == []


def test_an_object_without_a_name_is_called_by_what_it_has() -> None:
    generated, nameless = read(
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: job-}\n---\napiVersion: v1\nkind: Pod\n"
    )
    assert generated.resource.name == "job-*"
    assert nameless.resource.name == "pod of line 5"
