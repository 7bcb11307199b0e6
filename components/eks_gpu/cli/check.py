"""``eks-gpu check``: what a program would build, judged by every rule, without engine, cloud or credentials."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eks_gpu.cli import exit_codes


def check(  # noqa: PLR0913, PLR0917 - the options of a command, each with its help
    stack: Annotated[
        str | None, typer.Argument(help="Stack to check, such as dev. Every stack of the project when left out.")
    ] = None,
    program: Annotated[
        Path, typer.Option(help="Directory of the Pulumi program; any program, it need not use eks-gpu's components.")
    ] = Path(),
    environment: Annotated[
        str | None,
        typer.Option(
            help="dev, staging or prod: how strict the rules are. The stack's own environment when left out, prod if it"
            " names none."
        ),
    ] = None,
    policy_pack_config: Annotated[
        Path | None,
        typer.Option(help="JSON file with levels, budget and waivers, as `pulumi preview` takes it for the pack."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document for machines.")] = False,
    not_evaluated: Annotated[
        bool, typer.Option("--not-evaluated", help="List the questions that could not be answered, and why.")
    ] = False,
) -> None:
    """Run a stack's program against a recorder and judge what it registers.

    No engine, no cloud and no credentials: it answers in seconds what a preview would refuse. The gate is
    `pulumi preview --policy-pack policies`; this is the answer before it, in an editor or before a commit.

    Exit code 0: every mandatory rule holds. 1: a mandatory rule is broken. 2: could not run.
    """
    # The SDK takes most of a second to import: only a command that runs a program pays for it.
    from eks_gpu.cli.judge import judge  # noqa: PLC0415
    from eks_gpu.cli.program import record_stack, stacks_to_run  # noqa: PLC0415
    from eks_gpu.cli.project import Project  # noqa: PLC0415
    from eks_gpu.cli.render import print_report, working  # noqa: PLC0415

    project = Project.find(program.resolve())
    reports = {}
    for name in stacks_to_run(project, stack):
        with working(f"checking {name}", quiet=as_json):
            recorded = record_stack(project, name)
            reports[name] = judge(recorded, environment, policy_pack_config)
        if not as_json:
            print_report(name, reports[name], recorded.recording.unanswered, list_not_evaluated=not_evaluated)
    if as_json:
        typer.echo(json.dumps({name: report.to_json() for name, report in reports.items()}, indent=2))
    if any(report.refused for report in reports.values()):
        raise typer.Exit(exit_codes.FINDINGS)
