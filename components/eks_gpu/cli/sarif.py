"""Findings as SARIF 2.1.0, which code review and code scanning read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from eks_gpu_policies.manifests.files import STDIN, Reading
from eks_gpu_policies.manifests.judging import Judged
from eks_gpu_policies.report import PACK, Finding, Waived
from eks_gpu_policies.rule import Level, Rule, Severity

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_VERSION: Final = "2.1.0"
_FINGERPRINT: Final = "eksGpuFinding/v1"
_ROOT: Final = "%SRCROOT%"
_DISTRIBUTION: Final = "pulumi-eks-gpu"
_LEVELS: Final = {Level.MANDATORY: "error", Level.ADVISORY: "warning"}
_SCORES: Final = {Severity.CRITICAL: "9.0", Severity.HIGH: "7.0", Severity.MEDIUM: "5.0", Severity.LOW: "2.0"}
"""As code scanning sorts them: critical from 9, high from 7, medium from 4. Only what concerns security has one."""
_SECURITY: Final = "security"
_SECURITY_AREA: Final = "SEC"

Plain = dict[str, Any]

_ABOUT_THE_RUN: Final[Plain] = {
    "id": PACK,
    "shortDescription": {"text": "The run itself"},
    "fullDescription": {"text": "Waivers that have expired or match nothing, and objects that could not be judged."},
    "help": {
        "text": "Each finding says what to do. eks-gpu explain waivers says how waivers are written.",
        "markdown": "Each finding says what to do. `eks-gpu explain waivers` says how waivers are written.",
    },
    "defaultConfiguration": {"enabled": True, "level": "warning"},
    "properties": {"tags": ["kubernetes", "gpu"], "problem.severity": "warning"},
}
"""What findings about the run refer to: code scanning shows a result only with its rule."""


def sarif(judged: Judged, reading: Reading, rules: Sequence[Rule[Any]]) -> Plain:
    """Return the outcome of a run as a SARIF log of one run."""
    known = {name: number for number, name in enumerate((*(rule.id for rule in rules), PACK))}
    seen: Counter[str] = Counter()
    report = judged.report
    results = [_result(judged, finding, known, seen) for finding in report.findings]
    results += [_waived(judged, item, known, seen) for item in report.waived]
    driver = {
        "name": PACK,
        "version": version(_DISTRIBUTION),
        "semanticVersion": version(_DISTRIBUTION),
        "rules": [*(_rule(rule, judged) for rule in rules), _ABOUT_THE_RUN],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_ROOT: {"uri": f"{Path.cwd().as_uri()}/"}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(reading)],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": _VERSION, "runs": [run]}


def _rule(rule: Rule[Any], judged: Judged) -> Plain:
    levels = {count.rule: count.level for count in judged.report.rules}
    level = levels.get(rule.id, rule.levels.in_environment(judged.report.environment))
    security = rule.area == _SECURITY_AREA
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "helpUri": rule.link,
        "help": {
            "text": f"{rule.why}\n\nFix: {rule.fix}.",
            "markdown": f"{rule.why}\n\n**Fix:** {rule.fix}.\n\n`eks-gpu explain {rule.id}` shows examples.",
        },
        "defaultConfiguration": {"enabled": level is not Level.DISABLED, "level": _LEVELS.get(level, "none")},
        "properties": {
            "tags": ["kubernetes", "gpu", rule.area.lower(), *rule.lessons, *([_SECURITY] if security else [])],
            "problem.severity": _LEVELS.get(level, "recommendation"),
            **({"security-severity": _SCORES[rule.severity]} if security else {}),
        },
    }


def _result(judged: Judged, finding: Finding, known: dict[str, int], seen: Counter[str]) -> Plain:
    return {
        "ruleId": finding.rule,
        "ruleIndex": known[finding.rule],
        "level": _LEVELS[finding.level],
        "message": {"text": f"{_called(judged, finding)}: {finding.sentence}"},
        "locations": _locations(judged, finding),
        "partialFingerprints": {_FINGERPRINT: _fingerprint(judged, finding, seen)},
    }


def _waived(judged: Judged, item: Waived, known: dict[str, int], seen: Counter[str]) -> Plain:
    waiver = item.waiver
    why = f"{waiver.owner}, until {waiver.until}: {waiver.reason}"
    suppression = {"kind": "external", "status": "accepted", "justification": why}
    return {**_result(judged, item.finding, known, seen), "suppressions": [suppression]}


def _called(judged: Judged, finding: Finding) -> str:
    place = judged.place(finding)
    return finding.resource if place is None else place[0].address


def _locations(judged: Judged, finding: Finding) -> list[Plain]:
    place = judged.place(finding)
    if place is None:
        return []
    manifest, line = place
    logical = f"{manifest.namespace}/{manifest.address}" if manifest.namespace else manifest.address
    return [
        {
            "physicalLocation": {"artifactLocation": _artifact(manifest.file), "region": {"startLine": line}},
            "logicalLocations": [{"fullyQualifiedName": logical, "kind": "resource"}],
        }
    ]


def _artifact(file: str) -> Plain:
    """Return where a file is: relative to the folder of the run, so that the log is the same on every machine."""
    if file == STDIN:
        return {"uri": "stdin", "uriBaseId": _ROOT}
    if Path(file).is_absolute():
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(file), "uriBaseId": _ROOT}


def _fingerprint(judged: Judged, finding: Finding, seen: Counter[str]) -> str:
    """Return what stays the same when lines move: the rule, the object, the property, and which of several it is."""
    place = judged.place(finding)
    where = (place[0].file, place[0].namespace, place[0].address) if place is not None else ("", "", finding.resource)
    key = "\n".join((finding.rule, *where, finding.path))
    seen[key] += 1
    return hashlib.sha256(f"{key}\n{seen[key]}".encode()).hexdigest()


def _invocation(reading: Reading) -> Plain:
    told = [
        {
            "level": "error",
            "message": {"text": broken.problem},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": _artifact(broken.file),
                        "region": {"startLine": broken.line},
                    }
                }
            ],
        }
        for broken in reading.broken
    ]
    told += [
        {
            "level": "note",
            "message": {"text": f"skipped: {skipped.reason}"},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(skipped.file)}}],
        }
        for skipped in reading.skipped
    ]
    return {"executionSuccessful": not reading.broken, "toolExecutionNotifications": told}
