"""Helm charts as resources: which chart it is, and what its values say."""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.planning.reading import View
from eks_gpu_policies.resource import Resource

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
    """Return the values a release is given, over the chart's own defaults."""
    return release.view["values"]
