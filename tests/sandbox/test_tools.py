from __future__ import annotations

import re
import shutil
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from eks_gpu.facts import labels, versions
from sandbox.cli import main
from sandbox.errors import SandboxError
from sandbox.toolchain import builder, go_module, patches
from sandbox.toolchain.go_module import PINS, GoModule
from sandbox.toolchain.karpenter_patches import KARPENTER_KWOK
from sandbox.toolchain.patches import Patch, PatchedModule
from sandbox.toolchain.tools import KUBERNETES, PULUMI, PULUMI_KUBERNETES, TOOLS, GoBinary, Tool

MODULE_FILE = """module tools/demo

go 1.26.3

require example.org/other v7.0.0

require (
\texample.org/demo v1.2.3 // indirect
\texample.org/demo/cmd v0.9.0 // indirect
)

replace example.org/other => example.org/fork v7.0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "demo"
    made.mkdir()
    (made / "go.mod").write_text(f"{MODULE_FILE}\ntool example.org/demo/cmd/demo\n")
    (made / "go.sum").write_text("example.org/demo v1.2.3 h1:x\n")
    return made


def demo(folder: Path, *, patched: tuple[PatchedModule, ...] = ()) -> Tool:
    return Tool("demo", (GoBinary("demo", 60, patched=patched, parent=folder.parent),))


def test_version_package_and_go_version_are_read_from_the_module_file(folder: Path) -> None:
    binary = demo(folder).binaries[0]

    assert binary.package == "example.org/demo/cmd/demo"
    assert binary.version == "v0.9.0", "the module that holds the package is the one with the longest path"
    assert binary.go_version == (1, 26, 3)
    assert binary.pinned["example.org/other"] == "v7.0.0"
    assert demo(folder).folder_name.startswith("demo-v0.9.0-")


def test_several_binaries_of_one_module_file_are_told_apart_by_the_ends_of_their_packages(folder: Path) -> None:
    (folder / "go.mod").write_text(
        f"{MODULE_FILE}\ntool (\n\texample.org/demo/cmd/serve\n\texample.org/demo/cmd/ask\n)\n"
    )
    ask, serve, other = (GoBinary(name, 1, module="demo", parent=folder.parent) for name in ("ask", "serve", "other"))

    assert ask.package == "example.org/demo/cmd/ask"
    assert serve.package == "example.org/demo/cmd/serve"
    with pytest.raises(ValueError, match=r"go\.mod has no tool line for other"):
        _ = other.package


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_pinned_tool_can_be_read_and_has_its_checksums(tool: Tool) -> None:
    for binary in tool.binaries:
        assert binary.version.startswith("v")
        assert binary.package
        assert binary.go_version >= (1, 25)
        sums = (binary.folder / "go.sum").read_text()
        missing = [name for name, version in binary.pinned.items() if f"{name} {version}" not in sums]
        assert not [name for name in missing if f"{name} =>" not in binary.module_file]


def test_a_pinned_dependency_changes_the_folder_of_the_tool(folder: Path) -> None:
    before = demo(folder).folder_name
    (folder / "go.sum").write_text("example.org/demo v1.2.3 h1:y\n")

    assert demo(folder).folder_name != before


def test_a_source_of_ours_or_a_patch_changes_the_folder_of_the_tool(folder: Path) -> None:
    patch = Patch("a.go", "old", "new", "it is new")
    names = [demo(folder).folder_name, demo(folder, patched=(PatchedModule("m", (patch,)),)).folder_name]
    names.append(demo(folder, patched=(PatchedModule("m", (replace(patch, new="newer"),)),)).folder_name)
    (folder / "extra.go").write_text("package main\n")
    names.append(demo(folder).folder_name)

    assert len(set(names)) == len(names)


def test_a_changed_comment_of_a_patch_builds_nothing_anew(folder: Path) -> None:
    patch = Patch("a.go", "old", "new", "it is new")
    reworded = replace(patch, reason="it is not old")

    first, second = (demo(folder, patched=(PatchedModule("m", (one,)),)).folder_name for one in (patch, reworded))

    assert first == second


def test_the_engine_has_its_python_host_beside_it() -> None:
    assert PULUMI.contents == ("pulumi", "pulumi-language-python", "pulumi-language-python-exec")


@pytest.mark.parametrize(
    ("asked", "built"),
    [
        ([], ["pulumi", "promtool", "kubernetes", "pulumi-resource-kubernetes", "modules"]),
        (["modules", "promtool"], ["modules", "promtool"]),
        (["pulumi"], ["pulumi"]),
    ],
)
@pytest.mark.usefixtures("checkout")
def test_what_is_asked_for_is_built_and_everything_in_the_order_of_need(
    asked: list[str],
    built: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(builder, "built", lambda _: None)
    monkeypatch.setattr(builder, "ensure", lambda tool: tmp_path / tool.name)
    monkeypatch.setattr(go_module, "fetch_all", lambda: [tmp_path / "module"])

    assert main(["build", *asked]) == 0

    said = [line.split(": ") for line in capsys.readouterr().out.splitlines()]
    assert [name for name, _ in said] == built
    places = {"promtool": "promtool/promtool", "kubernetes": "kubernetes", "modules": "module"}
    for name, place in said:
        assert place.startswith(str(tmp_path / places.get(name, name)))


def test_the_control_plane_is_of_a_version_that_stacks_may_run_and_says_so() -> None:
    server = KUBERNETES.binaries[0]
    major, minor, _ = server.version.removeprefix("v").split(".")

    assert KUBERNETES.version == server.version
    assert f"{major}.{minor}" in versions.KUBERNETES_VERSIONS
    assert server.linker_flags.endswith(f"gitMajor={major} -X k8s.io/component-base/version.gitMinor={minor}")
    assert f"version.gitVersion=v{major}.{minor}.0 " in server.linker_flags
    assert {binary.version for binary in KUBERNETES.binaries[:3]} == {server.version}


def test_the_provider_is_the_one_the_installed_sdk_asks_for() -> None:
    assert PULUMI_KUBERNETES.version == f"v{metadata.version('pulumi-kubernetes')}"
    assert PULUMI_KUBERNETES.binaries[0].linker_flags.endswith(f"={metadata.version('pulumi-kubernetes')}")


def test_karpenter_is_built_and_read_in_the_version_that_is_deployed() -> None:
    built = next(binary for binary in KUBERNETES.binaries if binary.name == "karpenter-kwok")

    assert built.version == f"v{versions.KARPENTER.version}"
    assert GoModule("sigs.k8s.io/karpenter", "karpenter_core").version == versions.KARPENTER.version
    assert GoModule("github.com/aws/karpenter-provider-aws", "karpenter").version == versions.KARPENTER.version


def test_kwoks_stages_are_read_in_the_version_that_is_built() -> None:
    built = next(binary for binary in KUBERNETES.binaries if binary.name == "kwok")

    assert built.version == f"v{GoModule('sigs.k8s.io/kwok', 'kwok').version}"


def test_the_patches_fit_the_karpenter_that_is_built(tmp_path: Path) -> None:
    module = GoModule("sigs.k8s.io/karpenter", "karpenter_core").folder
    for file in {patch.file for patch in KARPENTER_KWOK.patches}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(module / file, tmp_path / file)

    patches.apply(KARPENTER_KWOK.patches, tmp_path)

    operator = (tmp_path / "pkg/operator/operator.go").read_text()
    assert re.findall(r'Address: +fmt\.Sprintf\("([^"]*)"', operator) == ["127.0.0.1:%d"] * 2
    kinds = (tmp_path / "kwok/apis/v1alpha1/doc.go").read_text()
    assert 'Group: "karpenter.k8s.aws", Version: "v1"' in kinds
    assert "kwok/apis" not in kinds, "an import that is not used stops the build"
    keys = (tmp_path / "kwok/apis/v1alpha1/labels.go").read_text()
    assert f'"{labels.INSTANCE_GPU_NAME}",' in keys
    assert f'"{labels.EC2_NODE_CLASS}",' not in keys


def test_well_known_labels_are_those_that_the_aws_cloud_registers() -> None:
    module = GoModule("github.com/aws/karpenter-provider-aws", "karpenter").folder
    source = (module / "pkg" / "apis" / "v1" / "labels.go").read_text()
    registered = re.search(r"WellKnownLabels\.Insert\(\n(.*?)\n\t\)", source, re.DOTALL)
    assert registered is not None
    constants = dict(re.findall(r"^\t(Label\w+) += (.+)$", source, re.MULTILINE))
    names = [line.strip(" \t,") for line in registered.group(1).splitlines()]
    expected = {
        constants[name].replace('apis.Group + "', '"karpenter.k8s.aws').strip('"')
        for name in names
        if not name.startswith("corev1.")
    }

    added = {key for patch in KARPENTER_KWOK.patches for key in re.findall(r'\t\t"([^"]+)",\n', patch.new)}

    assert added == expected


@pytest.mark.parametrize(("text", "found"), [("old old", 2), ("new", 0)])
def test_a_patch_that_does_not_fit_says_which_and_changes_nothing(tmp_path: Path, text: str, found: int) -> None:
    (tmp_path / "a.go").write_text(text)

    with pytest.raises(SandboxError, match=rf"a\.go cannot be patched so that it is new: 'old' .* occurs {found};"):
        patches.apply([Patch("a.go", "old", "new", "it is new")], tmp_path)

    assert (tmp_path / "a.go").read_text() == text


def test_a_patch_of_a_file_that_is_gone_does_not_fit_either(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"gone\.go cannot be patched .* must occur 2 times and occurs 0"):
        patches.apply([Patch("gone.go", "old", "new", "it is new", count=2)], tmp_path)


def test_patches_apply_in_their_order_and_as_often_as_they_say(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_text("one one")

    patches.apply([Patch("a.go", "one", "two", "", count=2), Patch("a.go", "two two", "three", "")], tmp_path)

    assert (tmp_path / "a.go").read_text() == "three"


def test_every_module_that_is_read_is_pinned_with_its_checksum() -> None:
    pins = sorted(PINS.glob("*/go.mod"))

    assert pins
    for pin in pins:
        required = re.findall(r"^require (\S+) (v\S+)$", pin.read_text(), re.MULTILINE)
        assert required, pin
        for module, version in required:
            assert f"{module} {version} h1:" in pin.with_name("go.sum").read_text()
