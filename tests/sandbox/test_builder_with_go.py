"""The builder with the real Go, on modules of a few lines that lie in a folder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.toolchain import builder, go_module
from sandbox.toolchain import go as golang
from sandbox.toolchain.go_module import GoModule
from sandbox.toolchain.patches import Patch, PatchedModule
from sandbox.toolchain.tools import GoBinary, ModuleFile, Tool
from tests.support.go_proxy import publish

MODULE = "example.org/demo"
NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing listens there."""

MODULE_SOURCES = {
    "greeting/greeting.go": 'package greeting\n\nvar Version = "none"\n\n'
    'func Text() string { return "hello " + Version }\n',
    "cmd/ask/main.go": f'package main\n\nimport (\n\t"os"\n\n\t"{MODULE}/greeting"\n)\n\n'
    'func main() { os.Stdout.WriteString("ask: " + greeting.Text()) }\n',
    "cmd/serve/main.go": f'package main\n\nimport (\n\t"os"\n\n\t"{MODULE}/greeting"\n)\n\n'
    'func main() { os.Stdout.WriteString("serve: " + greeting.Text()) }\n',
    "data/words.txt": "words of the module",
}
OWN_MAIN = """package main

import (
\t_ "embed"
\t"os"

\t"example.org/demo/greeting"
)

//go:embed words.txt
var words string

func main() { os.Stdout.WriteString(greeting.Text() + ", " + words) }
"""
TOOLS = f"tool (\n\t{MODULE}/cmd/ask\n\t{MODULE}/cmd/serve\n)\n"
STAMP = {f"{MODULE}/greeting.Version": "v{version},{major}"}


@dataclass
class Pins:
    """A folder with ``go.mod`` and ``go.sum`` that pin the module."""

    parent: Path
    checksums: str
    name: str = field(default="demo")

    def write(self, more: str = "") -> Path:
        folder = self.parent / self.name
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text(f"module tools/demo\n\ngo 1.24\n\nrequire {MODULE} v1.2.3\n\n{more}")
        (folder / "go.sum").write_text(self.checksums)
        return folder


@pytest.fixture(scope="session")
def compiled() -> str:
    """Tell where Go keeps what it compiled: with an empty one, each of these tests would compile Go's own library."""
    return str(golang.find((1, 24), "testing the builder").build_cache)


@pytest.fixture
def pins(compiled: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pins]:
    """Pin a module that Go finds in a proxy of the test's own, with an empty module cache."""
    assert not cache.exists()
    monkeypatch.setenv("GOCACHE", compiled)
    checksums = publish(tmp_path / "proxy", MODULE, "v1.2.3", MODULE_SOURCES)
    monkeypatch.setenv("GOPROXY", (tmp_path / "proxy").as_uri())
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    (tmp_path / "pins").mkdir()
    yield Pins(tmp_path / "pins", checksums)
    for folder in (path for path in (tmp_path / "modules").rglob("*") if path.is_dir()):
        folder.chmod(0o755)


@pytest.fixture
def own(pins: Pins) -> Tool:
    """Give a tool of one program that is ours and embeds a file of the module."""
    (pins.write() / "main.go").write_text(OWN_MAIN)
    embedded = (ModuleFile("words.txt", MODULE, "data/words.txt"),)
    return Tool("demo", (GoBinary("demo", 1, release="v9.8.7", stamps=STAMP, embedded=embedded, parent=pins.parent),))


Patched = Callable[[str], Tool]


@pytest.fixture
def patched(pins: Pins) -> Patched:
    """Give a function that makes a tool of the module with one text replaced."""
    pins.write(TOOLS)

    def make(old: str) -> Tool:
        patch = Patch("greeting/greeting.go", old, '"goodbye "', "it says goodbye")
        module = PatchedModule(MODULE, (patch,))
        return Tool("demo", (GoBinary("ask", 1, "demo", patched=(module,), parent=pins.parent),))

    return make


def says(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_several_binaries_are_built_from_one_module_file_each_with_its_stamps(pins: Pins) -> None:
    pins.write(TOOLS)
    stamps = {f"{MODULE}/greeting.Version": "v{version}.{major}-{minor}"}
    binaries = (
        GoBinary("ask", 1, "demo", stamps=stamps, parent=pins.parent),
        GoBinary("serve", 1, "demo", parent=pins.parent),
    )

    folder = builder.ensure(Tool("demo", binaries))

    assert says(folder / "ask") == "ask: hello v1.2.3.1-2"
    assert says(folder / "serve") == "serve: hello none"


def test_a_program_of_ours_embeds_files_of_a_module_that_is_fetched_first(
    own: Tool, pins: Pins, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = builder.ensure(own)

    assert says(folder / "demo") == "hello v9.8.7,9, words of the module"
    assert leftovers(folder) == []
    assert not (pins.parent / "demo" / "words.txt").exists(), "what is committed is only our own"
    said = capfd.readouterr().err
    assert said.index("fetching example.org/demo v1.2.3") < said.index("building demo v9.8.7 with Go, once")


def test_what_a_killed_build_left_of_its_sources_is_not_built(own: Tool, cache: Path) -> None:
    work = cache / own.folder_name / ".demo.work"
    work.mkdir(parents=True)
    (work / "half.go").write_text("package nothing that compiles")

    folder = builder.ensure(own)

    assert says(folder / "demo") == "hello v9.8.7,9, words of the module"
    assert leftovers(folder) == []


def test_a_patched_module_is_built_from_a_copy_and_the_cache_stays_as_it_was(patched: Patched, tmp_path: Path) -> None:
    folder = builder.ensure(patched('"hello "'))

    assert says(folder / "ask") == "ask: goodbye none"
    assert leftovers(folder) == []
    assert '"hello "' in (tmp_path / "modules" / f"{MODULE}@v1.2.3" / "greeting" / "greeting.go").read_text()


def test_a_patch_that_does_not_fit_builds_nothing_and_says_so(patched: Patched, cache: Path) -> None:
    tool = patched('"welcome "')

    with pytest.raises(SandboxError, match=r"greeting\.go cannot be patched so that it says goodbye: .* occurs 0"):
        builder.ensure(tool)

    assert builder.built(tool) is None
    assert list((cache / tool.folder_name).iterdir()) == []


def test_without_the_module_proxy_it_says_so_and_goes_on_when_it_is_back(
    patched: Patched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = patched('"hello "')
    monkeypatch.setenv("GOPROXY", NOBODY)

    with pytest.raises(SandboxError, match=r"(?s)^fetching example\.org/demo v1\.2\.3 failed: the Go module proxy"):
        builder.ensure(tool)
    monkeypatch.setenv("GOPROXY", (tmp_path / "proxy").as_uri())

    assert says(builder.ensure(tool) / "ask") == "ask: goodbye none"


def test_a_module_that_is_read_is_fetched_once_and_found_without_the_proxy(
    pins: Pins, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pins.write()
    with pytest.raises(SandboxError, match=r"demo v1\.2\.3 is not in Go's module cache; run: make modules"):
        _ = GoModule(MODULE, "demo", pins.parent).folder

    (fetched,) = go_module.fetch_all(pins.parent)
    assert "fetched: example.org/demo v1.2.3" in capfd.readouterr().err

    monkeypatch.setenv("GOPROXY", NOBODY)
    module = GoModule(MODULE, "demo", pins.parent)
    assert module.folder == module.fetch() == fetched
    assert (fetched / "data" / "words.txt").read_text() == MODULE_SOURCES["data/words.txt"]
    assert capfd.readouterr().err == ""


def test_a_module_that_is_not_the_one_that_was_pinned_is_refused(pins: Pins) -> None:
    folder = pins.write()
    module = GoModule(MODULE, "demo", pins.parent)
    module.fetch()
    (folder / "go.sum").write_text(pins.checksums.replace("v1.2.3 h1:", "v1.2.3 h1:AAAA"))

    with pytest.raises(SandboxError, match=r"example\.org/demo v1\.2\.3 .* not the one that was pinned"):
        module.fetch()


def test_a_module_that_is_not_pinned_has_no_version(pins: Pins) -> None:
    pins.write()

    with pytest.raises(LookupError, match=r"go\.mod of demo requires no example\.org/other"):
        _ = GoModule("example.org/other", "demo", pins.parent).version


def test_a_log_that_cannot_be_written_is_one_sentence(
    pins: Pins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins.write()
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(SandboxError, match=r"^cannot write .*demo\.log: Not a directory$"):
        GoModule(MODULE, "demo", pins.parent).fetch()
