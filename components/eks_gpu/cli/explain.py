"""``eks-gpu explain``: why a rule exists, what breaks it and what mends it."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from eks_gpu.cli.exit_codes import CannotRun


def explain(
    rule: Annotated[
        str | None, typer.Argument(help="Id of a rule, such as NODE001. All rules in one line each when left out.")
    ] = None,
) -> None:
    """Print why a rule exists, how to mend what it finds, and an example that fails and one that passes."""
    from eks_gpu_policies.explain import explain as text_of  # noqa: PLC0415 - rules, needed by this command only
    from eks_gpu_policies.rules import BY_ID, RULES  # noqa: PLC0415

    if rule is None:
        for known in RULES:
            typer.echo(f"{known.id}  {known.title}")
        return
    found = BY_ID.get(rule.upper())
    if found is None:
        close = difflib.get_close_matches(rule.upper(), BY_ID, n=1)
        hint = f"did you mean {close[0]}?" if close else f"rules are {', '.join(BY_ID)}"
        raise CannotRun(f"no rule {rule!r}; {hint}")
    typer.echo(text_of(found), nl=False)
