"""EFS: file systems, mount targets, access points and file-system policies."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import as_list, removed
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EFS: Final = "efs"
_LIFECYCLE: Final = {
    "transitionToArchive": "TransitionToArchive",
    "transitionToIa": "TransitionToIA",
    "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClass",
}


def _dns_name(id_: str, region: str) -> str:
    return f"{id_}.efs.{region}.amazonaws.com"


def _create_file_system(api: Api, inputs: Properties) -> Made:
    token = inputs.get("creationToken") or f"sandbox-{secrets.token_hex(8)}"
    system = api.call(
        _EFS,
        "create_file_system",
        CreationToken=token,
        AvailabilityZoneName=inputs.get("availabilityZoneName"),
        Encrypted=inputs.get("encrypted"),
        KmsKeyId=inputs.get("kmsKeyId"),
        PerformanceMode=inputs.get("performanceMode"),
        ProvisionedThroughputInMibps=inputs.get("provisionedThroughputInMibps"),
        ThroughputMode=inputs.get("throughputMode"),
        Tags=as_list(inputs.get("tags")),
    )
    id_ = system["FileSystemId"]
    _set_lifecycle(api, id_, inputs)
    outputs = {"arn": arn("elasticfilesystem", f"file-system/{id_}", api.region), "creationToken": token}
    return Made(id_, {**outputs, "dnsName": _dns_name(id_, api.region), **_file_system_outputs(system)})


def _set_lifecycle(api: Api, id_: str, inputs: Properties) -> None:
    """Write the lifecycle, one policy for each transition, as the API wants it."""
    policies = [
        {_LIFECYCLE[key]: value}
        for policy in inputs.get("lifecyclePolicies") or ()
        for key, value in policy.items()
        if key in _LIFECYCLE
    ]
    if policies:
        api.call(_EFS, "put_lifecycle_configuration", FileSystemId=id_, LifecyclePolicies=policies)


def _file_system_outputs(system: Properties) -> Properties:
    size = system["SizeInBytes"]
    return {
        "ownerId": system["OwnerId"],
        "name": system.get("Name") or "",
        "numberOfMountTargets": system["NumberOfMountTargets"],
        "performanceMode": system["PerformanceMode"],
        "encrypted": system["Encrypted"],
        "availabilityZoneId": system.get("AvailabilityZoneId") or "",
        "availabilityZoneName": system.get("AvailabilityZoneName") or "",
        "sizeInBytes": [
            {"value": size["Value"], "valueInIa": size.get("ValueInIA", 0), "valueInStandard": size["ValueInStandard"]}
        ],
    }


def _read_file_system(api: Api, existing: Stored) -> Properties | None:
    system = found(api, _EFS, "describe_file_systems", "FileSystems", FileSystemId=existing.id)
    return None if system is None else _file_system_outputs(system)


def _update_tags(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    gone = removed(old, new)
    if gone:
        api.call(_EFS, "untag_resource", ResourceId=existing.id, TagKeys=gone)
    if new.get("tags"):
        api.call(_EFS, "tag_resource", ResourceId=existing.id, Tags=as_list(new["tags"]))
    return {}


def _update_file_system(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Change lifecycle and tags; the throughput changes in state only, because moto cannot update a file system."""
    if old.get("lifecyclePolicies") != new.get("lifecyclePolicies"):
        _set_lifecycle(api, existing.id, new)
    return _update_tags(api, existing, old, new)


def _delete_file_system(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EFS, "delete_file_system", FileSystemId=existing.id)


def _create_mount_target(api: Api, inputs: Properties) -> Made:
    target = api.call(
        _EFS,
        "create_mount_target",
        FileSystemId=inputs["fileSystemId"],
        SubnetId=inputs["subnetId"],
        IpAddress=inputs.get("ipAddress"),
        SecurityGroups=inputs.get("securityGroups"),
    )
    dns = _dns_name(target["FileSystemId"], api.region)
    zone = target.get("AvailabilityZoneName") or ""
    computed = {
        "dnsName": dns,
        "mountTargetDnsName": f"{zone}.{dns}",
        "fileSystemArn": arn("elasticfilesystem", f"file-system/{target['FileSystemId']}", api.region),
    }
    return Made(target["MountTargetId"], {**computed, **_mount_target_outputs(target)})


def _mount_target_outputs(target: Properties) -> Properties:
    names = {
        "availabilityZoneId": "AvailabilityZoneId",
        "availabilityZoneName": "AvailabilityZoneName",
        "ipAddress": "IpAddress",
        "networkInterfaceId": "NetworkInterfaceId",
        "ownerId": "OwnerId",
    }
    return {key: target[name] for key, name in names.items() if target.get(name)}


def _read_mount_target(api: Api, existing: Stored) -> Properties | None:
    target = found(api, _EFS, "describe_mount_targets", "MountTargets", MountTargetId=existing.id)
    return None if target is None else _mount_target_outputs(target)


def _update_mount_target(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    if old.get("securityGroups") != new.get("securityGroups"):
        groups = new.get("securityGroups") or []
        api.call(_EFS, "modify_mount_target_security_groups", MountTargetId=existing.id, SecurityGroups=groups)
    return {}


def _delete_mount_target(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EFS, "delete_mount_target", MountTargetId=existing.id)


def _posix(user: Properties | None) -> dict[str, Any] | None:
    if not user:
        return None
    made = {"Uid": user["uid"], "Gid": user["gid"], "SecondaryGids": user.get("secondaryGids")}
    return {key: value for key, value in made.items() if value is not None}


def _root(directory: Properties | None) -> dict[str, Any] | None:
    if not directory:
        return None
    made: dict[str, Any] = {"Path": directory["path"]} if directory.get("path") else {}
    creation = directory.get("creationInfo")
    if creation:
        owner = {"OwnerUid": creation["ownerUid"], "OwnerGid": creation["ownerGid"]}
        made["CreationInfo"] = {**owner, "Permissions": creation["permissions"]}
    return made


def _create_access_point(api: Api, inputs: Properties) -> Made:
    point = api.call(
        _EFS,
        "create_access_point",
        ClientToken=secrets.token_hex(16),
        FileSystemId=inputs["fileSystemId"],
        PosixUser=_posix(inputs.get("posixUser")),
        RootDirectory=_root(inputs.get("rootDirectory")),
        Tags=as_list(inputs.get("tags")),
    )
    computed = {
        "arn": point["AccessPointArn"],
        "fileSystemArn": arn("elasticfilesystem", f"file-system/{point['FileSystemId']}", api.region),
        "ownerId": point["OwnerId"],
        "rootDirectory": {"path": "/", **(inputs.get("rootDirectory") or {})},
    }
    return Made(point["AccessPointId"], computed)


def _read_access_point(api: Api, existing: Stored) -> Properties | None:
    point = found(api, _EFS, "describe_access_points", "AccessPoints", AccessPointId=existing.id)
    return None if point is None else {}


def _delete_access_point(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EFS, "delete_access_point", AccessPointId=existing.id)


def _put_policy(api: Api, inputs: Properties) -> None:
    json.loads(inputs["policy"])  # AWS refuses what is no JSON; moto stores it
    api.call(_EFS, "put_file_system_policy", FileSystemId=inputs["fileSystemId"], Policy=inputs["policy"])


def _create_policy(api: Api, inputs: Properties) -> Made:
    _put_policy(api, inputs)
    return Made(inputs["fileSystemId"])


def _read_policy(api: Api, existing: Stored) -> Properties | None:
    policy = found(api, _EFS, "describe_file_system_policy", "Policy", FileSystemId=existing.id)
    return None if policy is None else {}


def _update_policy(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del existing, old
    _put_policy(api, new)
    return {}


def _delete_policy(api: Api, existing: Stored) -> None:
    """Leave the policy to its file system: moto has no call that deletes it alone."""
    del api, existing


KEPT: Final[Mapping[str, Kept]] = {
    "aws:efs/fileSystem:FileSystem": Kept(
        _create_file_system, _read_file_system, _delete_file_system, _update_file_system
    ),
    "aws:efs/mountTarget:MountTarget": Kept(
        _create_mount_target, _read_mount_target, _delete_mount_target, _update_mount_target
    ),
    "aws:efs/accessPoint:AccessPoint": Kept(
        _create_access_point, _read_access_point, _delete_access_point, _update_tags
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Kept(_create_policy, _read_policy, _delete_policy, _update_policy),
}
