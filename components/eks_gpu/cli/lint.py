"""``eks-gpu lint``: Kubernetes YAML, judged by the rules of the policy pack."""

from __future__ import annotations

import datetime as dt
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from eks_gpu.cli import exit_codes

STDIN: Final = "-"


class Format(StrEnum):
    """How the outcome is printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def lint(  # noqa: PLR0913, PLR0917 - the options of a command, each with its help
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files and folders of manifests; - for standard input.")
    ],
    output_format: Annotated[
        Format, typer.Option("--format", help="text for people, json for machines, sarif for code review.")
    ] = Format.TEXT,
    environment: Annotated[
        str | None, typer.Option(help="dev, staging or prod: how strict the rules are. prod when left out.")
    ] = None,
    policy_pack_config: Annotated[
        Path | None,
        typer.Option(help="JSON file with levels and waivers, as `pulumi preview` takes it for the pack."),
    ] = None,
    kustomize: Annotated[
        bool, typer.Option("--kustomize", help="Judge what kustomize builds of a folder instead of its files.")
    ] = False,
    not_evaluated: Annotated[
        bool, typer.Option("--not-evaluated", help="List the questions that could not be answered, and why.")
    ] = False,
    skipped: Annotated[bool, typer.Option("--skipped", help="List the files that were not judged, and why.")] = False,
) -> None:
    """Judge Kubernetes manifests: files, folders, many documents in one, lists, or what is piped in.

    Whatever is no Kubernetes object is skipped and counted: values of charts, Helm templates, kustomizations, other
    YAML. Judge what a chart or kustomization makes: `kustomize build DIR | eks-gpu lint -`.

    Nothing is known of the cluster beyond the files: what may be there already is not evaluated, rather than missing.

    Exit code 0: every mandatory rule holds. 1: a mandatory rule is broken. 2: something could not be read; the rest is
    judged all the same.
    """
    # Only a command that judges pays for reading the rules.
    from eks_gpu.cli import lint_output  # noqa: PLC0415
    from eks_gpu.cli.configuring import configured  # noqa: PLC0415
    from eks_gpu.cli.lint_reading import read  # noqa: PLC0415
    from eks_gpu.cli.render import working  # noqa: PLC0415
    from eks_gpu.cli.sarif import sarif  # noqa: PLC0415
    from eks_gpu_policies.manifests.judging import judge_manifests  # noqa: PLC0415
    from eks_gpu_policies.rules import RULES  # noqa: PLC0415

    run = configured(environment, policy_pack_config)
    with working("linting", quiet=output_format is not Format.TEXT):
        reading, notes = read(paths, build=kustomize)
        judged = judge_manifests(reading.manifests, run, RULES, dt.datetime.now(tz=dt.UTC).date())
    if output_format is Format.TEXT:
        for line in lint_output.text(judged, reading, notes, not_evaluated=not_evaluated, skipped=skipped):
            typer.echo(line)
    else:
        document = lint_output.plain(judged, reading) if output_format is Format.JSON else sarif(judged, reading, RULES)
        json.dump(document, sys.stdout, indent=2)
        typer.echo()
        for broken in reading.broken:
            typer.echo(f"eks-gpu: {broken.text}", err=True)
    if reading.broken:
        raise typer.Exit(exit_codes.COULD_NOT_RUN)
    if judged.report.refused:
        raise typer.Exit(exit_codes.FINDINGS)
