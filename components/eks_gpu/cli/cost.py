"""``eks-gpu cost``: what a stack's GPU pools cost at least, as expected, and at most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu.cli.json_file import read_json

if TYPE_CHECKING:
    from eks_gpu.cli.cost_report import StackCost
    from eks_gpu.cli.project import Project
    from eks_gpu.planning.spend.prices import Prices


def cost(  # noqa: PLR0913, PLR0917 - the options of a command, each with its help
    stack: Annotated[
        str | None, typer.Argument(help="Stack to price, such as dev. Every stack of the project when left out.")
    ] = None,
    program: Annotated[
        Path, typer.Option(help="Directory of the Pulumi program; any program, it need not use eks-gpu's components.")
    ] = Path(),
    against: Annotated[
        str | None,
        typer.Option(help="Another stack of the project: shows what STACK costs more or less than it, pool by pool."),
    ] = None,
    spot_prices: Annotated[
        Path | None,
        typer.Option(
            help="JSON of `aws ec2 describe-spot-price-history --product-descriptions Linux/UNIX`: measured prices of "
            "your own region instead of the listed ones."
        ),
    ] = None,
    policy_pack_config: Annotated[
        Path | None,
        typer.Option(
            help="JSON file as `pulumi preview` takes it for the policy pack: where a program without a stack file of "
            "this project says its budget (monthlyBudgetUsd of the policy eks-gpu)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document for machines.")] = False,
) -> None:
    """Price a stack's GPU pools before anything is built.

    Three figures for each pool, on demand and with spot where the pool may buy it:

    - **minimum**: what runs without any workload: minimum sizes, static replicas, nodes that placeholders keep ready
    - **expected**: desired sizes, and nodes for the GPU Deployments of the stack, of the cheapest type that admits them
    - **ceiling**: every pool at its largest size or limit, of its dearest type; the budget is held against it on demand

    Prices are list prices of us-east-1 with the day they are of: an order of magnitude for decisions, not a bill. Other
    regions, discounts, disks, traffic and nodes without GPUs are not counted. DaemonSets cost their share of each node.

    It runs the program against a recorder: no engine, no cloud and no credentials. Exit code 0, or 2: could not run.
    """
    # The SDK takes most of a second to import: only a command that runs a program pays for it.
    from eks_gpu.cli.cost_report import as_document, compared  # noqa: PLC0415
    from eks_gpu.cli.cost_table import print_comparison, print_cost  # noqa: PLC0415
    from eks_gpu.cli.program import stacks_to_run  # noqa: PLC0415
    from eks_gpu.cli.project import Project  # noqa: PLC0415

    if against is not None and stack is None:
        raise CannotRun("--against compares one stack with another; name the stack: eks-gpu cost STACK --against OTHER")
    project = Project.find(program.resolve())
    prices = _prices(spot_prices)
    costs = {
        name: _cost_of(project, name, prices, policy_pack_config, quiet=as_json)
        for name in stacks_to_run(project, stack)
    }
    other = None if against is None else _cost_of(project, against, prices, policy_pack_config, quiet=as_json)
    if as_json:
        typer.echo(json.dumps(as_document(costs, prices, other), indent=2))
        return
    for item in costs.values():
        print_cost(item, prices)
        if other is not None:
            print_comparison(item, other, compared(item, other))


def _cost_of(project: Project, name: str, prices: Prices, pack_config: Path | None, *, quiet: bool) -> StackCost:
    """Run a stack's program and price what it registers."""
    from eks_gpu.cli.cost_report import StackCost  # noqa: PLC0415 - as above
    from eks_gpu.cli.judge import as_resource, configured  # noqa: PLC0415
    from eks_gpu.cli.program import record_stack  # noqa: PLC0415
    from eks_gpu.cli.render import working  # noqa: PLC0415
    from eks_gpu_policies.questions.spend import stack_spend  # noqa: PLC0415
    from eks_gpu_policies.stack import Stack  # noqa: PLC0415

    with working(f"pricing {name}", quiet=quiet):
        recorded = record_stack(project, name)
        run = configured(recorded, pack_config=pack_config)
        found = Stack((as_resource(resource) for resource in recorded.recording.resources), run.options)
        return StackCost(name, stack_spend(found, prices), run.options.monthly_budget_usd)


def _prices(file: Path | None) -> Prices:
    from eks_gpu.planning.spend.prices import Prices, SpotHistoryError, read_spot_history  # noqa: PLC0415 - as above

    if file is None:
        return Prices()
    try:
        return Prices(read_spot_history(read_json(file)))
    except SpotHistoryError as error:
        raise CannotRun(f"{file} {error}") from error
