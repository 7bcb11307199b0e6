"""``eks-gpu lint``: findings with file and line, in three formats; whatever cannot be read is a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eks_gpu.cli import kustomize
from eks_gpu.cli.app import app

HALF = """\
apiVersion: v1
kind: Pod
metadata: {name: half, namespace: ml}
spec:
  containers:
    - name: a
      image: nvidia/cuda:12.8.1-base-ubi9
      resources: {limits: {nvidia.com/gpu: "0.5"}}
"""
SOUND = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sound}\n"
BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, name: b}\n"
KUSTOMIZATION = "resources: [pod.yaml]\nnamePrefix: dev-\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a folder of its own to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def lint(*args: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["lint", *map(str, args)], input=stdin)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_work003_a_finding_has_file_line_rule_object_and_remedy(folder: Path) -> None:
    write(folder, "a/pod.yaml", f"---\n{HALF}")
    result = lint("a")
    assert result.exit_code == 1, result.output
    first, fix, *_ = [line for line in result.stdout.splitlines() if "WORK003" in line or "under limits" in line]
    assert first.startswith("a/pod.yaml:5: error WORK003 Pod/half: container a asks nvidia.com/gpu as '0.5'")
    assert fix.startswith("    fix: write nvidia.com/gpu once, under limits")


def test_one_line_sums_up(folder: Path) -> None:
    write(folder, "pod.yaml", HALF)
    write(folder, "values.yaml", "a: b\n")
    (line,) = [line for line in lint(".").stdout.splitlines() if line.startswith("refused: ")]
    assert "(prod) on 1 resource: " in line
    assert line.endswith("; 1 file, 1 skipped")


def test_sound_manifests_pass(folder: Path) -> None:
    write(folder, "a.yaml", SOUND)
    result = lint("a.yaml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("passes: ")


def test_manifests_may_be_piped_in() -> None:
    result = lint("-", stdin=HALF)
    assert result.exit_code == 1
    assert "<stdin>:4: error WORK003 Pod/half" in result.stdout


def test_an_empty_pipe_is_no_pass() -> None:
    """What was to write into it has failed, and a shell does not say so."""
    result = lint("-", stdin="\n")
    assert result.exit_code == 2
    assert result.stderr == (
        "eks-gpu: standard input is empty: what was to write manifests into it failed, or wrote none\n"
    )


def test_where_nothing_is_found_nothing_has_passed(folder: Path) -> None:
    write(folder, "values.yaml", "a: b\n")
    result = lint(".")
    assert result.exit_code == 0
    note, summary = result.stdout.splitlines()
    assert note.startswith("note: no Kubernetes object was found, so that nothing was judged; --skipped says")
    assert summary.startswith("nothing to judge: ")
    assert summary.endswith("; 0 files, 1 skipped")


def test_a_broken_document_is_a_sentence_and_the_rest_is_judged(folder: Path) -> None:
    write(folder, "a.yaml", f"{BROKEN}---\n{HALF}")
    result = lint(".")
    assert result.exit_code == 2
    assert "a.yaml:3: not read: the key name is there twice" in result.stdout
    assert "a.yaml:8: error WORK003" in result.stdout
    assert "1 not read" in result.stdout


def test_sound_manifests_beside_one_that_cannot_be_read_do_not_pass(folder: Path) -> None:
    write(folder, "a.yaml", f"{SOUND}---\n{BROKEN}")
    result = lint("a.yaml")
    assert result.exit_code == 2
    assert result.stdout.splitlines()[-1].startswith("incomplete: ")


def test_a_path_that_is_not_there_is_one_sentence() -> None:
    result = lint("nowhere", "-", stdin=SOUND)
    assert result.exit_code == 2
    assert result.stderr == "eks-gpu: nowhere: no such file or folder; give manifests, folders of them, or -\n"
    assert result.stdout == ""


def test_what_was_skipped_is_listed_on_request(folder: Path) -> None:
    write(folder, "values.yaml", "a: b\n")
    assert "values.yaml: skipped" not in lint(".").stdout
    assert "values.yaml: skipped: no Kubernetes object in it" in lint(".", "--skipped").stdout


def test_what_was_not_evaluated_is_listed_on_request_with_its_line(folder: Path) -> None:
    write(folder, "a.yaml", HALF.replace("0.5", "${GPUS}"))
    listed = "a.yaml:8: not evaluated: WORK003 half: spec.containers[0].resources.limits.nvidia.com/gpu"
    assert listed not in lint(".").stdout
    assert listed in lint(".", "--not-evaluated").stdout


def test_levels_are_those_of_the_environment_and_of_the_configuration(folder: Path) -> None:
    write(folder, "a.yaml", HALF)
    (folder / "pack.json").write_text(json.dumps({"all": "disabled", "WORK003": "advisory"}))
    result = lint("a.yaml", "--environment", "staging", "--policy-pack-config", "pack.json")
    assert result.exit_code == 0, result.output
    assert "a.yaml:4: warning WORK003" in result.stdout
    assert "passes: 1 rule (staging)" in result.stdout


def test_a_waiver_names_an_object_by_kind_and_name(folder: Path) -> None:
    write(folder, "a.yaml", HALF)
    waiver = {"rule": "WORK003", "resource": "Pod/half", "owner": "ml", "reason": "a trial", "until": "9999-12-31"}
    pack = {"all": "disabled", "WORK003": "mandatory", "eks-gpu": {"waivers": [waiver]}}
    (folder / "pack.json").write_text(json.dumps(pack))
    result = lint("a.yaml", "--policy-pack-config", "pack.json")
    assert result.exit_code == 0, result.output
    assert "a.yaml:4: waived until 9999-12-31 by ml (a trial): WORK003 Pod/half" in result.stdout


def test_a_configuration_with_mistakes_is_one_sentence(folder: Path) -> None:
    write(folder, "a.yaml", SOUND)
    result = lint("a.yaml", "--environment", "qa")
    assert result.exit_code == 2
    assert result.stderr.startswith("eks-gpu: environment is 'qa'; it must be one of dev, staging, prod")


def test_json_has_files_lines_and_the_report_of_check(folder: Path) -> None:
    write(folder, "a.yaml", f"{HALF}---\n{BROKEN}")
    result = lint(".", "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    (finding,) = [item for item in document["findings"] if item["rule"] == "WORK003"]
    place = {key: finding[key] for key in ("file", "line", "kind", "resource", "namespace", "level")}
    assert place == {
        "file": "a.yaml",
        "line": 4,
        "kind": "Pod",
        "resource": "half",
        "namespace": "ml",
        "level": "mandatory",
    }
    assert [(item["file"], item["line"]) for item in document["broken"]] == [("a.yaml", 12)]
    assert document["refused"] is True
    assert {"notEvaluated", "waived", "rules", "summary", "skipped", "files", "environment"} <= document.keys()
    assert result.stderr.startswith("eks-gpu: a.yaml:12: ")


def test_files_that_kustomize_changes_are_judged_with_a_note(folder: Path) -> None:
    write(folder, "base/kustomization.yaml", KUSTOMIZATION)
    write(folder, "base/pod.yaml", HALF)
    result = lint(".")
    assert "base/pod.yaml:4: error WORK003 Pod/half" in result.stdout
    assert "note: base: kustomize changes these files" in result.stdout
    assert "(kustomize build DIR | eks-gpu lint -)" in result.stdout


@pytest.fixture
def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program called kustomize on PATH that prints what lies in the folder, under another name."""
    shell = shutil.which("sh")
    program = write(folder, "bin/kustomize", f'#!{shell}\ncd "$2" && . ./stand-in.sh\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program


def test_what_kustomize_builds_is_judged_instead_of_its_files(folder: Path, stand_in: Path) -> None:
    assert kustomize.builder() == (str(stand_in), "build")
    write(folder, "over/kustomization.yaml", "resources: [../base]\n")
    write(folder, "over/stand-in.sh", "sed 's/name: half/name: built/' ../base/pod.yaml\n")
    write(folder, "base/kustomization.yaml", KUSTOMIZATION)
    write(folder, "base/pod.yaml", HALF)
    result = lint("over", "base", "--kustomize")
    assert result.exit_code == 1, result.output
    assert "over/kustomization.yaml:1: error WORK003 Pod/built" in result.stdout
    assert "Pod/half" not in result.stdout
    assert "note:" not in result.stdout


def test_a_build_that_fails_is_a_sentence(folder: Path, stand_in: Path) -> None:
    write(folder, "over/kustomization.yaml", "resources: [gone.yaml]\n")
    write(folder, "over/stand-in.sh", "echo 'gone.yaml is missing' >&2; exit 1\n")
    result = lint("over", "--kustomize")
    assert stand_in.exists()
    assert result.exit_code == 2
    assert "over/kustomization.yaml:1: not read: kustomize did not build it: gone.yaml is missing" in result.stdout


def test_without_kustomize_on_path_the_way_is_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    write(folder, "base/kustomization.yaml", KUSTOMIZATION)
    result = lint(".", "--kustomize")
    assert result.exit_code == 2
    assert "kustomize build DIR | eks-gpu lint -" in result.stderr
