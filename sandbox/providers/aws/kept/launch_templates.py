"""Launch templates, every version whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import as_list, specification, update_ec2_tags
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EC2: Final = "ec2"
# Properties of the resource that are not part of the template's data.
_OUTSIDE: Final = frozenset(
    {"name", "namePrefix", "description", "tags", "defaultVersion", "updateDefaultVersion", "region"}
)
_RENAMED: Final = {"vpcSecurityGroupIds": "SecurityGroupIds", "securityGroupNames": "SecurityGroups"}
# The provider writes these booleans as texts, because AWS tells "false" from "not given".
_BOOLEANS: Final = frozenset(
    {"ebsOptimized", "encrypted", "deleteOnTermination", "associatePublicIpAddress", "associateCarrierIpAddress"}
)


def _data(inputs: Properties) -> dict[str, Any]:
    """Return the template's data as the API takes it."""
    data: dict[str, Any] = {
        _RENAMED.get(key, _capital(key)): _converted(key, value)
        for key, value in inputs.items()
        if key not in _OUTSIDE and not key.startswith("__")
    }
    for interface in data.get("NetworkInterfaces", ()):
        if "SecurityGroups" in interface:
            interface["Groups"] = interface.pop("SecurityGroups")
    for tagged in data.get("TagSpecifications", ()):
        tagged["Tags"] = as_list(tagged["Tags"])
    return data


def _converted(key: str, value: object) -> object:
    if key == "tags":
        return value
    if isinstance(value, dict):
        return {_capital(inner): _converted(inner, each) for inner, each in value.items()}
    if isinstance(value, list):
        return [_converted(key, each) for each in value]
    return value == "true" if key in _BOOLEANS and isinstance(value, str) else value


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _create(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    template = api.call(
        _EC2,
        "create_launch_template",
        LaunchTemplateName=name,
        VersionDescription=inputs.get("description"),
        LaunchTemplateData=_data(inputs),
        TagSpecifications=specification("launch-template", inputs),
    )["LaunchTemplate"]
    id_ = template["LaunchTemplateId"]
    return Made(id_, {"arn": arn(_EC2, f"launch-template/{id_}", api.region), "name": name, **_versions(template)})


def _versions(template: Properties) -> Properties:
    return {"latestVersion": template["LatestVersionNumber"], "defaultVersion": template["DefaultVersionNumber"]}


def _read(api: Api, existing: Stored) -> Properties | None:
    template = found(api, _EC2, "describe_launch_templates", "LaunchTemplates", LaunchTemplateIds=[existing.id])
    return None if template is None else _versions(template)


def _update(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Make a new version if the data changed, and move the default version where the program asks for it."""
    update_ec2_tags(api, existing, old, new)
    if _data(old) != _data(new) or old.get("description") != new.get("description"):
        version = api.call(
            _EC2,
            "create_launch_template_version",
            LaunchTemplateId=existing.id,
            VersionDescription=new.get("description"),
            LaunchTemplateData=_data(new),
        )["LaunchTemplateVersion"]["VersionNumber"]
        if new.get("updateDefaultVersion"):
            _set_default(api, existing.id, version)
    if new.get("defaultVersion") is not None:
        _set_default(api, existing.id, new["defaultVersion"])
    return _read(api, existing) or {}


def _set_default(api: Api, id_: str, version: int) -> None:
    api.call(_EC2, "modify_launch_template", LaunchTemplateId=id_, DefaultVersion=str(version))


def _delete(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EC2, "delete_launch_template", LaunchTemplateId=existing.id)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": Kept(_create, _read, _delete, _update),
}
