"""What ``eks-gpu lint`` prints: lines for people, plain data for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from eks_gpu_policies.manifests.files import Reading
from eks_gpu_policies.manifests.judging import Judged
from eks_gpu_policies.report import Finding
from eks_gpu_policies.rule import Level

_WORDS = {Level.MANDATORY: "error", Level.ADVISORY: "warning"}


def text(
    judged: Judged, reading: Reading, notes: Sequence[str], *, not_evaluated: bool, skipped: bool
) -> Iterator[str]:
    """Yield the lines for people: ``file:line: error RULE Kind/name: what is wrong``, and one that sums up."""
    report = judged.report
    for finding in sorted(report.findings, key=lambda item: _order(judged, item)):
        about = f"{_WORDS[finding.level]} {finding.rule} {called(judged, finding)}"
        yield f"{where(judged, finding)}: {about}: {finding.message}"
        yield f"    fix: {finding.fix}"
    for item in report.waived:
        waiver, finding = item.waiver, item.finding
        yield (
            f"{where(judged, finding)}: waived until {waiver.until} by {waiver.owner} ({waiver.reason}): "
            f"{finding.rule} {called(judged, finding)}"
        )
    for broken in reading.broken:
        yield f"{broken.file}:{broken.line}: not read: {broken.problem}"
    if not_evaluated:
        for missed in report.not_evaluated:
            manifest = judged.by_urn.get(missed.urn)
            place = f"{manifest.file}:{manifest.line_of(missed.path)}: " if manifest else ""
            yield f"{place}not evaluated: {missed.text}"
    if skipped:
        for file in reading.skipped:
            yield f"{file.file}: skipped: {file.reason}"
    yield from (f"note: {note}" for note in notes)
    yield summary(judged, reading)


def summary(judged: Judged, reading: Reading) -> str:
    """Return the one line on the whole run."""
    sound = "passes" if reading.files else "nothing to judge"
    verdict = "refused" if judged.report.refused else "incomplete" if reading.broken else sound
    parts = [f"{reading.files} {'file' if reading.files == 1 else 'files'}", f"{len(reading.skipped)} skipped"]
    if reading.broken:
        parts.append(f"{len(reading.broken)} not read")
    return f"{verdict}: {judged.report.summary}; {', '.join(parts)}"


def where(judged: Judged, finding: Finding) -> str:
    """Return ``file:line`` of a finding; ``eks-gpu`` for one that is about the run."""
    place = judged.place(finding)
    return "eks-gpu" if place is None else f"{place[0].file}:{place[1]}"


def called(judged: Judged, finding: Finding) -> str:
    """Return what people call the object that a finding is about."""
    place = judged.place(finding)
    return finding.resource if place is None else place[0].address


def _order(judged: Judged, finding: Finding) -> tuple[str, int, bool, str]:
    place = judged.place(finding)
    file, line = ("", 0) if place is None else (place[0].file, place[1])
    return file, line, finding.level is not Level.MANDATORY, finding.rule


def plain(judged: Judged, reading: Reading) -> dict[str, object]:
    """Return the outcome as plain data with stable keys: the report of ``eks-gpu check``, with files and lines."""
    document = judged.report.to_json()
    findings = [_with_place(judged, finding) for finding in judged.report.findings]
    waived = [
        {**_entry(item), "finding": _with_place(judged, known.finding)}
        for item, known in zip(_list(document["waived"]), judged.report.waived, strict=True)
    ]
    reasons = Counter(item.reason for item in reading.skipped)
    return {
        **document,
        "summary": summary(judged, reading),
        "findings": findings,
        "waived": waived,
        "files": reading.files,
        "skipped": {
            "files": [{"file": item.file, "reason": item.reason} for item in reading.skipped],
            "reasons": dict(reasons),
        },
        "broken": [{"file": item.file, "line": item.line, "problem": item.problem} for item in reading.broken],
    }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _entry(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _with_place(judged: Judged, finding: Finding) -> dict[str, object]:
    place = judged.place(finding)
    known: dict[str, object] = {
        "rule": finding.rule,
        "title": finding.title,
        "severity": finding.severity.value,
        "level": finding.level.value,
        "resource": finding.resource,
        "path": finding.path,
        "message": finding.message,
        "fix": finding.fix,
    }
    if place is not None:
        manifest, line = place
        known |= {"file": manifest.file, "line": line, "kind": manifest.kind, "namespace": manifest.namespace}
    return known
