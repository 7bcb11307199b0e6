"""Judge, name and echo Kubernetes objects and Helm releases."""

from __future__ import annotations

from typing import Final

from sandbox.providers.components import Member
from sandbox.providers.kubernetes.quantities import spelled_out
from sandbox.providers.kubernetes.replacements import fixed_fields
from sandbox.providers.naming import NameRequest, physical_name
from sandbox.providers.schema import Failure, problems
from sandbox.providers.sdk import Sdk
from sandbox.providers.stand_in import Checked, StandIn, StandInError, Stored
from sandbox.providers.wire import UNKNOWN, Properties

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_DECODE: Final = "kubernetes:yaml:decode"
_AUTONAMED: Final = "pulumi.com/autonamed"
_NAME_DIGITS: Final = 8
_DEFAULT_TIMEOUT_SECONDS: Final = 300
_MUTABLE: Final = {
    "kubernetes:core/v1:ConfigMap": "enableConfigMapMutable",
    "kubernetes:core/v1:Secret": "enableSecretMutable",
}


class Kubernetes(StandIn):
    """Every object that passes the check exists, at once and as it was asked for."""

    package = "kubernetes"
    builds_components = True

    def __init__(self, sdk: Sdk | None = None) -> None:
        """Judge objects by the installed `pulumi_kubernetes`, or by `sdk`."""
        self.sdk = sdk or Sdk("pulumi_kubernetes")
        self._mutable: frozenset[str] = frozenset()

    def configure(self, config: Properties) -> None:
        """Note which of ConfigMap and Secret change in place; how to reach a cluster does not matter here."""
        self._mutable = frozenset(token for token, setting in _MUTABLE.items() if config.get(setting) is True)

    def check(self, token: str, old: Properties, new: Properties, name: NameRequest) -> Checked:
        """Judge an object of a type the SDK has; take every other as a custom resource."""
        inputs = _release_inputs(old, new, name) if token == RELEASE else _object_inputs(token, old, new, name)
        resource = self.sdk.resource(token)
        failures = (
            problems(self.sdk, resource, spelled_out(inputs)) if resource else _custom_resource_problems(token, inputs)
        )
        if token.endswith("Patch") and not _has_name(inputs):
            failures.append(Failure("metadata.name", "a patch needs the name of the object it changes"))
        return Checked(inputs, failures)

    def replaces(self, token: str) -> tuple[str, ...]:
        """Name the fields that cannot be changed in place."""
        fixed = fixed_fields(token)
        return (
            tuple(field for field in fixed if not field.lower().endswith("data")) if token in self._mutable else fixed
        )

    def deletes_first(self, token: str, old: Properties, new: Properties) -> bool:
        """Tell whether the old object stands in the way: it does if the new one has the same name and namespace."""
        if token == RELEASE:
            return _release_id(old) == _release_id(new)
        return object_id(old) == object_id(new)

    def preview_create(self, token: str, inputs: Properties) -> Properties:
        """Echo the object, with its status unknown."""
        if token == RELEASE:
            return {**inputs, "status": UNKNOWN, "resourceNames": UNKNOWN}
        resource = self.sdk.resource(token)
        return {**inputs, "status": UNKNOWN} if resource and "status" in resource.outputs else dict(inputs)

    def create(self, token: str, inputs: Properties) -> Stored:
        """Store the object under `namespace/name`, as the real provider does."""
        if token == RELEASE:
            return Stored(_release_id(inputs), _release_state(inputs, revision=1))
        return Stored(object_id(inputs), dict(inputs))

    def preview_update(self, token: str, state: Properties, old: Properties, new: Properties) -> Properties:
        """Echo the changed object."""
        del old
        return (
            {**new, "status": UNKNOWN, "resourceNames": state.get("resourceNames")} if token == RELEASE else dict(new)
        )

    def update(self, token: str, existing: Stored, old: Properties, new: Properties) -> Properties:
        """Store the changed object; a release gets its next revision."""
        del old
        if token == RELEASE:
            return _release_state(new, revision=existing.state.get("status", {}).get("revision", 0) + 1)
        return dict(new)

    def read(self, token: str, existing: Stored) -> Stored | None:
        """Return what was stored: nothing changes a stand-in's objects behind its back."""
        del token
        return existing if existing.state else None

    def delete(self, token: str, existing: Stored) -> None:
        """Forget the object."""

    def members(self, token: str, name: str, inputs: Properties) -> list[Member]:
        """Return the objects of YAML components; charts and kustomizations are taken, and not rendered."""
        from sandbox.providers.kubernetes import manifests  # noqa: PLC0415 - most programs need no YAML, all a start

        if token not in manifests.COMPONENTS:
            return super().members(token, name, inputs)
        return manifests.members(token, name, inputs)

    def invoke(self, token: str, arguments: Properties) -> Properties:
        """Read YAML for the components that do so in the program itself."""
        from sandbox.providers.kubernetes import manifests  # noqa: PLC0415 - as above

        if token != _DECODE:
            raise StandInError(f'the stand-in provider kubernetes has no function "{token}"; it has {_DECODE}')
        return {"result": manifests.objects(arguments.get("text", ""), "yaml")}


def object_id(inputs: Properties) -> str:
    """Return the provider's id of an object: its name, after its namespace if it says one."""
    metadata = inputs.get("metadata") or {}
    return "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)


def _object_inputs(token: str, old: Properties, new: Properties, request: NameRequest) -> Properties:
    api = token.removeprefix("kubernetes:")
    group_version, _, kind = api.rpartition(":")
    metadata = dict(new.get("metadata") or {})
    old_metadata = old.get("metadata") or {}
    if not metadata.get("name") and not metadata.get("generateName") and not kind.endswith(("Patch", "List")):
        annotations = metadata.get("annotations") or {}
        if old_metadata.get("annotations", {}).get(_AUTONAMED):
            metadata["name"] = old_metadata["name"]
        else:
            metadata["name"] = physical_name(request, digits=_NAME_DIGITS)
        metadata["annotations"] = {**annotations, _AUTONAMED: "true"}
    version = group_version.removeprefix("core/")
    return {"apiVersion": version, "kind": kind.removesuffix("Patch"), **new, "metadata": metadata}


def _release_inputs(old: Properties, new: Properties, request: NameRequest) -> Properties:
    name = new.get("name") or old.get("name") or physical_name(request, digits=_NAME_DIGITS)
    return {"namespace": "default", "timeout": _DEFAULT_TIMEOUT_SECONDS, **new, "name": name}


def _release_id(inputs: Properties) -> str:
    return f"{inputs.get('namespace')}/{inputs.get('name')}"


def _release_state(inputs: Properties, *, revision: int) -> Properties:
    """Return a release's outputs: deployed, but with none of the objects that a chart would have made."""
    status = {
        "name": inputs["name"],
        "namespace": inputs["namespace"],
        "chart": str(inputs["chart"]).rsplit("/", 1)[-1],
        "version": inputs.get("version", ""),
        "revision": revision,
        "status": "deployed",
    }
    return {**inputs, "status": status, "resourceNames": {}}


def _has_name(inputs: Properties) -> bool:
    return bool((inputs.get("metadata") or {}).get("name"))


def _custom_resource_problems(token: str, inputs: Properties) -> list[Failure]:
    """Require what every object has: the schema of a custom resource is not known here."""
    if "/" not in token:
        return [Failure("", f'"{token}" is no type; a Kubernetes type reads kubernetes:GROUP/VERSION:KIND')]
    return [
        Failure(field, f"a custom resource needs {field}") for field in ("apiVersion", "kind") if not inputs.get(field)
    ]
