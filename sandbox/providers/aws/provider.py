"""Judge AWS resources by the SDK, keep in moto what moto knows, and keep the rest in Pulumi's state."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from sandbox.providers.aws.api import Api
from sandbox.providers.aws.documents import as_text
from sandbox.providers.aws.invokes import answer
from sandbox.providers.aws.kept import kept
from sandbox.providers.aws.made_up import identity, missing_outputs
from sandbox.providers.aws.names import DIGITS, auto_name, name_field
from sandbox.providers.aws.nested import with_known, with_unknowns
from sandbox.providers.aws.replacements import fixed_properties
from sandbox.providers.changes import Change, changes
from sandbox.providers.naming import NameRequest, physical_name
from sandbox.providers.schema import Failure, problems
from sandbox.providers.sdk import ResourceType, Sdk
from sandbox.providers.stand_in import Checked, Difference, StandIn, StandInError, Stored
from sandbox.providers.wire import UNKNOWN, Properties

_DEFAULTS: Final = "__defaults"
"""The inputs that the provider filled in; the real one keeps the same list under the same name."""
_DEFAULT_REGION: Final = "us-east-1"
_REGION_VARIABLES: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
_TAGS: Final = frozenset({"tags", "tagsAll"})


class Aws(StandIn):
    """AWS without AWS."""

    package = "aws"
    config_replaces = frozenset({"region"})

    def __init__(self, sdk: Sdk | None = None, endpoint: str | None = None) -> None:
        """Judge by the installed `pulumi_aws`, or by `sdk`; keep resources in the moto server at `endpoint`."""
        self.sdk = sdk or Sdk("pulumi_aws")
        self._endpoint = endpoint
        self._api = Api(_DEFAULT_REGION, endpoint)
        self._default_tags: dict[str, Any] = {}

    def check_config(self, config: Properties) -> Checked:
        """Require a region, which the real provider requires too."""
        if config.get("region") is None and not any(os.environ.get(name) for name in _REGION_VARIABLES):
            return Checked(
                config,
                [Failure("region", "missing required configuration; set aws:region, or AWS_REGION in the environment")],
            )
        return Checked(config)

    def configure(self, config: Properties) -> None:
        """Take the region and the tags that every resource gets; credentials are not looked at."""
        self._api = Api(str(config.get("region") or _environment_region()), self._endpoint)
        self._default_tags = (config.get("defaultTags") or {}).get("tags") or {}

    def check(self, token: str, old: Properties, new: Properties, name: NameRequest) -> Checked:
        """Judge the inputs by the SDK's own class, and fill in a physical name where the real provider does."""
        resource = self.sdk.resource(token)
        if resource is None:
            return Checked(new, [self._no_such_type(token)])
        inputs, failures = _named(resource, old, as_text(new), name)
        return Checked(inputs, failures + problems(self.sdk, resource, inputs))

    def replaces(self, token: str) -> tuple[str, ...]:
        """Name the properties that cannot be changed in place."""
        return fixed_properties(token)

    def diff(self, token: str, state: Properties, old: Properties, new: Properties) -> Difference:
        """Compare inputs; policy documents by what they say, tags together with the provider's default tags."""
        old, new = _comparable(old), _comparable(new)
        found = changes(old, new, self.replaces(token))
        if "tagsAll" in state and "tags" not in {change.path.split(".")[0].split("[")[0] for change in found}:
            found += [Change("tagsAll", "update")] if state["tagsAll"] != self._all_tags(new) else []
        return Difference(found, self.deletes_first(token, old, new))

    def deletes_first(self, token: str, old: Properties, new: Properties) -> bool:
        """Tell whether both bear the same name, given by the program: then they cannot exist side by side."""
        field = name_field(token)
        given = field in new and field not in new.get(_DEFAULTS, ())
        return given and old.get(field) == new[field]

    def preview_create(self, token: str, inputs: Properties) -> Properties:
        """Echo the inputs; every output that AWS decides is unknown."""
        resource = self._type(token)
        unknown = {name: UNKNOWN for name, field in resource.outputs.items() if field.required}
        return with_unknowns(token, {**unknown, **self._echo(resource, inputs)})

    def create(self, token: str, inputs: Properties) -> Stored:
        """Create the resource in moto, or in state alone if moto does not know its kind."""
        resource = self._type(token)
        echo = self._echo(resource, inputs)
        keeper = kept(token)
        if keeper is None:
            return self._stored(resource, identity(resource, inputs), echo, {})
        made = keeper.create(self._api_of(inputs), self._asked(inputs))
        return self._stored(resource, made.id, echo, made.outputs)

    def preview_update(self, token: str, state: Properties, old: Properties, new: Properties) -> Properties:
        """Keep the outputs that the change does not touch; a changed launch template has an unknown next version."""
        outputs = self._carried(token, state, old, new)
        touched = {change.path.split(".")[0].split("[")[0] for change in changes(old, new)} - _TAGS
        if token == _LAUNCH_TEMPLATE and touched:
            outputs["latestVersion"] = UNKNOWN
            outputs["defaultVersion"] = UNKNOWN if new.get("updateDefaultVersion") else state.get("defaultVersion")
        return outputs

    def update(self, token: str, existing: Stored, old: Properties, new: Properties) -> Properties:
        """Change the resource in place."""
        outputs = self._carried(token, existing.state, old, new)
        keeper = kept(token)
        if keeper is not None:
            old_asked = {**old, "tags": existing.state.get("tagsAll", old.get("tags", {}))}
            outputs |= keeper.update(self._api_of(new), existing, old_asked, self._asked(new))
        return outputs

    def read(self, token: str, existing: Stored) -> Stored | None:
        """Look the resource up in moto; what is kept only in state is as it was."""
        resource, keeper = self._type(token), kept(token)
        if keeper is None:
            return existing if existing.state else None
        found = keeper.read(self._api_of(existing.state), existing)
        if found is None:
            return None
        stored = self._stored(resource, existing.id, existing.state, found)
        return Stored(stored.id, stored.state, existing.inputs)

    def delete(self, token: str, existing: Stored) -> None:
        """Remove the resource from moto."""
        keeper = kept(token)
        if keeper is not None:
            keeper.delete(self._api_of(existing.state), existing)

    def invoke(self, token: str, arguments: Properties) -> Properties:
        """Answer a provider function."""
        return answer(self._api, token, arguments)

    def _type(self, token: str) -> ResourceType:
        resource = self.sdk.resource(token)
        if resource is None:
            raise StandInError(self._no_such_type(token).reason)
        return resource

    def _no_such_type(self, token: str) -> Failure:
        near = self.sdk.nearest(token)
        advice = f'; did you mean "{near}"' if near else ""
        return Failure("", f'{self.sdk.package} {self.sdk.version} has no resource type "{token}"{advice}')

    def _api_of(self, properties: Properties) -> Api:
        """Return the API of the resource's own region: since v7 every resource may say one."""
        region = properties.get("region")
        return self._api if region in {None, self._api.region} else Api(str(region), self._endpoint)

    def _all_tags(self, inputs: Properties) -> Properties:
        return {**self._default_tags, **(inputs.get("tags") or {})}

    def _asked(self, inputs: Properties) -> Properties:
        """Return the inputs as AWS sees them: with the default tags among the tags."""
        return {**inputs, "tags": self._all_tags(inputs)}

    def _echo(self, resource: ResourceType, inputs: Properties) -> Properties:
        echo = {key: value for key, value in inputs.items() if not key.startswith("__")}
        if "region" in resource.outputs:
            echo.setdefault("region", self._api.region)
        if "tagsAll" in resource.outputs:
            tags = inputs.get("tags")
            echo["tagsAll"] = UNKNOWN if tags is UNKNOWN else self._all_tags(inputs)
        return echo

    def _carried(self, token: str, state: Properties, old: Properties, new: Properties) -> Properties:
        """Return the outputs of before, less the inputs that were taken away, under the new inputs."""
        rest = {key: value for key, value in state.items() if key not in old or key in new}
        return with_known(token, {**rest, **self._echo(self._type(token), new)}, state)

    def _stored(self, resource: ResourceType, id_: str, echo: Properties, outputs: Properties) -> Stored:
        known = {**echo, **outputs}
        return Stored(id_, {**missing_outputs(resource, known, id_, self._api.region), **known})


def _environment_region() -> str:
    return next((os.environ[name] for name in _REGION_VARIABLES if os.environ.get(name)), _DEFAULT_REGION)


def _named(
    resource: ResourceType, old: Properties, new: Properties, request: NameRequest
) -> tuple[Properties, list[Failure]]:
    naming = auto_name(resource, new)
    if naming is None:
        return {_DEFAULTS: [], **new}, []
    if naming.field in old.get(_DEFAULTS, ()):
        return {**new, naming.field: old[naming.field], _DEFAULTS: [naming.field]}, []
    try:
        longest = naming.longest - len(naming.prefix) - len(naming.suffix)
        name = physical_name(request, digits=DIGITS, longest=longest)
    except ValueError as error:
        return new, [Failure(naming.field, str(error))]
    if name is None:
        return new, []
    return {**new, naming.field: f"{naming.prefix}{name}{naming.suffix}", _DEFAULTS: [naming.field]}, []


def _comparable(inputs: Properties) -> Properties:
    """Return `inputs` with JSON texts in a canonical form, so that spaces and the order of keys are no change."""
    return {key: _canonical(value) for key, value in inputs.items()}


def _canonical(value: object) -> object:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.dumps(json.loads(value), sort_keys=True)
        except ValueError:
            return value
    return value
