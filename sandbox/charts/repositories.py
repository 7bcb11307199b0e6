"""What each address of a chart's repository answers: a table, because nothing in it ever changes.

Two kinds of repository: a folder on a web server with an ``index.yaml``, and a registry that speaks the OCI
distribution protocol (https://github.com/opencontainers/distribution-spec) with Helm's media types.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import yaml

from sandbox.charts.archives import Archive

_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_CONFIG: Final = "application/vnd.cncf.helm.config.v1+json"
_CONTENT: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


@dataclass(frozen=True, slots=True)
class Address:
    """A place on the web, reached by https."""

    host: str
    path: str

    def __str__(self) -> str:
        """Return the URL."""
        return f"https://{self.host}{self.path}"


@dataclass(frozen=True, slots=True)
class Document:
    """What an address answers."""

    body: bytes
    media_type: str

    @property
    def digest(self) -> str:
        """The body's digest, as registries write it."""
        return f"sha256:{hashlib.sha256(self.body).hexdigest()}"


def documents(archives: Iterable[Archive]) -> dict[Address, Document]:
    """Return all that the repositories of these charts answer."""
    found: dict[Address, Document] = {}
    folders: dict[Address, list[Archive]] = defaultdict(list)
    for archive in archives:
        repository = urlsplit(archive.chart.repository)
        place = Address(repository.netloc, repository.path.rstrip("/"))
        if archive.chart.is_oci:
            found |= _registry(place, archive)
        else:
            folders[place].append(archive)
    for place, charts in folders.items():
        found |= _web_folder(place, charts)
    return found


def _web_folder(place: Address, archives: Iterable[Archive]) -> Iterator[tuple[Address, Document]]:
    entries: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for archive in archives:
        packed = Document(archive.content, "application/gzip")
        digest = packed.digest.removeprefix("sha256:")
        entries[archive.chart.name].append({**archive.metadata, "digest": digest, "urls": [archive.file_name]})
        yield Address(place.host, f"{place.path}/{archive.file_name}"), packed
    index = yaml.safe_dump({"apiVersion": "v1", "entries": dict(entries)})
    yield Address(place.host, f"{place.path}/index.yaml"), Document(index.encode(), "application/yaml")


def _registry(place: Address, archive: Archive) -> Iterator[tuple[Address, Document]]:
    name = f"{place.path}/{archive.chart.name}".lstrip("/")
    root = f"/v2/{name}"
    config = Document(json.dumps(dict(archive.metadata), sort_keys=True).encode(), _CONFIG)
    layer = Document(archive.content, _CONTENT)
    manifest = Document(_manifest(config, layer), _MANIFEST)
    # A tag can hold no plus sign; Helm writes and asks for this instead.
    tag = archive.chart.version.replace("+", "_")
    tags = Document(json.dumps({"name": name, "tags": [tag]}).encode(), "application/json")
    yield Address(place.host, "/v2/"), Document(b"{}", "application/json")
    yield Address(place.host, f"{root}/tags/list"), tags
    for reference in (tag, manifest.digest):
        yield Address(place.host, f"{root}/manifests/{reference}"), manifest
    for blob in (config, layer):
        yield Address(place.host, f"{root}/blobs/{blob.digest}"), blob


def _manifest(config: Document, layer: Document) -> bytes:
    def described(blob: Document) -> dict[str, object]:
        return {"mediaType": blob.media_type, "digest": blob.digest, "size": len(blob.body)}

    manifest = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": described(config), "layers": [described(layer)]}
    return json.dumps(manifest, sort_keys=True).encode()
