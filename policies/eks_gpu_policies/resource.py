"""A resource of a program, as rules see it: plain data, whoever read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eks_gpu.planning.reading import View
from eks_gpu_policies import tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One resource.

    The engine's requests, a recording, an exported stack and Kubernetes manifests all become this; a rule cannot tell
    which. ``props`` are the *inputs* in the engine's spelling (camelCase; Kubernetes objects as in their manifests),
    as plain ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool``, ``None``, with secrets unwrapped and
    ``eks_gpu.planning.unknown.UNKNOWN`` in the place of what is not known yet.
    """

    urn: str
    type: str
    """The type token: ``aws:eks/nodeGroup:NodeGroup``, ``kubernetes:apps/v1:Deployment``."""
    name: str
    """The logical name, by which waivers and messages call it."""
    props: Mapping[str, object] = field(default_factory=dict)
    parent: str | None = None
    """URN of the component it belongs to."""
    dependencies: frozenset[str] = frozenset()
    """URNs it waits for."""
    property_dependencies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """URNs that each top-level property was computed from."""
    create_timeout_seconds: float | None = None
    """How long the program has the engine wait for its creation (``customTimeouts``); None where it says nothing."""

    @property
    def view(self) -> View:
        """Its properties, to be read with care."""
        return View(self.props, self.urn, partial=tokens.is_patch(self.type))

    def kubernetes_name(self) -> str | None:
        """Return a Kubernetes object's ``metadata.name``; None when it is left to Pulumi."""
        return self.view.at("metadata", "name").text()
