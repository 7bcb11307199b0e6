"""Plain HTTP to the sandbox's Kubernetes, for programs that start often or run all the time.

The official client takes a third of a second and 35 MB to import, and asks the server what it knows before the first
request; the stand-in providers and the node side need half a dozen kinds, whose paths are written here.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

Object = dict[str, Any]
"""An object of Kubernetes as JSON."""

_MERGE: Final = "application/merge-patch+json"
_TIMEOUT_SECONDS: Final = 60.0
"""Deleting hundreds of objects at once takes a quarter of it on a machine with much else to do."""
_WATCH_SECONDS: Final = 240
"""After which a watch is asked for anew, in case its connection died in silence."""


class ApiError(Exception):
    """The API server refused a request; ``code`` is the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        """Keep the status and what the server said."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind and where its objects are found."""

    api: str
    """``v1``, or ``apps/v1``."""
    plural: str

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of one object, or of all (of a namespace, if one is given)."""
        root = f"/apis/{self.api}" if "/" in self.api else f"/api/{self.api}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{within}/{self.plural}{f'/{name}' if name else ''}"


NODES: Final = Kind("v1", "nodes")
PODS: Final = Kind("v1", "pods")
CONFIG_MAPS: Final = Kind("v1", "configmaps")
CLAIMS: Final = Kind("v1", "persistentvolumeclaims")
VOLUMES: Final = Kind("v1", "persistentvolumes")
STORAGE_CLASSES: Final = Kind("storage.k8s.io/v1", "storageclasses")


@dataclass(frozen=True)
class Rest:
    """Requests to one API server. Each has a connection of its own: on loopback that costs a few milliseconds."""

    endpoint: str
    certificate_authority: str
    """Base64 of PEM."""
    token: str

    @classmethod
    def of(cls, plane: ControlPlane) -> Rest:
        """Return the way to a control plane."""
        return cls(plane.endpoint, plane.certificate_authority, plane.token)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """Return one object, or None if there is none."""
        try:
            return self._request("GET", kind.path(namespace, name))
        except ApiError as error:
            if error.code == http.client.NOT_FOUND:
                return None
            raise

    def list(self, kind: Kind, namespace: str = "", **query: str) -> Object:
        """Return the list object of a kind: its ``items``, and the version to watch from."""
        return self._request("GET", kind.path(namespace), query=query)

    def create(self, kind: Kind, body: Mapping[str, Any], namespace: str = "") -> Object:
        """Create an object."""
        return self._request("POST", kind.path(namespace), body)

    def patch(
        self, kind: Kind, name: str, body: Mapping[str, Any], namespace: str = "", *, status: bool = False
    ) -> Object:
        """Merge ``body`` into an object, or into its status; a value of None removes a key."""
        path = kind.path(namespace, name) + ("/status" if status else "")
        return self._request("PATCH", path, body, content_type=_MERGE)

    def delete(self, kind: Kind, name: str, namespace: str = "", **query: str) -> bool:
        """Delete an object; tell whether there was one."""
        try:
            self._request("DELETE", kind.path(namespace, name), query=query)
        except ApiError as error:
            if error.code == http.client.NOT_FOUND:
                return False
            raise
        return True

    def watch(self, kind: Kind, version: str) -> Iterator[tuple[str, Object]]:
        """Yield what happens to a kind after ``version``: (``ADDED``, object) and so on, until the server ends it."""
        query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": str(_WATCH_SECONDS)}
        connection = self._connection(timeout=_WATCH_SECONDS + _TIMEOUT_SECONDS)
        try:
            response = self._send(connection, "GET", f"{kind.path()}?{urlencode(query)}", None, {})
            for line in response:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 0), event["object"].get("message", ""))
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        connection = self._connection(_TIMEOUT_SECONDS)
        target = f"{path}?{urlencode(query)}" if query else path
        try:
            text = self._send(connection, method, target, body, {"Content-Type": content_type}).read()
        finally:
            connection.close()
        answer: Object = json.loads(text)
        return answer

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        target: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        text = None if body is None else json.dumps(body)
        connection.request(method, target, text, {"Authorization": f"Bearer {self.token}", **headers})
        response = connection.getresponse()
        if response.status >= http.client.BAD_REQUEST:
            raise ApiError(response.status, _message(response.read()))
        return response

    def _connection(self, timeout: float) -> http.client.HTTPSConnection:
        parts = urlsplit(self.endpoint)
        return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=timeout, context=self._trust)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=base64.b64decode(self.certificate_authority).decode())


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.decode(errors="replace").strip()
