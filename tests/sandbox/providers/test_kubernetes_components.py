"""YAML components and charts: what other people's programs put into a cluster without naming each object."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox.providers.kubernetes import manifests
from sandbox.providers.kubernetes.provider import Kubernetes
from sandbox.providers.naming import NameRequest
from sandbox.providers.stand_in import StandInError
from sandbox.providers.wire import UNKNOWN, Properties
from tests.support.engine import Bench

POD = "kubernetes:core/v1:Pod"
TWO = """
apiVersion: v1
kind: Namespace
metadata: {name: gpu}
---
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: plugin, namespace: gpu}}
"""


def gpu_pod(limits: Properties) -> Properties:
    return {"spec": {"containers": [{"name": "c", "image": "x/y:1", "resources": {"limits": limits}}]}}


@pytest.mark.parametrize("amount", [1, "1", 1.5])
def test_a_quantity_may_be_a_number(amount: object) -> None:
    checked = Kubernetes().check(POD, {}, gpu_pod({"nvidia.com/gpu": amount}), NameRequest("p", b"seed"))
    assert checked.failures == []
    assert checked.inputs["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": amount}


@pytest.mark.parametrize("amount", [True, ["1"], {"a": "b"}])
def test_a_quantity_is_nothing_else(amount: object) -> None:
    checked = Kubernetes().check(POD, {}, gpu_pod({"nvidia.com/gpu": amount}), NameRequest("p", b"seed"))
    assert [failure.path for failure in checked.failures] == ['spec.containers[0].resources.limits["nvidia.com/gpu"]']


def test_a_label_is_text() -> None:
    pod = {"metadata": {"labels": {"tier": 1}}, **gpu_pod({})}
    checked = Kubernetes().check(POD, {}, pod, NameRequest("p", b"seed"))
    assert [failure.path for failure in checked.failures] == ['metadata.labels["tier"]']


def test_a_group_has_each_object_as_a_member_named_after_it() -> None:
    made = manifests.members(manifests.GROUP, "stack", {"yaml": TWO})
    assert [(member.token, member.name) for member in made] == [
        ("kubernetes:core/v1:Namespace", "stack:gpu"),
        ("kubernetes:apps/v1:DaemonSet", "stack:gpu/plugin"),
    ]


def test_a_file_is_read_and_a_missing_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TWO)
    assert len(manifests.members(manifests.FILE, "f", {"file": str(tmp_path / "a.yaml")})) == 2
    with pytest.raises(StandInError, match=r"no file is named .*b\.yaml"):
        manifests.members(manifests.FILE, "f", {"file": str(tmp_path / "b.yaml")})


@pytest.mark.parametrize(("text", "said"), [("a: [", "yaml is not YAML"), ("a: b", "no kind or no apiVersion")])
def test_bad_yaml_is_a_sentence(text: str, said: str) -> None:
    with pytest.raises(StandInError, match=said):
        manifests.members(manifests.GROUP, "g", {"yaml": text})


def test_what_is_not_known_yet_has_no_members() -> None:
    assert manifests.members(manifests.GROUP, "g", {"yaml": UNKNOWN}) == []


def test_a_chart_is_taken_and_not_rendered() -> None:
    assert Kubernetes().members("kubernetes:helm.sh/v4:Chart", "c", {"chart": "gpu-operator"}) == []


def test_another_component_is_refused_by_name() -> None:
    with pytest.raises(StandInError, match='has no component "kubernetes:x/v1:Y"'):
        Kubernetes().members("kubernetes:x/v1:Y", "c", {})


PROGRAM = f"""
import pulumi
import pulumi_kubernetes as k8s

k8s.yaml.v2.ConfigGroup("group", yaml={TWO!r})
k8s.yaml.ConfigGroup("old", yaml=[{TWO!r}])
k8s.helm.v4.Chart("operator", chart="gpu-operator", version="v26.7.0")
k8s.core.v1.Secret("secret", string_data={{"password": pulumi.Output.secret("hush")}})
k8s.core.v1.Pod("pod", spec={gpu_pod({"nvidia.com/gpu": 1})["spec"]!r})
"""


@pytest.mark.engine
def test_components_go_through_the_engine(engine: Bench) -> None:
    program = engine.program(PROGRAM)

    first = engine.up(program)
    state = engine.export(program)
    second = engine.up(program)
    gone = engine.destroy(program)

    assert first.returncode == 0, first.output
    assert {"group:gpu", "group:gpu/plugin", "operator", "pod"} <= {step.name for step in first.steps}
    assert first.operations("kubernetes:apps/v1:DaemonSet") == ["create", "create"]
    assert "hush" not in json.dumps(state)
    assert set(second.changes) == {"same"}
    assert gone.returncode == 0, gone.output
