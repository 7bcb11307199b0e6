"""Helm charts as resources: which chart it is, and what its values say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program, once
from eks_gpu_policies.resource import Resource

_FILES: Final = "valueYamlFiles"
"""Where a release or chart names files of values. What it says itself goes before theirs."""
_LOCAL: Final = (".", "/", "~")
_ARCHIVES: Final = (".tgz", ".tar.gz")
_ARCHIVE: Final = re.compile(r"(?:-v?\d+\.\d+[^/]*)?\.(?:tgz|tar\.gz)$")
"""How the name of an archive ends: with the chart's version, and its kind."""


def name(release: Resource) -> str | None:
    """Return the name of a release's chart, without registry, path, version or archive suffix."""
    chart = release.view["chart"].text()
    if chart is None:
        return None
    last = chart.rstrip("/").rpartition("/")[2]
    return _ARCHIVE.sub("", last.partition("@")[0].partition(":")[0])


def is_local(chart: str) -> bool:
    """Return whether a chart is a folder or an archive, which is a version by itself."""
    return chart.startswith(_LOCAL) or chart.endswith(_ARCHIVES)


def values(release: Resource) -> View:
    """Return the values a release is given, over the chart's own defaults.

    Files of values are not read: where there are some, what is not said beside them is not known.
    """
    said, files = release.view["values"], release.view[_FILES].data
    if files is None or (isinstance(files, list | tuple) and not files):
        return said
    return View({} if said.data is None else said.data, said.source, said.path, partial=True)


def releases(program: Program, *names: str) -> tuple[Resource, ...]:
    """Return the releases of a program whose chart is known to be one of ``names``."""
    index = _by_name(program)
    found = [item for name in names for item in index.get(name, ())]
    return tuple(release for _, release in (sorted(found, key=_place) if len(names) > 1 else found))


def unclear(program: Program) -> tuple[NotKnown, ...]:
    """Return what is not known about releases of which nobody can tell what they install."""
    return tuple(name for name in _named(program).values() if isinstance(name, NotKnown))


@once
def _named(program: Program) -> Mapping[str, str | NotKnown | None]:
    """Return the chart of each release, by its URN."""
    return {release.urn: attempt(name, release) for release in program.of_type(*sorted(tokens.HELM))}


@once
def _by_name(program: Program) -> Mapping[str, list[tuple[int, Resource]]]:
    """Return the releases of each chart, with their places among all."""
    found: dict[str, list[tuple[int, Resource]]] = {}
    for place, (urn, chart) in enumerate(_named(program).items()):
        if isinstance(chart, str):
            found.setdefault(chart, []).append((place, program.by_urn[urn]))
    return found


def _place(found: tuple[int, Resource]) -> int:
    return found[0]
