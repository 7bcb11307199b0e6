from __future__ import annotations

from pathlib import Path

import pytest

from eks_gpu_policies.manifests.files import Reading, read_paths, read_text

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def addresses(reading: Reading) -> list[tuple[str, str]]:
    return [(item.file, item.resource.name) for item in reading.manifests]


def reasons(reading: Reading) -> dict[str, str]:
    return {item.file: item.reason for item in reading.skipped}


def test_a_folder_is_read_with_what_is_below_it_and_hidden_folders_are_not(folder: Path) -> None:
    for name in ("a.yaml", "b/c.yml", "b/d.json", ".git/e.yaml", "node_modules/f.yaml", "b/notes.txt"):
        write(folder, name, POD % Path(name).stem)
    assert addresses(read_paths([folder], folder)) == [("a.yaml", "a"), ("b/c.yml", "c"), ("b/d.json", "d")]


def test_a_file_is_read_once_however_often_it_is_named(folder: Path) -> None:
    path = write(folder, "a.yaml", POD % "a")
    assert addresses(read_paths([path, folder, path], folder)) == [("a.yaml", "a")]


def test_other_yaml_in_a_folder_is_skipped_with_a_reason_even_if_it_is_broken(folder: Path) -> None:
    write(folder, "values.yaml", "image: {tag: latest}\n")
    write(folder, "Chart.yaml", "apiVersion: v2\nname: chart\n")
    write(folder, "docker-compose.yml", "services: {web: {image: nginx}}\n")
    write(folder, "template.yaml", "Resources: {A: !Ref B}\n")
    write(folder, "package.json", '{"kind": "x"}')
    reading = read_paths([folder], folder)
    assert (reading.manifests, reading.broken, reading.files) == ([], [], 0)
    assert set(reasons(reading).values()) == {"no Kubernetes object in it"}
    assert len(reading.skipped) == 5


def test_helm_templates_are_skipped_whether_or_not_they_happen_to_be_yaml(folder: Path) -> None:
    write(folder, "templates/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n")
    write(folder, "templates/b.yaml", 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: "{{ .Values.name }}"\n')
    write(folder, "templates/c.yaml", "{{- if $x }}\napiVersion: v1\nkind: Pod\n{{- end }}\n")
    reading = read_paths([folder], folder)
    assert (reading.manifests, reading.broken) == ([], [])
    assert all("helm template CHART | eks-gpu lint -" in reason for reason in reasons(reading).values())
    assert len(reading.skipped) == 3


def test_alerts_with_templates_of_their_own_are_manifests(folder: Path) -> None:
    text = """apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: a}
spec: {summary: "{{ $labels.instance }}"}
"""
    write(folder, "a.yaml", text)
    assert addresses(read_paths([folder], folder)) == [("a.yaml", "a")]


def test_kustomizations_and_what_they_patch_with_are_skipped_and_their_resources_are_not(folder: Path) -> None:
    write(
        folder,
        "kustomization.yaml",
        "resources: [pod.yaml]\npatches: [{path: patch.yaml}]\nconfigMapGenerator: [{name: a, files: [x=data.yaml]}]\n"
        "patchesStrategicMerge:\n- |\n  apiVersion: v1\n  kind: Pod\n",
    )
    for name in ("pod", "patch", "data"):
        write(folder, f"{name}.yaml", POD % name)
    reading = read_paths([folder], folder)
    assert addresses(reading) == [("pod.yaml", "pod")]
    assert set(reasons(reading)) == {"kustomization.yaml", "patch.yaml", "data.yaml"}
    assert reading.kustomizations == [folder]


def test_a_broken_manifest_is_said_and_the_rest_is_read(folder: Path) -> None:
    write(folder, "a.yaml", f"{POD % 'a'}---\napiVersion: v1\nkind: Pod\nmetadata: [\n---\n{POD % 'b'}")
    reading = read_paths([folder], folder)
    assert addresses(reading) == [("a.yaml", "a"), ("a.yaml", "b")]
    assert [(item.file, item.line) for item in reading.broken] == [("a.yaml", 7)]
    assert reading.broken[0].text.startswith("a.yaml:7: no YAML: ")


def test_a_file_that_was_named_must_be_yaml(folder: Path) -> None:
    path = write(folder, "a.yaml", "a: [\n")
    assert [item.line for item in read_paths([path], folder).broken] == [1]
    assert read_paths([folder], folder).broken == []


def test_a_file_that_is_no_text_is_said(folder: Path) -> None:
    (folder / "a.yaml").write_bytes(b"\xff\xfe\x00")
    (broken,) = read_paths([folder], folder).broken
    assert "no UTF-8" in broken.problem


def test_numbers_of_objects_are_unique_within_a_file() -> None:
    reading = Reading()
    read_text("a.yaml", f"{POD % 'a'}---\n{POD % 'b'}---\n{POD % 'a'}", reading)
    assert len({item.resource.urn for item in reading.manifests}) == 3
    assert reading.files == 1


def test_what_a_node_reads_is_no_manifest_even_if_it_is_no_yaml(folder: Path) -> None:
    config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n\tcluster: {}\n"
    write(folder, "user-data.yaml", f"MIME-Version: 1.0\n\n--//\nContent-Type: text/x\n\n---\n{config}--//--\n")
    reading = read_paths([folder], folder)
    assert reading.broken == []
    assert set(reasons(reading)) == {"user-data.yaml"}
