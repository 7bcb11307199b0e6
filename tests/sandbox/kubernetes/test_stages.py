from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from eks_gpu.facts import resources
from sandbox.errors import SandboxError
from sandbox.kubernetes import stages
from sandbox.toolchain.go_module import GoModule

KWOK = GoModule("sigs.k8s.io/kwok", "kwok")
FOLDER = Path("kustomize", "stage")


def documents(module: Path) -> dict[str, Any]:
    return {each["metadata"]["name"]: each for each in yaml.safe_load_all(stages.document(module))}


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """Return a copy of kwok's stages that a test can change."""
    copy = tmp_path / "kwok"
    shutil.copytree(KWOK.folder / FOLDER, copy / FOLDER)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755)
    return copy


def test_nodes_and_pods_have_the_stages_of_a_life() -> None:
    assert list(documents(KWOK.folder)) == [
        "node-initialize",
        "node-heartbeat-with-lease",
        "pod-ready",
        "pod-complete",
        "pod-delete",
        "pod-fails",
    ]


def test_a_new_node_has_nothing_that_a_device_plugin_has_not_told_of() -> None:
    template = documents(KWOK.folder)["node-initialize"]["spec"]["next"]["statusTemplate"]
    for name in (resources.GPU, resources.EFA):
        assert template.count(f"{name}: null\n") == 2
        assert template.count(f'"{name}"') == 2


@pytest.mark.parametrize("name", ["pod-ready", "pod-complete"])
def test_a_pod_that_is_to_fail_neither_gets_ready_nor_completes(name: str) -> None:
    expressions = documents(KWOK.folder)[name]["spec"]["selector"]["matchExpressions"]
    assert {
        "key": f'.metadata.annotations["{stages.FAIL_ANNOTATION}"]',
        "operator": "NotIn",
        "values": ["true"],
    } in expressions


@pytest.mark.parametrize(
    ("stage", "old", "new"),
    [
        (stages.NODE_INITIALIZE, "with .status.capacity", "with .status.all"),
        ("pod/fast/pod-ready", "operator: 'NotIn'", "operator: 'In'"),
        ("pod/fast/pod-complete", "- 'Job'", "- 'Batch'"),
    ],
)
def test_a_stage_that_has_changed_is_refused_by_name(module: Path, stage: str, old: str, new: str) -> None:
    path = (module / FOLDER / stage).with_suffix(".yaml")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(SandboxError, match=rf"{path.name} is not the one that the sandbox changes: .* 0 times"):
        stages.document(module)


def test_a_stage_that_is_missing_is_refused_by_name(module: Path) -> None:
    path = module / FOLDER / "pod" / "fast" / "pod-delete.yaml"
    path.unlink()
    with pytest.raises(SandboxError, match=rf"{path} cannot be read"):
        stages.document(module)
