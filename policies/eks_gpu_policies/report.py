"""What a run found, for whoever shows it: the engine, a terminal, a file for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from eks_gpu_policies.rule import Environment, Level, Severity
from eks_gpu_policies.waivers import Waiver

PACK: Final = "eks-gpu"
"""The id under which the pack speaks of itself: waivers, what it could not read, the summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    rule: str
    """The rule's id, or :data:`PACK`."""
    title: str
    severity: Severity
    level: Level
    """Mandatory or advisory, in this environment."""
    urn: str
    """The resource at fault; the stack's own URN, or nothing, when it is the whole stack."""
    resource: str
    """The resource's logical name."""
    path: str
    """Where in its properties, if one resource holds several such things."""
    message: str
    """What is wrong with this one."""
    fix: str

    @property
    def text(self) -> str:
        """The whole message: id, resource, what is wrong, what to do."""
        place = f" ({self.path})" if self.path else ""
        return f"{self.rule} {self.resource}{place}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """What is wrong and what to do, for those who show id and resource beside it."""
        return f"{self.message}. Fix: {self.fix}"


@dataclass(frozen=True, slots=True)
class Waived:
    """A finding that somebody has accepted for now."""

    finding: Finding
    waiver: Waiver


@dataclass(frozen=True, slots=True, kw_only=True)
class NotEvaluated:
    """A question that could not be answered."""

    rule: str
    urn: str
    resource: str
    path: str
    """The property or option that is missing."""
    reason: str

    @property
    def text(self) -> str:
        """One line: rule, resource, property and why it could not be read."""
        return f"{self.rule} {self.resource}: {self.path} ({self.reason})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """How often a rule was asked, and how the answers came out."""

    rule: str
    title: str
    level: Level
    passed: int
    failed: int
    waived: int
    not_evaluated: int

    @property
    def checks(self) -> int:
        """How many things the rule looked at; 0 when the stack has nothing that concerns it."""
        return self.passed + self.failed + self.waived + self.not_evaluated


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of all rules on all resources."""

    environment: Environment
    environment_named: bool
    resources: int
    rules: tuple[RuleCount, ...]
    """One for each rule that is not disabled here, in the order of the pack."""
    findings: tuple[Finding, ...]
    """Mandatory ones first, then by rule and resource."""
    waived: tuple[Waived, ...]
    not_evaluated: tuple[NotEvaluated, ...]

    @property
    def mandatory(self) -> tuple[Finding, ...]:
        """Findings that refuse the deployment."""
        return tuple(finding for finding in self.findings if finding.level is Level.MANDATORY)

    @property
    def advisory(self) -> tuple[Finding, ...]:
        """Findings that only warn."""
        return tuple(finding for finding in self.findings if finding.level is Level.ADVISORY)

    @property
    def refused(self) -> bool:
        """Whether the deployment is refused."""
        return bool(self.mandatory)

    @property
    def passed(self) -> int:
        """Checks without a finding."""
        return sum(count.passed for count in self.rules)

    @property
    def summary(self) -> str:
        """One line on the whole run."""
        return (
            f"{_counted(len(self.rules), 'rule')} ({self.environment}) on {_counted(self.resources, 'resource')}: "
            f"{_counted(self.passed, 'check')} passed, {_counted(len(self.findings), 'finding')} "
            f"({len(self.mandatory):,} mandatory), {len(self.waived):,} waived, "
            f"{len(self.not_evaluated):,} not evaluated"
        )

    def to_json(self) -> dict[str, object]:
        """Return the report as plain data with stable keys, for machines."""
        return {
            "environment": self.environment.value,
            "environmentNamed": self.environment_named,
            "resources": self.resources,
            "refused": self.refused,
            "summary": self.summary,
            "findings": [_plain(finding) for finding in self.findings],
            "waived": [
                {"finding": _plain(item.finding), "waiver": {**asdict(item.waiver), "until": str(item.waiver.until)}}
                for item in self.waived
            ],
            "notEvaluated": [asdict(item) for item in self.not_evaluated],
            "rules": [{**asdict(count), "level": count.level.value} for count in self.rules],
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as plain text, one line for each finding, waiver and the summary."""
        for finding in self.findings:
            yield f"[{finding.level}] {finding.text}"
        for item in self.waived:
            yield f"[waived until {item.waiver.until} by {item.waiver.owner}] {item.finding.text}"
        yield self.summary


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _plain(finding: Finding) -> dict[str, object]:
    return {**asdict(finding), "severity": finding.severity.value, "level": finding.level.value}
