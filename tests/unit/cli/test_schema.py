"""``eks-gpu schema``: what editors check stack files by."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from eks_gpu.cli.app import app

STACKS = sorted((Path(__file__).parents[3] / "stacks").glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_every_stack_file_fits_the_schema(path: Path) -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema"]).stdout)
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), schema)


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "stack-file.schema.json"
    assert CliRunner().invoke(app, ["schema", "-o", str(target)]).exit_code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["properties"]["config"]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["schema", "-o", str(tmp_path / "no" / "where.json")])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
