from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from eks_gpu.settings.schema import stack_file_schema

SCHEMA = stack_file_schema()
STACKS = sorted((Path(__file__).parents[3] / "stacks").glob("Pulumi.*.yaml"))


def _errors(text: str) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(text))]


def test_the_schema_is_a_schema() -> None:
    assert list(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(SCHEMA)) == []


def test_the_good_file_is_valid(good: str) -> None:
    assert _errors(good) == []


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_every_stack_of_the_project_is_valid(path: Path) -> None:
    assert _errors(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("environment: prod", "environment: prd"),
        ("    environment: prod\n", ""),
        ('version: "1.35"', "version: 1.35"),
        ('version: "1.35"', 'version: "1.12"'),
        ("count: 2", "count: two"),
        ("count: 2", "count: 0"),
        ("max_gpus: 8", "max_gpu: 8"),
        ("g5.xlarge, ", "g5.xlrge, "),
        ("      g5:\n", "      G5_pool:\n"),
        ("kind: operator", "kind: operatr"),
        ("rule: NODE006", "rule: node-6"),
        ("config:", "configuration:"),
        ("eks-gpu:platform:", "eks-gpu:plattform:"),
    ],
)
def test_a_mistake_is_refused(good: str, right: str, wrong: str) -> None:
    assert right in good
    assert _errors(good.replace(right, wrong, 1))


def test_every_key_is_documented() -> None:
    missing = [
        f"{name}.{key}"
        for name, definition in SCHEMA["$defs"].items()
        for key, field in definition.get("properties", {}).items()
        if not field.get("description") and key != "kind"
    ]
    assert missing == []


def test_every_block_is_closed() -> None:
    blocks = [definition for definition in SCHEMA["$defs"].values() if definition.get("type") == "object"]
    assert blocks
    assert all(definition["additionalProperties"] is False for definition in blocks)


def test_descriptions_are_markdown_on_one_line() -> None:
    texts = list(_descriptions(SCHEMA))
    assert len(texts) > 50
    assert not [text for text in texts if "\n" in text or "``" in text]


def _descriptions(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for part in schema.values():
            yield from _descriptions(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _descriptions(part)


def test_every_field_of_every_block_says_what_it_is() -> None:
    blocks = stack_file_schema()["$defs"]
    silent = [
        f"{name}.{field}"
        for name, block in blocks.items()
        for field, schema in block.get("properties", {}).items()
        if not schema.get("description")
    ]
    assert blocks
    assert silent == []
