"""The custom resource definitions that the charts bring, for tests that install no chart."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import yaml

from eks_gpu.facts import versions
from sandbox.charts import definitions
from sandbox.kubernetes.api import Api, Manifest
from tests.support.cluster import eventually

_EMITTED: Final = ("_ec2nodeclasses", "_nodepools", "_prometheusrules", "_servicemonitors")
"""Ends of the names of files. The other definitions are large, and the server would take half a minute to serve all."""

_CLUSTER_POLICY: Final = (
    Path(definitions.__file__).parent / versions.GPU_OPERATOR.name / "crds" / "nvidia.com_clusterpolicies.yaml"
)


def define(api: Api) -> None:
    """Define every kind that the library emits, and wait until the server serves them."""
    defined = [api.create(each) for each in _definitions()]
    for each in defined:
        eventually(partial(_is_established, api, each), f"{each['metadata']['name']} being served")


def _definitions() -> list[Manifest]:
    """Return the definitions, each once: two charts bring those of Karpenter."""
    texts = {
        Path(path).name: text
        for source in definitions.DEFINITIONS.values()
        for path, text in source.files()
        if Path(path).stem.endswith(_EMITTED)
    }
    texts[_CLUSTER_POLICY.name] = _CLUSTER_POLICY.read_bytes()
    return [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts.values()]


def _is_established(api: Api, definition: Manifest) -> bool:
    found = api.get(definition["apiVersion"], definition["kind"], definition["metadata"]["name"]) or {}
    conditions = found.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
