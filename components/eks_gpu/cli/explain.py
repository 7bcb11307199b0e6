"""``eks-gpu explain``: why a rule exists, what breaks it and what mends it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Annotated

import typer

from eks_gpu.cli.exit_codes import CannotRun


def explain(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|TOPIC]",
            help="Id of a rule (NODE001), an area (NODE), a lesson (N01), a topic (waivers), or a word that rules "
            "speak of (spot). The list of all rules and topics when left out.",
        ),
    ] = None,
) -> None:
    """Print why a rule exists, how to mend what it finds, and an example that fails and one that passes."""
    from eks_gpu_policies.explain import explain as text_of  # noqa: PLC0415 - rules, needed by this command only
    from eks_gpu_policies.explain import explain_topic, one_line  # noqa: PLC0415
    from eks_gpu_policies.rules import BY_ID, RULES  # noqa: PLC0415
    from eks_gpu_policies.topics import AREAS, TOPICS  # noqa: PLC0415

    subject = (subject or "").strip()
    if not subject:
        for known in RULES:
            typer.echo(one_line(known))
        typer.echo(f"\nareas: {', '.join(AREAS)}\ntopics: {', '.join(TOPICS)}")
        return
    rule = BY_ID.get(subject.upper())
    text = text_of(rule) if rule is not None else explain_topic(subject, RULES)
    if text is None:
        raise CannotRun(f"nothing is known about {subject!r}; {_hint(subject, (*BY_ID, *AREAS, *TOPICS), TOPICS)}")
    typer.echo(text, nl=False)


def _hint(subject: str, names: Iterable[str], topics: Iterable[str]) -> str:
    spelled = {name.lower(): name for name in names}
    close = difflib.get_close_matches(subject.lower(), spelled, n=1)
    if close:
        return f"did you mean {spelled[close[0]]}?"
    return f"topics are {', '.join(topics)}; eks-gpu explain lists all rules"
