"""The objects that Pulumi's YAML components make of manifests, which otherwise only the Kubernetes provider knows.

Version 2 of ConfigFile and ConfigGroup is expanded by the provider; version 1 by the SDK, which asks the provider to
read YAML for it. Members are named as pulumi-kubernetes 4.25 names them. What is not known yet, or would have to be
fetched, is left out: whoever judges the recording sees a component without members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any, Final

import yaml

FILE: Final = "kubernetes:yaml/v2:ConfigFile"
GROUP: Final = "kubernetes:yaml/v2:ConfigGroup"
DECODE: Final = "kubernetes:yaml:decode"
"""The function by which version 1 has YAML read."""

_LIST: Final = "List"


@dataclass(frozen=True)
class Member:
    """An object that a component makes."""

    type: str
    name: str
    inputs: Mapping[str, Any]


def decode(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer :data:`DECODE`: the objects of a text, an error of the parser in its own words."""
    return {"result": list(_objects(str(args.get("text", ""))))}


def members(token: str, name: str, inputs: Mapping[str, Any]) -> Iterator[Member]:
    """Yield the objects that a component of type ``token`` makes; none for any other type."""
    if token not in {FILE, GROUP}:
        return
    prefix = inputs.get("resourcePrefix", name)
    for document in _documents(token, inputs):
        metadata = document.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        own = "/".join(part for key in ("namespace", "name") if isinstance(part := metadata.get(key), str))
        version = str(document["apiVersion"])
        kind = f"{version if '/' in version else f'core/{version}'}:{document['kind']}"
        yield Member(f"kubernetes:{kind}", f"{prefix}:{own}" if prefix else own, document)


def _documents(token: str, inputs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for pattern in _texts(inputs.get("file") if token == FILE else inputs.get("files")):
        for path in sorted(glob(pattern)):  # noqa: PTH207 - a pattern may be absolute, which Path.glob refuses
            yield from _objects(Path(path).read_text(encoding="utf-8"))
    for text in _texts(inputs.get("yaml")):
        yield from _objects(text)
    objects = inputs.get("objs")
    for document in objects if isinstance(objects, list) else ():
        yield from _flat(document)


def _texts(value: object) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [text for text in given if isinstance(text, str)]


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    for document in yaml.safe_load_all(text):
        yield from _flat(document)


def _flat(document: object) -> Iterator[Mapping[str, Any]]:
    """Yield an object, or those of a list of objects; whatever is no object is the provider's to refuse."""
    if not isinstance(document, Mapping) or not document.get("kind") or not document.get("apiVersion"):
        return
    items = document.get("items")
    if str(document["kind"]).endswith(_LIST) and isinstance(items, list):
        for item in items:
            yield from _flat(item)
    else:
        yield document
