"""Validates ServiceMonitors and PrometheusRules against the prometheus-operator's CRDs.

They are read from the operator's Go module, which is in Go's module cache after the first run, in the version that the
bundled chart has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema
import yaml

from sandbox.toolchain.go_module import GoModule
from tests.support.crds import strict

OPERATOR = GoModule("github.com/prometheus-operator/prometheus-operator", "prometheus_operator")


def schema_problems(resource: Mapping[str, Any]) -> list[str]:
    """Return what the CRD's schema refuses in a resource, unknown fields included, each with its path."""
    validator = jsonschema.Draft202012Validator(_schema(resource["kind"]))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(dict(resource))]


@cache
def _schema(kind: str) -> dict[str, Any]:
    file = OPERATOR.folder / "example" / "prometheus-operator-crd" / f"monitoring.coreos.com_{kind.lower()}s.yaml"
    (version,) = yaml.safe_load(file.read_text(encoding="utf-8"))["spec"]["versions"]
    return strict(version["schema"]["openAPIV3Schema"])
