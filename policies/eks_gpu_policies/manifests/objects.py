"""The Kubernetes objects in YAML documents, as resources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies.manifests.documents import Entry, Node
from eks_gpu_policies.resource import Resource

URN_PREFIX: Final = "manifest:"
"""Of the URN of an object in a file: ``manifest:<file>#<number of the object in it>``."""

NOT_IN_A_CLUSTER: Final = (
    "audit.k8s.io/",
    "eksctl.io/",
    "kind.x-k8s.io/",
    "kubeadm.k8s.io/",
    "kubelet.config.k8s.io/",
    "kubescheduler.config.k8s.io/",
    "kustomize.config.k8s.io/",
    "node.eks.aws/",
    "skaffold/",
)
"""Groups whose files look like objects and are read by a tool or a node, not by an API server."""
_CLIENT_CONFIG: Final = ("v1", "Config")
"""A kubeconfig: it holds credentials, and no API server knows its kind."""

_LIST: Final = "List"

_PLACEHOLDER: Final = re.compile(
    r"\$\{[A-Za-z_][^{}\s]*\}|\{\{(?!\s*\$)[^{}]*\}\}|<%.*?%>|<<[A-Za-z_][\w-]*>>|<[A-Z][A-Z0-9_-]*>|^\$[A-Z_][A-Z0-9_]*$"
)
"""What somebody fills in before the API server sees it: ``${NAME}``, ``{{ name }}``, ``<NAME>``, ``$NAME``. Those of
alerts (``{{ $labels.instance }}``) and Kubernetes' own ``$(NAME)`` are filled in later, and are what they say."""


@dataclass(frozen=True)
class Manifest:
    """An object, and where it stands."""

    resource: Resource
    kind: str
    namespace: str
    """Empty where none is said."""
    file: str
    node: Node
    built: bool = False
    """Whether a program made it from the file, so that its lines are in none that anybody could open."""

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return 1 if self.built else self.node.line

    @property
    def address(self) -> str:
        """What people call it: ``Deployment/llm``."""
        return f"{self.kind}/{self.resource.name}"

    def line_of(self, path: str) -> int:
        """Return the line of a property (``spec.template.spec``), or of the nearest one above it that is there."""
        while path and not self.built:
            if path in self._lines:
                return self._lines[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[: max(cut, 0)]
        return self.line

    @cached_property
    def _lines(self) -> dict[str, int]:
        """The line of every property; only an object with a finding is asked."""
        lines: dict[str, int] = {}
        pending = [("", self.node)]
        while pending:
            path, node = pending.pop()
            for below, line, child in _children(path, node):
                lines[below] = line
                pending.append((below, child))
        return lines


def _children(path: str, node: Node) -> Iterator[tuple[str, int, Node]]:
    if isinstance(node.value, dict):
        for key, entry in node.value.items():
            yield f"{path}.{key}" if path else key, entry.line, entry.node
    elif isinstance(node.value, tuple):
        for number, item in enumerate(node.value):
            yield f"{path}[{number}]", item.line, item


def is_object(node: Node) -> bool:
    """Return whether a node is an object of an API server: it has an ``apiVersion`` and a ``kind`` that one knows."""
    version, kind = _text(node, "apiVersion"), _text(node, "kind")
    if not version or not kind or (version, kind) == _CLIENT_CONFIG:
        return False
    return not version.startswith(NOT_IN_A_CLUSTER)


def objects(file: str, roots: Iterable[Node], first: int = 0, *, built: bool = False) -> Iterator[Manifest]:
    """Yield the objects of a file, those in lists among them; ``first`` is the number of the first one."""
    for number, node in enumerate((item for root in roots for item in _expanded(root)), start=first):
        yield _manifest(file, number, node, built=built)


def _expanded(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop(0)
        items = _members(node)
        if items is None:
            if is_object(node):
                yield node
        else:
            pending[:0] = items


def _members(node: Node) -> list[Node] | None:
    """Return the objects of a ``List``; the API server leaves out what all of a ``PodList`` have in common."""
    kind, version = _text(node, "kind"), _text(node, "apiVersion")
    if not isinstance(node.value, dict) or kind is None or not kind.endswith(_LIST) or "items" not in node.value:
        return None
    items = node.value["items"].node
    if not isinstance(items.value, tuple):
        return []
    own = kind.removesuffix(_LIST)
    common = {"apiVersion": version, "kind": own} if own else {}
    return [_completed(item, common) for item in items.value]


def _completed(item: Node, common: dict[str, str | None]) -> Node:
    if not isinstance(item.value, dict):
        return item
    missing = {key: Entry(item.line, Node(item.line, text)) for key, text in common.items() if key not in item.value}
    return Node(item.line, {**missing, **item.value})


def _manifest(file: str, number: int, node: Node, *, built: bool) -> Manifest:
    version, kind = _text(node, "apiVersion") or "", _text(node, "kind") or ""
    metadata = _child(node, "metadata")
    generated = _text(metadata, "generateName")
    name = _text(metadata, "name") or (f"{generated}*" if generated else f"{kind.lower()} of line {node.line}")
    resource = Resource(
        urn=f"{URN_PREFIX}{file}#{number}",
        type=f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}",
        name=name,
        props=_properties(node),
    )
    return Manifest(resource, kind, _text(metadata, "namespace") or "", file, node, built)


def _child(node: Node | None, key: str) -> Node | None:
    if node is None or not isinstance(node.value, dict) or key not in node.value:
        return None
    return node.value[key].node


def _text(node: Node | None, key: str) -> str | None:
    found = _child(node, key)
    return found.value if found is not None and isinstance(found.value, str) else None


def _properties(node: Node) -> dict[str, object]:
    plain = _plain(node)
    return plain if isinstance(plain, dict) else {}


def _plain(node: Node) -> object:
    """Return plain data; what a placeholder stands for is not known."""
    match node.value:
        case dict() as entries:
            return {key: _plain(entry.node) for key, entry in entries.items()}
        case tuple() as items:
            return [_plain(item) for item in items]
        case str() as text:
            return UNKNOWN if is_placeholder(text) else text
        case scalar:
            return scalar


def is_placeholder(text: str) -> bool:
    """Return whether a text, which must be one word but for its placeholders, is filled in by somebody later."""
    if "$" not in text and "{{" not in text and "<" not in text:
        return False
    rest, found = _PLACEHOLDER.subn("", text)
    return found > 0 and not any(letter.isspace() for letter in rest.strip())
