"""``eks-gpu schema``: what editors check stack files by."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from eks_gpu.cli.app import app
from eks_gpu.settings.schema import stack_file_schema


def test_it_is_what_the_settings_say() -> None:
    assert json.loads(CliRunner().invoke(app, ["schema"]).stdout) == stack_file_schema()


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "stack-file.schema.json"
    assert CliRunner().invoke(app, ["schema", "-o", str(target)]).exit_code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["properties"]["config"]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["schema", "-o", str(tmp_path / "no" / "where.json")])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
