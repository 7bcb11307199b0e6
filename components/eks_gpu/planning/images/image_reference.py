"""References to container images: which repository, and whether they always mean the same image."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MOVING: Final = frozenset({"latest", "main", "master", "nightly"})
"""Words in tags that are moved to another image with each build."""

_WORDS: Final = re.compile(r"[^a-z0-9]+")
_BUILD: Final = re.compile(r"(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{7,64}(?![0-9a-z])|[0-9]{8}")
"""A commit or a date: a tag that has one is of one build (``nightly-5f0ac2c``, ``2.9.0.dev20260801``)."""

IN_CAPITALS: Final = re.compile(r"(?:^|/)[A-Z][A-Z0-9_-]+(?:$|[:@])")
"""A repository in capitals (``IMAGE_NAME``): no registry has one. CEL (RE2) reads this, too."""

PLACEHOLDERS: Final = ("{{", "${", "$(", "<")


_PAUSE: Final = re.compile(r"(?:^|/)pause(?:-[a-z0-9]+)?$")
"""Also by its names for one architecture: ``pause-arm64``."""


@dataclass(frozen=True, slots=True)
class ImageReference:
    """A container image as a pod names it."""

    repository: str
    """With its registry, if it names one: ``registry.example.com:5000/team/server``."""
    tag: str | None
    digest: str | None

    @property
    def moving(self) -> str | None:
        """Why it may mean another image tomorrow, or None when it is pinned."""
        if self.digest is not None:
            return None
        if self.tag is None:
            return "it has neither tag nor digest, which means latest"
        words = MOVING.intersection(_WORDS.split(self.tag.lower()))
        if not words or _BUILD.search(self.tag.lower()):
            return None
        return f"its tag {self.tag} is moved with each build"

    @property
    def is_pause(self) -> bool:
        """Whether it is Kubernetes' program that does nothing, on whatever registry."""
        return _PAUSE.search(self.repository) is not None

    def is_of(self, repository: str) -> bool:
        """Return whether it is of a repository (``nvidia/tritonserver``), on whatever registry or mirror."""
        return f"/{self.repository}".endswith(f"/{repository}")


def image_reference(text: str) -> ImageReference:
    """Take a reference apart.

    >>> image_reference("registry.example.com:5000/team/server").tag is None
    True
    """
    name, _, digest = text.partition("@")
    path, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return ImageReference(path + slash + base, tag or None, digest or None)


def is_filled_in_later(text: str) -> bool:
    """Return whether a reference has a placeholder for what only a later step knows (Argo, ``envsubst``, a reader)."""
    return any(mark in text for mark in PLACEHOLDERS) or IN_CAPITALS.search(text) is not None
