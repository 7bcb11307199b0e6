"""Runs single rules on plain resources, for their tests."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies.configuration import configure
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.waivers import Waiver

TODAY = dt.date(2026, 11, 21)


def judge(
    rule: str,
    *resources: Resource,
    environment: Environment = Environment.PROD,
    options: Mapping[str, object] | None = None,
    waivers: Sequence[Waiver] = (),
) -> Report:
    """Return what one rule says of ``resources``; ``options`` are spelled as in the pack's configuration."""
    return evaluate(
        resources,
        environment=environment,
        rules=(BY_ID[rule],),
        today=TODAY,
        options=configure(options or {}, {}, {}).options,
        waivers=waivers,
    )


def messages(report: Report) -> dict[str, list[str]]:
    """Return what is wrong with each resource, by its name."""
    found: dict[str, list[str]] = {}
    for finding in report.findings:
        found.setdefault(finding.resource, []).append(finding.message)
    return found


def complaint(report: Report) -> str:
    """Return the message of the one finding there is."""
    assert len(report.findings) == 1, list(report.lines())
    return report.findings[0].message


def passes(report: Report) -> bool:
    """Return whether the rule looked at something, found nothing wrong and left nothing open."""
    return report.passed > 0 and not report.findings and not report.not_evaluated


def not_concerned(report: Report) -> bool:
    """Return whether the rule had nothing to look at."""
    return sum(count.checks for count in report.rules) == 0 and not report.findings


def left_open(report: Report) -> list[str]:
    """Return the properties that could not be read, where nothing was found wrong."""
    assert not report.findings, list(report.lines())
    return [item.path for item in report.not_evaluated]


def changed(resource: Resource, path: str, value: object) -> Resource:
    """Return a resource with another value at ``path`` (``spec.limits``); ``None`` removes what is there."""
    props = copy.deepcopy(dict(resource.props))
    *parents, last = path.split(".")
    place: Any = props
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        cast("dict[str, object]", place).pop(last, None)
    else:
        place[last] = value
    return replace(resource, props=props)


def unknown(resource: Resource, path: str) -> Resource:
    """Return a resource of which the value at ``path`` is not known yet."""
    return changed(resource, path, UNKNOWN)
