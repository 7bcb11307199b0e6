"""The documentation is current, and what it names exists."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ELSEWHERE = {".mutants", ".venv", ".sandbox", ".pytest_cache"}
PAGES = sorted(path for path in ROOT.rglob("*.md") if not ELSEWHERE & set(path.relative_to(ROOT).parts))
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def generate(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the generator's check on a copy of the documentation."""
    command = [sys.executable, str(folder / "generate.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_generated_pages_are_current() -> None:
    done = generate(ROOT / "docs")
    assert done.returncode == 0, done.stderr


def test_a_stale_page_is_noticed_by_name(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    page = docs / "rules.md"
    page.write_text(page.read_text(encoding="utf-8").replace("NODE001", "NODE999", 1), encoding="utf-8")
    done = generate(docs)
    assert done.returncode == 1
    assert done.stderr == "not current: docs/rules.md; run: make docs\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
