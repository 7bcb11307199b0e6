"""The variable by which NVIDIA's container toolkit learns which GPUs a container sees."""

from __future__ import annotations

SOURCE = "NVIDIA container toolkit documentation, 'Specialized configurations with Docker', environment variables"
CHECKED = "2026-11-21"

VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
"""``all``, indices, or UUIDs."""

HIDING: frozenset[str] = frozenset({"", "none", "void"})
"""Values with which a container sees no GPU, or only what the device plugin gives it by other ways."""
