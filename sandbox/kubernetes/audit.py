"""What was asked of the API server, in order: who created and deleted what, and when.

The API server writes a line of JSON for each request that changes something; `events` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.checkout import Checkout
from sandbox.kubernetes import layout

MEGABYTES = 20
"""How large a log may become before another is begun."""
FILES = 3
"""How many older ones are kept."""

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
# Signs of life, and questions in the form of a creation: many, and nothing anybody made.
- level: None
  resources:
  - {group: "", resources: [events, nodes/status, serviceaccounts/token]}
  - {group: events.k8s.io}
  - {group: coordination.k8s.io}
  - {group: authentication.k8s.io}
  - {group: authorization.k8s.io}
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
"""
"""In the API server's own terms."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One request that was answered."""

    verb: str
    """``create``, ``update``, ``patch`` (also for server-side apply), ``delete`` or ``deletecollection``"""
    group: str
    """The API group; empty for the core one."""
    resource: str
    """As in the URL: ``deployments``."""
    subresource: str
    """``status`` for instance; empty for the object itself."""
    namespace: str
    """Empty for what has none."""
    name: str
    """Empty where many are deleted at once."""
    user: str
    agent: str
    """The program, as it calls itself."""
    code: int
    """The HTTP status of the answer."""
    received: datetime
    answered: datetime
    dry_run: bool

    @property
    def succeeded(self) -> bool:
        """Tell whether it was done."""
        return 200 <= self.code < 300 and not self.dry_run  # noqa: PLR2004 - HTTP

    @property
    def created(self) -> bool:
        """Tell whether an object came into being by it, by server-side apply or otherwise."""
        return self.succeeded and self.code == 201 and not self.subresource  # noqa: PLR2004 - HTTP

    @property
    def deleted(self) -> bool:
        """Tell whether an object was told to go; its finalizers may still have kept it for a while."""
        return self.succeeded and self.verb == "delete" and not self.subresource


def events(checkout: Checkout) -> list[AuditEvent]:
    """Return every request that changed something, or tried to, in the order of the answers; the oldest may be gone."""
    found = [event for path in _files(checkout) for event in _read(path)]
    return sorted(found, key=lambda event: event.answered)


def forget(checkout: Checkout) -> None:
    """Delete what was written down."""
    for path in _files(checkout):
        path.unlink()


def _files(checkout: Checkout) -> list[Path]:
    log = layout.audit_log(checkout)
    return sorted(log.parent.glob(f"{log.stem}*{log.suffix}"))


def _read(path: Path) -> Iterator[AuditEvent]:
    try:
        with path.open(errors="replace") as lines:
            for line in lines:
                event = _parse(line)
                if event is not None:
                    yield event
    except FileNotFoundError:
        # Rotated away since the folder was listed.
        return


def _parse(line: str) -> AuditEvent | None:
    try:
        raw: Mapping[str, Any] = json.loads(line)
    except ValueError:
        # The line that is being written, or was when the disk was full.
        return None
    if raw.get("stage") != "ResponseComplete" or "objectRef" not in raw:
        return None
    target = raw["objectRef"]
    return AuditEvent(
        verb=raw["verb"],
        group=target.get("apiGroup", ""),
        resource=target["resource"],
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        user=raw["user"].get("username", ""),
        agent=raw.get("userAgent", ""),
        code=raw.get("responseStatus", {}).get("code", 0),
        received=datetime.fromisoformat(raw["requestReceivedTimestamp"]),
        answered=datetime.fromisoformat(raw["stageTimestamp"]),
        dry_run="dryRun=" in raw.get("requestURI", ""),
    )
