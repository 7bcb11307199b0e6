"""What ``eks-gpu policies admission`` prints and writes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu_policies.admission.manifests import SAID
from eks_gpu_policies.admission.unsaid import leaves, why_not
from eks_gpu_policies.rules import BY_ID, RULES


def wanted(rules: str | None) -> frozenset[str] | None:
    """Return the ids in a text with commas; raise :class:`CannotRun` for what no admission policy can hold."""
    if rules is None:
        return None
    ids = [text.strip().upper() for text in rules.split(",") if text.strip()]
    if not ids:
        raise CannotRun("--rules names no rule; give ids with commas between: --rules WORK005,WORK013")
    sayable = sorted({said.rule for said in SAID})
    for one in ids:
        if one not in BY_ID:
            close = difflib.get_close_matches(one, BY_ID, n=1)
            raise CannotRun(
                f"no rule {one!r}; " + (f"did you mean {close[0]}?" if close else "eks-gpu explain lists all")
            )
        if one not in sayable:
            raise CannotRun(f"{one} cannot be an admission policy: {why_not(BY_ID[one])}; {', '.join(sayable)} can")
    return frozenset(ids)


def yaml_of(manifests: Iterable[dict[str, Any]]) -> str:
    """Return manifests as YAML documents."""
    return "".join(f"---\n{yaml.safe_dump(item, sort_keys=False, width=120)}" for item in manifests)


def files(manifests: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the text of a file for each policy with its binding, by file name."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for item in manifests:
        grouped.setdefault(item["metadata"]["name"], []).append(item)
    return {f"{name}.yaml": yaml_of(group) for name, group in grouped.items()}


def listing() -> Iterator[str]:
    """Yield a line for each rule: whether an API server can hold it, what it leaves out, or why it cannot."""
    for rule in RULES:
        reason = why_not(rule)
        rest = leaves(rule)
        said = f"yes, but for {rest}" if rest else "yes"
        yield f"{rule.id}  {said if reason is None else f'no: {reason}'}"
