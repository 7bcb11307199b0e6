"""``eks-gpu policies``: the rules where something else applies them, an engine or an API server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from eks_gpu.cli.exit_codes import CannotRun

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_NAME: Final = 63
"""How Kubernetes spells the name of a namespace."""

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


@policies.command()
def admission(  # noqa: PLR0913, PLR0917 - the options of a command, each with its help
    environment: Annotated[
        str | None,
        typer.Option(help="dev, staging or prod: what is refused, and what only warned of. prod if left out."),
    ] = None,
    policy_pack_config: Annotated[
        Path | None, typer.Option(help="JSON file with levels, as `pulumi preview` takes it for the pack.")
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help="Ids of the rules that are wanted, with commas between. All when left out.")
    ] = None,
    exempt: Annotated[
        list[str] | None,
        typer.Option("--exempt-namespace", help="Namespace that is not judged; may be given several times."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder to write to, a file for each rule; - for standard output.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Say of every rule whether an API server can hold it, and if not, why.")
    ] = False,
) -> None:
    """Print those rules that an API server can hold by itself, as ValidatingAdmissionPolicies with their bindings.

    Apply them to a cluster (`eks-gpu policies admission | kubectl apply -f -`), or hand them to the component
    AdmissionPolicies. What is mandatory in the environment is refused, what is advisory is answered with a warning;
    both are written to the audit log. What runs already is left alone until somebody changes it.
    """
    from eks_gpu.cli import admission_output  # noqa: PLC0415 - needed by this command only
    from eks_gpu.cli.configuring import configured  # noqa: PLC0415
    from eks_gpu_policies.admission.manifests import EXEMPT_NAMESPACES, manifests  # noqa: PLC0415

    if listed:
        for line in admission_output.listing():
            typer.echo(line)
        return
    run = configured(environment, policy_pack_config)
    wanted = admission_output.wanted(rules)
    _refuse_no_names(exempt or [])
    found = manifests(
        run.environment, rules=wanted, levels=run.levels, exempt=EXEMPT_NAMESPACES if exempt is None else exempt
    )
    if output == "-":
        typer.echo(admission_output.yaml_of(found), nl=False)
        return
    files = admission_output.files(found)
    write_files(Path(output), files, force=force)
    typer.echo(f"wrote {len(files)} files to {output}")


def _refuse_no_names(namespaces: Iterable[str]) -> None:
    for name in namespaces:
        if len(name) > _LONGEST_NAME or _NAME.fullmatch(name) is None:
            raise CannotRun(f"--exempt-namespace {name!r} is no name of a namespace; it has a-z, 0-9 and hyphens")


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
