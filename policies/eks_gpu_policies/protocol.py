"""The pack in the engine's words: rules as policies, findings as diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, ResourceValidationPolicy, StackValidationPolicy
from pulumi_policy import Severity as PulumiSeverity
from pulumi_policy.policy import Policy

from eks_gpu_policies.configuration import SCHEMA
from eks_gpu_policies.report import PACK, Finding
from eks_gpu_policies.rule import Level, Rule, Scope, Severity

AnyRule = Rule[Any]

VERSION: Final = "0.1.0"
"""What diagnostics carry; the engine shows the version of ``PulumiPolicy.yaml``."""

BY_ENVIRONMENT: Final = EnforcementLevel.REMEDIATE
"""The level the pack declares for every rule, meaning "the environment decides".

The engine fills in the declared level where nobody configures one, so an override can be told from the default only
if the default is a level that nobody configures. No rule remediates anything, so nobody configures this one.
"""

LEVELS: Final[Mapping[int, Level]] = {
    analyzer_pb2.ADVISORY: Level.ADVISORY,
    analyzer_pb2.MANDATORY: Level.MANDATORY,
    analyzer_pb2.DISABLED: Level.DISABLED,
}
_WIRE_LEVELS: Final = {Level.ADVISORY: analyzer_pb2.ADVISORY, Level.MANDATORY: analyzer_pb2.MANDATORY}
_SEVERITIES: Final = {
    Severity.CRITICAL: PulumiSeverity.CRITICAL,
    Severity.HIGH: PulumiSeverity.HIGH,
    Severity.MEDIUM: PulumiSeverity.MEDIUM,
    Severity.LOW: PulumiSeverity.LOW,
}
_WIRE_SEVERITIES: Final = {
    Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
    Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
    Severity.MEDIUM: analyzer_pb2.POLICY_SEVERITY_MEDIUM,
    Severity.LOW: analyzer_pb2.POLICY_SEVERITY_LOW,
}
_ABOUT: Final = "What the pack says about the run itself: what was judged, waived, and could not be judged."


def policy(rule: AnyRule) -> Policy:
    """Return a rule as the SDK describes policies; its verdicts do not go through this object."""
    kind = ResourceValidationPolicy if rule.scope is Scope.RESOURCE else StackValidationPolicy
    return kind(
        rule.id,
        rule.why,
        _decided_by_the_servicer,
        enforcement_level=BY_ENVIRONMENT,
        display_name=rule.title,
        severity=_SEVERITIES[rule.severity],
        remediation_steps=rule.fix,
        tags=[rule.area, *rule.lessons],
        url=rule.link,
    )


def pack_policy() -> Policy:
    """Return the policy under which the pack speaks of itself; its configuration is that of the pack."""
    return StackValidationPolicy(
        PACK,
        _ABOUT,
        _decided_by_the_servicer,
        enforcement_level=EnforcementLevel.ADVISORY,
        config_schema=PolicyConfigSchema({key: dict(value) for key, value in SCHEMA.items()}),
        display_name="The run itself",
        severity=PulumiSeverity.LOW,
    )


def _decided_by_the_servicer(_args: object, _report: object) -> None:
    """Say nothing: the SDK wants a callback for each policy, and the servicer never calls it."""


def diagnostic(finding: Finding) -> analyzer_pb2.AnalyzeDiagnostic:
    """Return a finding as the engine shows it, at the level that it has in this environment."""
    return analyzer_pb2.AnalyzeDiagnostic(
        policyName=finding.rule,
        policyPackName=PACK,
        policyPackVersion=VERSION,
        description=finding.title,
        message=_message(finding),
        urn=finding.urn,
        enforcementLevel=_WIRE_LEVELS[finding.level],
        severity=_WIRE_SEVERITIES[finding.severity],
    )


def _message(finding: Finding) -> str:
    """Return what the engine does not show by itself: it prints the rule and the resource above the message."""
    if finding.rule == PACK:
        return f"{finding.resource}: {finding.sentence}"
    return f"{finding.path}: {finding.sentence}" if finding.path else finding.sentence


def about_run(level: Level, message: str, urn: str = "") -> analyzer_pb2.AnalyzeDiagnostic:
    """Return something about the run itself; with no ``urn`` the engine shows it on the stack."""
    return analyzer_pb2.AnalyzeDiagnostic(
        policyName=PACK,
        policyPackName=PACK,
        policyPackVersion=VERSION,
        description=_ABOUT,
        message=message,
        urn=urn,
        enforcementLevel=_WIRE_LEVELS[level],
        severity=_WIRE_SEVERITIES[Severity.HIGH if level is Level.MANDATORY else Severity.LOW],
    )
