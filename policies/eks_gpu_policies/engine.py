"""Rules on resources: one pure function, used by the policy pack and by ``eks-gpu check`` alike."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnownError
from eks_gpu_policies import coverage
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import PACK, Finding, NotEvaluated, Report, RuleCount, Waived
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import BY_DEFAULT, Environment, Level, Problem, Rule, Severity, Subject
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.waivers import Waiver

AnyRule = Rule[Any]

_NO_OVERRIDES: Final[Mapping[str, Level]] = MappingProxyType({})


def evaluate(  # noqa: PLR0913 - keyword-only; each says something else about the run
    resources: Iterable[Resource],
    *,
    environment: Environment,
    rules: Sequence[AnyRule],
    today: dt.date,
    options: Options | None = None,
    waivers: Sequence[Waiver] = (),
    levels: Mapping[str, Level] = _NO_OVERRIDES,
    partial: bool = False,
) -> Report:
    """Judge ``resources`` by ``rules`` and return everything that is to be said about them.

    ``levels`` overrides the level of single rules, by id. With ``partial`` the resources are only some of the stack's,
    so that nothing is said yet about waivers that match no finding.
    """
    stack = Stack(resources, replace(options or Options(), today=today))
    run = _Run(stack, environment, levels, waivers, today)
    counts = tuple(run.check(rule) for rule in rules if run.level(rule) is not Level.DISABLED)
    if not partial:
        run.findings.extend(run.unread())
        run.not_evaluated.extend(run.unseen())
        run.findings.extend(run.about_waivers(rules))
    return Report(
        environment=environment,
        environment_named=stack.options.environment_named,
        resources=len(stack.by_urn),
        rules=counts,
        findings=tuple(sorted(run.findings, key=_order)),
        waived=tuple(run.waived),
        not_evaluated=tuple(run.not_evaluated),
    )


def _order(finding: Finding) -> tuple[bool, str, str, str, str]:
    return (
        finding.level is not Level.MANDATORY,
        finding.rule,
        finding.resource,
        finding.path,
        finding.message,
    )


@dataclass
class _Run:
    """One evaluation: what it is given, and what it has found so far."""

    stack: Stack
    environment: Environment
    levels: Mapping[str, Level]
    waivers: Sequence[Waiver]
    today: dt.date
    findings: list[Finding] = field(default_factory=list)
    waived: list[Waived] = field(default_factory=list)
    not_evaluated: list[NotEvaluated] = field(default_factory=list)
    missed: int = 0
    """How often a value was needed and not known: several questions may need the same one."""

    def level(self, rule: AnyRule) -> Level:
        """Return the rule's level in this run."""
        return self.levels.get(rule.id) or rule.levels.in_environment(self.environment)

    def check(self, rule: AnyRule) -> RuleCount:
        """Ask one rule about everything it looks at."""
        outcomes = {"passed": 0, "failed": 0, "waived": 0, "not_evaluated": 0}
        try:
            subjects: tuple[Subject, ...] = tuple(rule.looks_at.of(self.stack))
        except Exception as error:  # noqa: BLE001 - a rule that crashes is a finding, never the end of the run
            self.findings.append(self._crash(rule, self.stack.whole, error))
            outcomes["failed"] = 1
            subjects = ()
        for subject in subjects:
            outcome = self._ask(rule, subject)
            if outcome is not None:
                outcomes[outcome] += 1
        return RuleCount(rule=rule.id, title=rule.title, level=self.level(rule), **outcomes)

    def _ask(self, rule: AnyRule, subject: Subject) -> str | None:
        """Ask one rule about one subject and file what it says; None when the subject does not concern it."""
        before = len(self.findings), len(self.waived), self.missed
        try:
            if not rule.looks_at.concerns(subject, self.stack):
                return None
            for outcome in rule.check(subject, self.stack):
                if isinstance(outcome, Problem):
                    self._file(self._finding(rule, subject, outcome))
                else:
                    self._miss(rule, subject, subject.urn, outcome.path, outcome.reason)
        except NotKnownError as error:
            self._miss(rule, subject, error.what.source, error.what.path, error.what.reason)
        except Exception as error:  # noqa: BLE001 - see above
            self._file(self._crash(rule, subject, error))
        after = len(self.findings), len(self.waived), self.missed
        names = ("failed", "waived", "not_evaluated")
        return next((name for name, old, new in zip(names, before, after, strict=True) if new > old), "passed")

    def _finding(self, rule: AnyRule, subject: Subject, problem: Problem) -> Finding:
        urn = problem.urn or subject.urn
        return Finding(
            rule=rule.id,
            title=rule.title,
            severity=rule.severity,
            level=Level.ADVISORY if problem.advisory else self.level(rule),
            urn=urn,
            resource=self._name(urn, subject),
            path=subject.path if isinstance(subject, PodTemplate) else "",
            message=problem.message,
            fix=problem.fix or rule.fix,
        )

    def _crash(self, rule: AnyRule, subject: Subject, error: Exception) -> Finding:
        return Finding(
            rule=rule.id,
            title=rule.title,
            severity=rule.severity,
            level=self.level(rule),
            urn=subject.urn,
            resource=self._name(subject.urn, subject),
            path="",
            message=f"the rule crashed with {type(error).__name__} and judged nothing",
            fix="report this as a defect of the policy pack; waive the rule on this resource meanwhile",
        )

    def _name(self, urn: str, subject: Subject) -> str:
        resource = self.stack.by_urn.get(urn)
        return subject.name if resource is None else resource.name

    def _file(self, finding: Finding) -> None:
        waiver = next(
            (
                item
                for item in self.waivers
                if item.covers(finding.rule, finding.resource, finding.urn) and not item.expired(self.today)
            ),
            None,
        )
        if waiver is None:
            self.findings.append(finding)
        else:
            self.waived.append(Waived(finding, waiver))

    def _miss(self, rule: AnyRule, subject: Subject, urn: str, path: str, reason: str) -> None:
        missed = NotEvaluated(rule=rule.id, urn=urn, resource=self._name(urn, subject), path=path, reason=reason)
        self.missed += 1
        if missed not in self.not_evaluated[-_RECENT:]:
            self.not_evaluated.append(missed)

    def unread(self) -> Iterator[Finding]:
        """Yield a finding for every resource that could not be read, so that no rule saw it."""
        for urn, problem in self.stack.unreadable:
            yield self._about_pack(
                title="every resource is read",
                level=BY_DEFAULT.in_environment(self.environment),
                urn=urn,
                resource=self.stack.by_urn[urn].name,
                message=f"its properties could not be read ({problem}), so no rule saw it",
                fix="report this as a defect of the policy pack",
            )

    def unseen(self) -> Iterator[NotEvaluated]:
        """Yield what the stack is known to hold and does not show."""
        for what in coverage.unseen(self.stack):
            name = self.stack.by_urn[what.source].name
            yield NotEvaluated(rule=PACK, urn=what.source, resource=name, path=what.path, reason=what.reason)

    def about_waivers(self, rules: Sequence[AnyRule]) -> Iterator[Finding]:
        """Yield a finding for every waiver that has expired or that speaks of nothing.

        One of a rule that is off here is kept for the environments where the rule is on.
        """
        known = {rule.id: self.level(rule) for rule in rules}
        for waiver in self.waivers:
            if waiver.expired(self.today):
                yield self._about_waiver(
                    waiver,
                    BY_DEFAULT.in_environment(self.environment),
                    f"expired on {waiver.until} and is ignored",
                    f"ask {waiver.owner} to mend the finding, or to renew the waiver with a new reason",
                )
            elif known.get(waiver.rule) is not Level.DISABLED and not self._is_used(waiver):
                yield self._about_waiver(
                    waiver,
                    Level.ADVISORY,
                    "matches no finding"
                    if waiver.rule in known
                    else f"names {waiver.rule}, which is no rule of this pack",
                    "remove it, or write the rule's id and the resource's logical name or URN exactly",
                )

    def _is_used(self, waiver: Waiver) -> bool:
        """Return whether a waiver covers a finding, or a question that could not be answered yet."""
        return any(item.waiver == waiver for item in self.waived) or any(
            waiver.covers(item.rule, item.resource, item.urn) for item in self.not_evaluated
        )

    def _about_waiver(self, waiver: Waiver, level: Level, message: str, fix: str) -> Finding:
        return self._about_pack(
            title="waivers are current",
            level=level,
            urn=self.stack.whole.urn,
            resource=f"waiver of {waiver.rule} on {waiver.resource}",
            message=message,
            fix=fix,
        )

    @staticmethod
    def _about_pack(*, title: str, level: Level, urn: str, resource: str, message: str, fix: str) -> Finding:  # noqa: PLR0913
        return Finding(
            rule=PACK,
            title=title,
            severity=Severity.MEDIUM,
            level=level,
            urn=urn,
            resource=resource,
            path="",
            message=message,
            fix=fix,
        )


_RECENT: Final = 8
"""How far back a repeated "not evaluated" is looked for: several clauses or subjects of a rule may need one value."""
