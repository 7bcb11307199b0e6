"""The JSON Schema of a stack file, so that editors complete and check it.

An editor finds it by a comment on the file's first line: ``# yaml-language-server: $schema=stack-file.schema.json``.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from eks_gpu.settings.documentation import field_docstrings
from eks_gpu.settings.platform import FULL_KEY, REGION_KEY, Platform

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def stack_file_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``Pulumi.<stack>.yaml``, the settings' documentation included.

    It is as strict as a schema can be; what must hold between keys is checked when the file is loaded.
    """
    platform = _for_editors(Platform.model_json_schema(ref_template="#/$defs/{model}", schema_generator=_Documented))
    definitions = platform.pop("$defs", {})
    return {
        "$schema": DIALECT,
        "title": "Stack file of a GPU platform",
        "type": "object",
        "properties": {
            "config": {
                "description": "The stack's configuration, by full key.",
                "type": "object",
                "properties": {
                    REGION_KEY: {"description": "The AWS region.", "type": "string"},
                    FULL_KEY: {"$ref": "#/$defs/Platform"},
                },
                "required": [FULL_KEY],
            },
            "encryptionsalt": {"description": "Written by the engine.", "type": "string"},
            "encryptedkey": {"description": "Written by the engine.", "type": "string"},
            "secretsprovider": {"description": "What encrypts the stack's secrets.", "type": "string"},
            "environment": {"description": "Pulumi ESC environments to import."},
        },
        "required": ["config"],
        "additionalProperties": False,
        "$defs": {**definitions, "Platform": platform},
    }


class _Documented(GenerateJsonSchema):
    """Describes each field by the docstring below it."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return a block's schema with its fields described."""
        described = super().model_schema(schema)
        owner: type = schema["cls"]
        texts = field_docstrings(owner)
        for name, field in described.get("properties", {}).items():
            if name in texts:
                field["description"] = texts[name]
        return described


def _for_editors(schema: Any) -> Any:  # noqa: ANN401 - a JSON Schema nests anything
    """Return a schema with one-line descriptions in Markdown, and closed where only certain names are allowed."""
    if isinstance(schema, list):
        return [_for_editors(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _for_editors(part) for key, part in schema.items()}
    if isinstance(parts.get("description"), str):
        parts["description"] = " ".join(parts["description"].split()).replace("``", "`")
    if "patternProperties" in parts:
        parts.setdefault("additionalProperties", False)
    return parts
