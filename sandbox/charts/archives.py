"""Packs the stand-in charts as Helm does: one ``.tgz`` each, the same bytes whenever the same things go in."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from eks_gpu.facts.versions import Chart
from sandbox.charts import definitions, values_schema
from sandbox.charts.definitions import DEFINITIONS
from sandbox.errors import SandboxError

SOURCES: Final = Path(__file__).resolve().parent
"""Holds a folder for each chart, and ``shared`` with the templates that every chart gets."""

_SHARED: Final = "shared"


@dataclass(frozen=True, slots=True)
class Archive:
    """A packed chart."""

    chart: Chart
    metadata: Mapping[str, Any]
    """What its ``Chart.yaml`` says."""
    content: bytes

    @property
    def file_name(self) -> str:
        """Its name in a repository."""
        return f"{self.chart.name}-{self.chart.version}.tgz"


def pack(chart: Chart, kept: Path) -> Archive:
    """Return the packed chart: from the folder ``kept``, if it was packed from the same things before.

    Raises:
        SandboxError: there is no stand-in for the chart, or its definitions are not in Go's module cache.

    """
    written = _written(chart)
    path = kept / f"{chart.name}-{chart.version}-{_inputs(chart, written)}.tgz"
    if not path.exists():
        content = _tar_gz(chart.name, {**written, **_definitions(chart)})
        temporary = path.with_suffix(".part")
        temporary.write_bytes(content)
        temporary.replace(path)
    return Archive(chart, yaml.safe_load(written["Chart.yaml"]), path.read_bytes())


def default_values(chart: Chart) -> dict[str, Any]:
    """Return the stand-in's own ``values.yaml``."""
    values: dict[str, Any] = yaml.safe_load(_read(_folder(chart))["values.yaml"])
    return values


def _written(chart: Chart) -> dict[str, bytes]:
    """Return the files of a chart that do not come from elsewhere, by their paths in it."""
    files = _read(_folder(chart))
    files |= {f"templates/{name}": content for name, content in _read(SOURCES / _SHARED).items()}
    about = {**yaml.safe_load(files["Chart.yaml"]), "name": chart.name, "version": chart.version}
    files["Chart.yaml"] = yaml.safe_dump({**about, "appVersion": _app_version(chart)}).encode()
    schema = values_schema.of(yaml.safe_load(files["values.yaml"]))
    files["values.schema.json"] = json.dumps(schema, indent=1).encode()
    return files


def _app_version(chart: Chart) -> str:
    source = DEFINITIONS.get(chart.name)
    return f"v{source.module.version}" if source and source.is_app else chart.version.removeprefix("v")


def _folder(chart: Chart) -> Path:
    folder = SOURCES / chart.name
    if not folder.is_dir():
        raise SandboxError(
            f"the sandbox has no stand-in for the chart {chart.name}; add sandbox/charts/{chart.name}/ as described in "
            "sandbox/charts/README.md"
        )
    return folder


def _read(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _definitions(chart: Chart) -> dict[str, bytes]:
    source = DEFINITIONS.get(chart.name)
    return dict(source.files()) if source else {}


def _inputs(chart: Chart, written: Mapping[str, bytes]) -> str:
    """Return a digest of all that goes into a chart. Definitions are known by the version of their module."""
    source = DEFINITIONS.get(chart.name)
    digest = hashlib.sha256(repr((chart.name, source and (source, source.module.version))).encode())
    for code in (__file__, definitions.__file__):
        digest.update(Path(code).read_bytes())
    for path, content in sorted(written.items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _tar_gz(root: str, files: Mapping[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in sorted(files.items()):
            # Neither time nor owner: a new TarInfo has none.
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
