"""What a program makes through Pulumi's YAML components is recorded as the objects that it is."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import Recording, record

POD = """
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: llm, namespace: models}
    spec: {containers: [{name: main, image: "x:1"}]}
---
# nothing
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: g5}
"""


def names(recording: Recording) -> dict[str, str]:
    return {item.type: item.name for item in recording.resources if item.parent}


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "models.yaml"
    path.write_text(POD)
    return str(path)


def test_the_objects_of_a_file_are_children_of_the_component(manifest: str) -> None:
    recording = record(lambda: k8s.yaml.v2.ConfigFile("models", file=manifest))
    assert names(recording) == {
        "kubernetes:core/v1:Pod": "models:models/llm",
        "kubernetes:karpenter.sh/v1:NodePool": "models:g5",
    }
    assert recording.one("kubernetes:core/v1:Pod")["spec"]["containers"][0]["image"] == "x:1"
    component = recording.one("kubernetes:yaml/v2:ConfigFile")
    assert {item.parent for item in recording.resources if item.parent} == {component.urn}


def test_a_group_takes_texts_files_and_objects(manifest: str) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    recording = record(
        lambda: k8s.yaml.v2.ConfigGroup(
            "all", files=[manifest], yaml="{apiVersion: v1, kind: Secret, metadata: {name: b}}", objs=[config_map]
        )
    )
    assert set(names(recording).values()) == {"all:models/llm", "all:g5", "all:b", "all:a"}


def test_version_1_has_its_yaml_read(manifest: str) -> None:
    recording = record(lambda: k8s.yaml.ConfigFile("models", file=manifest))
    assert recording.one("kubernetes:core/v1:Pod")["metadata"]["name"] == "llm"
    assert not recording.unanswered


def test_members_wait_for_what_their_component_waits_for(manifest: str) -> None:
    def program() -> None:
        first = k8s.core.v1.Namespace("models")
        k8s.yaml.v2.ConfigFile("models", file=manifest, opts=pulumi.ResourceOptions(depends_on=[first]))

    recording = record(program)
    (namespace,) = recording.of_type("kubernetes:core/v1:Namespace")
    assert namespace.urn in recording.one("kubernetes:core/v1:Pod").dependencies


def test_what_is_not_known_yet_is_a_value_and_not_the_end() -> None:
    def program() -> None:
        name = aws.sqs.Queue("jobs").url
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm"}, "spec": {"nodeName": name}}
        k8s.yaml.v2.ConfigGroup("all", objs=[pod])
        k8s.yaml.v2.ConfigGroup("none", yaml=name)

    recording = record(program)
    assert recording.one("kubernetes:core/v1:Pod")["spec"]["nodeName"] is UNKNOWN
    assert len([item for item in recording.resources if item.parent]) == 1
