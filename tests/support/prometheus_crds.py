"""Validates ServiceMonitors and PrometheusRules against the prometheus-operator's CRDs.

They are read from the Go module cache, where Go puts the pinned module after it has checked its checksum. The bundled
chart ships a newer operator: ``v1`` kinds only gain fields, so what the older schema takes, the newer does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from tests.support.crds import strict

MODULE = "github.com/prometheus-operator/prometheus-operator"
VERSION = "v0.85.0"
_SUMS = Path(__file__).with_name("prometheus_operator_module") / "go.sum"


def schema_problems(resource: Mapping[str, Any]) -> list[str]:
    """Return what the CRD's schema refuses in a resource, unknown fields included, each with its path."""
    validator = jsonschema.Draft202012Validator(_schema(resource["kind"]))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(dict(resource))]


@cache
def _schema(kind: str) -> dict[str, Any]:
    file = _module() / "example" / "prometheus-operator-crd" / f"monitoring.coreos.com_{kind.lower()}s.yaml"
    (version,) = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["versions"]
    return strict(version["schema"]["openAPIV3Schema"])


@cache
def _module() -> Path:
    go = shutil.which("go")
    if go is None:
        raise FileNotFoundError("Go is not on PATH; install it to validate against the prometheus-operator's CRDs")
    with tempfile.TemporaryDirectory() as elsewhere:  # outside any module, so that Go resolves this one alone
        command = [go, "mod", "download", "-json", f"{MODULE}@{VERSION}"]
        done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout or "{}")
    if "Dir" not in found:
        raise RuntimeError(f"cannot get {MODULE}: {found.get('Error') or done.stderr.strip()}")
    if f"{MODULE} {VERSION} {found['Sum']}" not in _SUMS.read_text(encoding="utf-8"):
        raise RuntimeError(f"{MODULE} has checksum {found['Sum']}, which is not the one in {_SUMS}")
    return Path(found["Dir"])
