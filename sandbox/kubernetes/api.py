"""Access to the objects of a cluster, by the official client; in the plain terms of manifests.

`connect` imports the client, which takes a third of a second: only then.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

Manifest = dict[str, Any]
"""An object as Kubernetes writes it, in JSON."""

FIELD_MANAGER = "eks-gpu-sandbox"
"""Whose fields they are that we apply, unless somebody else is named; and what the audit log calls us."""

CONNECTIONS = 8
"""Kept open; more threads than this wait for each other."""


class RefusedError(Exception):
    """The API server did not do what was asked; the text is its own."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        """Keep what it answered."""
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        """The HTTP status: 404 not there, 409 conflict, 422 invalid, ..."""
        self.reason = reason
        """In one word, as Kubernetes says it: ``Invalid``."""
        self.message = message


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object that the API server knows."""

    api_version: str
    """``v1``, ``apps/v1``"""
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def group(self) -> str:
        """The API group; empty for the core one."""
        return self.api_version.rpartition("/")[0]


def connect(plane: ControlPlane) -> Api:
    """Return access to a cluster; close it, or use it as a context."""
    return Api(plane)


class Api:
    """A few verbs on objects of any kind. What the server knows is asked anew whenever a kind is not found."""

    def __init__(self, plane: ControlPlane) -> None:
        """Speak to the server of ``plane`` and to nobody else, whatever the user's own settings say."""
        from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415 - see the module
        from kubernetes.dynamic import DynamicClient  # noqa: PLC0415 - see the module
        from kubernetes.dynamic.discovery import LazyDiscoverer  # noqa: PLC0415 - see the module
        from kubernetes.dynamic.exceptions import NotFoundError  # noqa: PLC0415 - see the module

        class Discoverer(LazyDiscoverer):  # type: ignore[misc]  # the client comes without types
            """Remembers in this connection alone: the client's own file is shared by all clusters of one address."""

            def _write_cache(self) -> None:
                pass

            def get_resources_for_api_version(self, *version: object) -> Any:  # noqa: ANN401 - the client's own
                # A group goes with its last definition, perhaps since the groups were asked for.
                try:
                    return super().get_resources_for_api_version(*version)
                except NotFoundError:
                    return {}

        configuration = Configuration(host=plane.endpoint)
        configuration.api_key = {"BearerToken": plane.token}
        configuration.api_key_prefix = {"BearerToken": "Bearer"}
        configuration.ca_cert_data = base64.b64decode(plane.certificate_authority).decode()
        configuration.proxy = None
        configuration.connection_pool_maxsize = CONNECTIONS
        self._transport = ApiClient(configuration)
        self._transport.user_agent = FIELD_MANAGER
        self.dynamic = DynamicClient(
            self._transport, cache_file=str(plane.kubeconfig.with_name("never-written")), discoverer=Discoverer
        )
        """The client itself, for what is not here (watches, logs, subresources)."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_raised: object) -> None:
        """Close what is open."""
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()
        self._transport.rest_client.close()

    def kinds(self) -> list[Kind]:
        """Return every kind that can be listed, each once, in the version its group prefers."""
        discovered = self.dynamic.resources
        with _told():
            discovered.invalidate_cache()
            found = [resource for group in discovered for resource in group if _is_listable(resource)]
        # A kind may be in an older version of its group only.
        best: dict[tuple[str, str], Any] = {}
        for resource in found:
            key = (resource.group or "", resource.kind)
            if key not in best or resource.preferred:
                best[key] = resource
        return [_kind(best[key]) for key in sorted(best)]

    def list(self, api_version: str, kind: str, namespace: str = "", *, selector: str = "") -> list[Manifest]:
        """Return the objects of a kind (of all namespaces, if none is given), chosen by a label selector.

        Raises:
            RefusedError: the server does not know the kind (404), or will not.

        """
        with _told():
            resource = self._resource(api_version, kind)
            answer = resource.get(
                namespace=namespace or None, label_selector=selector or None, serialize=False, **_PATIENCE
            )
        items: list[Manifest] = json.loads(answer.data).get("items") or []
        # In a list, the server leaves out what is the same for all.
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Manifest | None:
        """Return an object, or None if there is none of that name, or no such kind."""
        try:
            return self._do("get", api_version, kind, name=name, namespace=namespace or None)
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def create(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Manifest:
        """Create an object; a field the kind does not have is refused.

        Raises:
            RefusedError: 409 it is there already, 422 it is invalid, 400 it has unknown fields, ...

        """
        return self._do(
            "create",
            manifest["apiVersion"],
            manifest["kind"],
            body=dict(manifest),
            namespace=_namespace(manifest),
            **_strictly(dry_run=dry_run),
        )

    def apply(self, manifest: Mapping[str, Any], *, dry_run: bool = False, manager: str = FIELD_MANAGER) -> Manifest:
        """Make an object so (server-side apply, taking over fields of others); with ``dry_run`` only judge it.

        A field the kind does not have is refused. A dry run passes through everything else that judges: schema, CEL
        rules, admission.

        Raises:
            RefusedError: 422 it is invalid, 404 there is no such kind or namespace, 400 or 500 it has unknown fields
                (500 from the server's own merge, whose text names the field), ...

        """
        return self._do(
            "server_side_apply",
            manifest["apiVersion"],
            manifest["kind"],
            body=dict(manifest),
            namespace=_namespace(manifest),
            field_manager=manager,
            force_conflicts=True,
            **_strictly(dry_run=dry_run),
        )

    def delete(self, api_version: str, kind: str, name: str, namespace: str = "") -> bool:
        """Tell an object to go, and what it owns behind it; tell whether there was one."""
        try:
            self._do(
                "delete",
                api_version,
                kind,
                name=name,
                namespace=namespace or None,
                body={"propagationPolicy": "Background"},
            )
        except RefusedError as error:
            if error.status == NOT_FOUND:
                return False
            raise
        return True

    def patch(self, manifest: Mapping[str, Any]) -> Manifest:
        """Merge into an object what ``manifest`` says; a value of None removes a key.

        Raises:
            RefusedError: 404 there is none, 422 it would be invalid, ...

        """
        return self._do(
            "patch",
            manifest["apiVersion"],
            manifest["kind"],
            body=dict(manifest),
            namespace=_namespace(manifest),
            content_type=_MERGE,
            **_strictly(dry_run=False),
        )

    def patch_status(self, manifest: Mapping[str, Any]) -> Manifest:
        """Merge into an object's status what ``manifest`` says of it: as a controller would, or a kubelet.

        Raises:
            RefusedError: 404 there is none, or its kind has no status of its own, ...

        """
        with _told():
            status = self._resource(manifest["apiVersion"], manifest["kind"]).subresources.get("status")
            if status is None:
                raise RefusedError(NOT_FOUND, "NotFound", f"{manifest['kind']} has no status of its own")
            answer = status.patch(
                body=dict(manifest),
                name=manifest["metadata"]["name"],
                namespace=_namespace(manifest),
                content_type=_MERGE,
                serialize=False,
                **_PATIENCE,
            )
        return _object(answer)

    def _do(self, verb: str, api_version: str, kind: str, **arguments: Any) -> Manifest:  # noqa: ANN401 - the client's own
        with _told():
            resource = self._resource(api_version, kind)
            return _object(getattr(resource, verb)(serialize=False, **_PATIENCE, **arguments))

    def _resource(self, api_version: str, kind: str) -> Any:  # noqa: ANN401 - the client comes without types
        return self.dynamic.resources.get(api_version=api_version, kind=kind)


NOT_FOUND = 404
_MERGE = "application/merge-patch+json"
_PATIENCE: Mapping[str, Any] = {"_request_timeout": 60}


def _strictly(*, dry_run: bool) -> dict[str, Any]:
    query = [("fieldValidation", "Strict"), *([("dryRun", "All")] if dry_run else [])]
    return {"query_params": query}


def _namespace(manifest: Mapping[str, Any]) -> str | None:
    namespace: str | None = manifest["metadata"].get("namespace")
    return namespace


def _object(answer: Any) -> Manifest:  # noqa: ANN401 - the client comes without types
    found: Manifest = json.loads(answer.data)
    return found


def _is_listable(resource: Any) -> bool:  # noqa: ANN401 - the client comes without types
    from kubernetes.dynamic.resource import ResourceList  # noqa: PLC0415 - see the module

    # The client adds a kind of its own for the list of each kind.
    return not isinstance(resource, ResourceList) and "list" in resource.verbs


def _kind(resource: Any) -> Kind:  # noqa: ANN401 - the client comes without types
    return Kind(
        resource.group_version, resource.kind, resource.name, bool(resource.namespaced), frozenset(resource.verbs)
    )


@contextmanager
def _told() -> Iterator[None]:
    """Turn what the client raises into what the server said."""
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415 - see the module
    from kubernetes.dynamic.exceptions import ResourceNotFoundError  # noqa: PLC0415 - see the module

    try:
        yield
    except ResourceNotFoundError as error:
        raise RefusedError(NOT_FOUND, "NotFound", f"the server knows no such kind ({error})") from None
    except ApiException as error:
        raise _refusal(error) from None


def _refusal(error: Any) -> RefusedError:  # noqa: ANN401 - the client comes without types
    try:
        said = json.loads(error.body)
        return RefusedError(error.status, str(said.get("reason", error.reason)), str(said["message"]))
    except (ValueError, TypeError, KeyError):
        return RefusedError(error.status or 0, str(error.reason), str(error.body or "no answer"))
