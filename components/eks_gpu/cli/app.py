"""The commands, and the one place where a failure becomes a sentence and an exit code."""

from __future__ import annotations

import traceback
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eks_gpu.cli import exit_codes
from eks_gpu.cli.check import check
from eks_gpu.cli.cost import cost
from eks_gpu.cli.explain import explain
from eks_gpu.cli.lint import lint
from eks_gpu.cli.policies import policies
from eks_gpu.cli.schema import schema

_DISTRIBUTION = "pulumi-eks-gpu"


class _Sentences(TyperGroup):
    """Turns what stops a command into one sentence on stderr and exit code 2; a traceback only on request."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's, of which typer has a copy that it does not export
        try:
            return super().invoke(ctx)
        except exit_codes.CannotRun as reason:
            if ctx.params.get("show_traceback"):
                traceback.print_exception(reason)
            typer.echo(f"eks-gpu: {reason}", err=True)
            raise typer.Exit(exit_codes.COULD_NOT_RUN) from None


app = typer.Typer(
    cls=_Sentences,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Questions about GPU platforms on EKS, answered before money is spent.",
    epilog="Exit codes: 0 fine, 1 findings, 2 could not run.",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(installed_version(_DISTRIBUTION))
        raise typer.Exit


@app.callback()
def options(
    show_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show the traceback of a failed program.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that every command has; both act elsewhere."""
    del show_traceback, version


app.command()(check)
app.command()(cost)
app.command()(explain)
app.command()(lint)
app.add_typer(policies, name="policies")
app.command()(schema)
