from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.checkout import ROOT

MAKE = shutil.which("make") or "make"
TARGET = re.compile(r"^([a-z][a-z0-9-]*):", re.MULTILINE)
MENTION = re.compile(r"(?:`|^\s*\$? ?)make ([a-z][a-z0-9-]*)", re.MULTILINE)


def make(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MAKE, "--no-print-directory", *arguments],
        cwd=ROOT,
        env={**os.environ, "PATH": path or os.environ["PATH"], "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_is_the_default_and_lists_what_there_is() -> None:
    listed = make().stdout

    for target in (
        *("preview", "up", "down", "recover", "build", "build-all", "test", "e2e", "bench"),
        *("check", "fmt", "docs", "clean-sandbox"),
    ):
        assert re.search(rf"^  make {target} +\S", listed, re.MULTILINE), target


@pytest.mark.parametrize("page", ["README.md", "sandbox/README.md", ".ci/run"])
def test_every_make_target_a_reader_is_told_of_exists(page: str) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    mentioned = set(MENTION.findall((ROOT / page).read_text()))

    assert mentioned
    assert mentioned <= targets


@pytest.mark.parametrize(("asked", "stack"), [([], "dev"), (["STACK=prod"], "prod")])
def test_preview_takes_the_stack_it_is_given(asked: list[str], stack: str) -> None:
    assert make("--dry-run", "preview", *asked).stdout.rstrip().endswith(f"-m sandbox preview {stack}")


@pytest.mark.parametrize(
    ("target", "built"), [("build", "pulumi promtool"), ("build-all", ""), ("modules", "modules >/dev/null")]
)
def test_tests_do_not_build_what_only_the_real_kubernetes_needs(target: str, built: str) -> None:
    assert make("--dry-run", target).stdout.rstrip().endswith(f"-m sandbox build {built}".rstrip())


def test_without_uv_there_is_one_sentence_that_says_what_to_install(tmp_path: Path) -> None:
    # Only the shell is left on PATH, and the lock file counts as new.
    (tmp_path / "bash").symlink_to("/bin/bash")

    answer = make("--what-if=uv.lock", "preview", path=str(tmp_path))

    assert answer.returncode == 2
    assert answer.stderr.startswith("error: uv is not on PATH; install it (https://docs.astral.sh/uv/) and run again\n")
