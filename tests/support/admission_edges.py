"""Every object that lies at an edge of what the admission policies say."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.admission_cases import Case
from tests.support.admission_others import others
from tests.support.admission_pods import pods


def edges() -> Iterator[Case]:
    """Yield the objects at the edges; the API server must take every one of them."""
    for group in (pods, others):
        for name, manifest in group():
            yield Case(name, manifest)
