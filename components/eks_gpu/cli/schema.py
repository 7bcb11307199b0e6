"""``eks-gpu schema``: the JSON Schema by which editors complete and check stack files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eks_gpu.cli.exit_codes import CannotRun


def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. Standard output when left out.")
    ] = None,
) -> None:
    """Write the JSON Schema of a stack file.

    Name it in the first line of a stack file, and the editor completes and checks what is typed:

    `# yaml-language-server: $schema=stack-file.schema.json`
    """
    from eks_gpu.settings.schema import stack_file_schema  # noqa: PLC0415 - pydantic, needed by this command only

    text = json.dumps(stack_file_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{output} cannot be written: {error.strerror or error}") from error
