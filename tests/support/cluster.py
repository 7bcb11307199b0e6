"""A real control plane for tests, and a quick way back to a bare one between them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sandbox.checkout import Checkout
from sandbox.kubernetes import audit, inventory
from sandbox.kubernetes.api import Api, RefusedError, connect
from sandbox.kubernetes.audit import AuditEvent
from sandbox.kubernetes.control_plane import ControlPlane
from sandbox.kubernetes.inventory import Item

Found = TypeVar("Found")

PATIENCE_SECONDS = 60.0
"""How long is waited for what happens in a second or two on an idle machine."""

_STRIP_AFTER_SECONDS = 5.0
"""After which finalizers are taken off what a test has left: whoever would do it may be gone."""

_POLL_SECONDS = 0.1

_DEFINITION = "CustomResourceDefinition"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running control plane and the sandbox it belongs to."""

    checkout: Checkout
    plane: ControlPlane

    def audited(self, *resources: str) -> list[AuditEvent]:
        """Return what was asked of the API server so far; only about these resources (``pods``), if any are named."""
        return [event for event in audit.events(self.checkout) if not resources or event.resource in resources]

    def contents(self) -> list[str]:
        """Return what a bare cluster does not have."""
        return inventory.contents(self.plane)

    def restore(self) -> None:
        """Delete everything that a bare cluster does not have, and wait until it is gone."""
        began = time.monotonic()
        with connect(self.plane) as api:
            while left := inventory.beyond_bare(inventory.items(self.plane)):
                waited = time.monotonic() - began
                assert waited < PATIENCE_SECONDS, f"cannot be removed: {', '.join(map(str, left))}"
                for item in left:
                    _remove(api, item, strip=waited > _STRIP_AFTER_SECONDS)
                time.sleep(_POLL_SECONDS)


def eventually(found: Callable[[], Found | None], what: str, *, seconds: float = PATIENCE_SECONDS) -> Found:
    """Return the first answer that is true; fail, naming ``what`` was waited for, if there is none in time."""
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain for {what}"
        time.sleep(_POLL_SECONDS)
    return answer


def _remove(api: Api, item: Item, *, strip: bool) -> None:
    # What is gone already, or is refused because it goes with something else, is looked at again.
    with contextlib.suppress(RefusedError):
        # A definition without its finalizer goes before its objects, which the next one of its name brings back.
        if strip and item.kind != _DEFINITION:
            metadata = {"name": item.name, "namespace": item.namespace or None, "finalizers": None}
            api.patch({"apiVersion": item.api_version, "kind": item.kind, "metadata": metadata})
        api.delete(item.api_version, item.kind, item.name, item.namespace)
