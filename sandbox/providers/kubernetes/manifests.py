"""Kubernetes manifests: read as the real provider's YAML components do, and named as they name their members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox.providers.components import Member
from sandbox.providers.stand_in import StandInError
from sandbox.providers.wire import Properties, contains_unknown

GROUP: Final = "kubernetes:yaml/v2:ConfigGroup"
FILE: Final = "kubernetes:yaml/v2:ConfigFile"
COMPONENTS: Final = (GROUP, FILE, "kubernetes:helm.sh/v4:Chart", "kubernetes:kustomize/v2:Directory")
"""What the stand-in takes as a component. The last two are not rendered: they have no members here."""


def objects(text: str, source: str) -> list[Properties]:
    """Return the objects of a YAML text, those of a `List` one by one; `source` names it in a refusal."""
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise StandInError(f"{source} is not YAML: {' '.join(str(error).split())}") from error
    return [each for document in documents for each in _flat(document, source)]


def members(token: str, name: str, inputs: Properties) -> list[Member]:
    """Return the members of a YAML component; none of a component whose manifests are not known yet."""
    if token not in {GROUP, FILE} or contains_unknown(inputs):
        return []
    prefix = inputs.get("resourcePrefix", name)
    return [_member(each, prefix) for each in _manifests(token, inputs)]


def _manifests(token: str, inputs: Properties) -> Iterator[Properties]:
    patterns = [inputs["file"]] if token == FILE and "file" in inputs else inputs.get("files", [])
    for path in _files([patterns] if isinstance(patterns, str) else patterns):
        yield from objects(path.read_text(encoding="utf-8"), str(path))
    for text in _texts(inputs.get("yaml")):
        yield from objects(text, "yaml")
    for each in inputs.get("objs", []):
        yield from _flat(each, "objs")


def _files(patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        if "://" in pattern:
            raise StandInError(f"{pattern} would have to be fetched; the sandbox has no network")
        found = sorted(glob(pattern))  # noqa: PTH207 - a pattern may be absolute, which Path.glob refuses
        if not found:
            raise StandInError(f"no file is named {pattern}")
        yield from (Path(path) for path in found)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _flat(document: Any, source: str) -> Iterator[Properties]:  # noqa: ANN401 - YAML may be anything
    if document is None:
        return
    if not isinstance(document, Mapping) or not document.get("kind") or not document.get("apiVersion"):
        raise StandInError(f"{source} holds something that is no Kubernetes object: it has no kind or no apiVersion")
    if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flat(item, source)
    else:
        yield dict(document)


def _member(manifest: Properties, prefix: str) -> Member:
    metadata = manifest.get("metadata") or {}
    version = str(manifest["apiVersion"])
    group = version if "/" in version else f"core/{version}"
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return Member(f"kubernetes:{group}:{manifest['kind']}", f"{prefix}:{name}" if prefix else name, manifest)
