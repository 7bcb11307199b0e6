"""Judging manifests: the same rules, told that nothing is known of the cluster beyond the files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from eks_gpu.planning.reading import NotKnown
from eks_gpu_policies.configuration import Configuration
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.manifests.objects import Manifest
from eks_gpu_policies.report import Finding, NotEvaluated, Report
from eks_gpu_policies.rule import Rule
from eks_gpu_policies.waivers import Waiver


@dataclass(frozen=True)
class Judged:
    """Manifests with what the rules say of them."""

    report: Report
    by_urn: dict[str, Manifest]

    def place(self, finding: Finding) -> tuple[Manifest, int] | None:
        """Return the object a finding is about and the line of the property it names; None if it is about the run."""
        manifest = self.by_urn.get(finding.urn)
        return None if manifest is None else (manifest, manifest.line_of(finding.path))


def judge_manifests(
    manifests: Sequence[Manifest], run: Configuration, rules: Sequence[Rule[Any]], today: dt.date
) -> Judged:
    """Return what ``rules`` say of ``manifests``."""
    report = evaluate(
        (manifest.resource for manifest in manifests),
        environment=run.environment,
        rules=rules,
        today=today,
        options=replace(run.options, manifests_only=True),
        waivers=tuple(addressed(run.waivers, manifests)),
        levels=run.levels,
    )
    report = replace(report, not_evaluated=tuple(_reworded(item) for item in report.not_evaluated))
    return Judged(report, {manifest.resource.urn: manifest for manifest in manifests})


def _reworded(item: NotEvaluated) -> NotEvaluated:
    """Return what could not be answered in the words of manifests, in which only a placeholder is not known."""
    return replace(item, reason=_FILLED_IN_LATER) if item.reason == _NOT_CREATED else item


_NOT_CREATED: Final = NotKnown("", "").reason
_FILLED_IN_LATER: Final = "a placeholder, which somebody fills in later"


def addressed(waivers: Iterable[Waiver], manifests: Sequence[Manifest]) -> Iterator[Waiver]:
    """Yield the waivers that speak of one of the objects, by its name, as ``Kind/name`` or ``namespace/Kind/name``.

    The same configuration serves stacks too, so a waiver of a resource that is in none of the files is no mistake.
    """
    for waiver in waivers:
        if any(waiver.resource in {item.resource.name, item.resource.urn} for item in manifests):
            yield waiver
            continue
        for item in manifests:
            if waiver.resource in {item.address, f"{item.namespace}/{item.address}"}:
                yield replace(waiver, resource=item.resource.urn)
