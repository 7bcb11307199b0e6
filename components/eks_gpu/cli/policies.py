"""``eks-gpu policies``: the rules where something else applies them, an engine or an API server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from eks_gpu.cli.exit_codes import CannotRun

policies = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The same rules elsewhere: as a policy pack's folder, or as admission policies of a cluster.",
)


@policies.command()
def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; it is made if it is not there.")],
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write the folder of a policy pack that has the rules of this version.

    `pulumi install` in the folder gets what it needs; then `pulumi preview --policy-pack DIR` judges any program, and
    `pulumi policy publish` makes it the organisation's.
    """
    from eks_gpu_policies.export import pack_files  # noqa: PLC0415 - needed by this command only

    write_files(directory, pack_files(), force=force)
    typer.echo(f"wrote {', '.join(pack_files())} to {directory}; run pulumi install there once")


def write_files(directory: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write ``files`` into a folder; refuse to write over anything unless ``force``."""
    there = sorted(name for name in files if (directory / name).exists())
    if there and not force:
        raise CannotRun(f"{', '.join(there)} in {directory} would be written over; choose another folder or --force")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (directory / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{directory} cannot be written: {error.strerror or error}") from error
