"""EKS control planes and managed node groups, as far as moto knows them.

Where a run uses the sandbox's real Kubernetes, a cluster's outputs lead there, and the nodes of its groups join it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from eks_gpu.facts import tags as tag_keys
from sandbox.providers.aws.kept import real_cluster
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import removed, specification
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EKS: Final = "eks"
_CLUSTER_ARGUMENTS: Final = {
    "accessConfig": "accessConfig",
    "kubernetesNetworkConfig": "kubernetesNetworkConfig",
    "name": "name",
    "roleArn": "roleArn",
    "upgradePolicy": "upgradePolicy",
    "version": "version",
    "deletionProtection": "deletionProtection",
    "bootstrapSelfManagedAddons": "bootstrapSelfManagedAddons",
}
_VPC_DEFAULTS: Final[Mapping[str, Any]] = {
    "endpointPrivateAccess": False,
    "endpointPublicAccess": True,
    "publicAccessCidrs": ["0.0.0.0/0"],
    "securityGroupIds": [],
    "subnetIds": [],
}
_SERVICE_RANGE: Final = "172.20.0.0/16"
"""What EKS takes where the VPC does not overlap it (EKS API reference, KubernetesNetworkConfigRequest)."""
_NODE_ARGUMENTS: Final = (
    "amiType",
    "capacityType",
    "diskSize",
    "instanceTypes",
    "labels",
    "launchTemplate",
    "nodeRepairConfig",
    "releaseVersion",
    "scalingConfig",
    "taints",
    "updateConfig",
    "version",
)


def _create_cluster(api: Api, inputs: Properties) -> Made:
    vpc_config = inputs["vpcConfig"]
    log_types = inputs.get("enabledClusterLogTypes")
    encryption = inputs.get("encryptionConfig")
    cluster = api.call(
        _EKS,
        "create_cluster",
        **{argument: inputs.get(key) for key, argument in _CLUSTER_ARGUMENTS.items()},
        resourcesVpcConfig={key: vpc_config[key] for key in _VPC_DEFAULTS if vpc_config.get(key) is not None},
        logging={"clusterLogging": [{"types": log_types, "enabled": True}]} if log_types else None,
        encryptionConfig=[encryption] if encryption else None,
        tags=inputs.get("tags") or None,
    )["cluster"]
    added = {
        "vpcConfig": {**vpc_config, **_cluster_security_group(api, inputs["name"], vpc_config["subnetIds"])},
        "accessConfig": _access_config(inputs),
        "kubernetesNetworkConfig": {**_network(cluster), **(inputs.get("kubernetesNetworkConfig") or {})},
    }
    outputs = {**cluster_outputs(cluster), **added, **_kept_inputs(inputs)}
    return Made(cluster["name"], {**outputs, **real_cluster.outputs()})


def _network(cluster: Properties) -> Properties:
    known = cluster.get("kubernetesNetworkConfig") or {}
    return {"ipFamily": "ipv4", "serviceIpv4Cidr": known.get("serviceIpv4Cidr") or _SERVICE_RANGE}


def looked_up(api: Api, name: str) -> Properties:
    """Return a cluster as the function `getCluster` does: blocks that may come once are lists there."""
    cluster = api.call(_EKS, "describe_cluster", name=name)["cluster"]
    outputs = cluster_outputs(cluster)
    vpc = cluster["resourcesVpcConfig"]
    groups = [{"Name": "group-name", "Values": [security_group_name(name)]}]
    group = found(api, "ec2", "describe_security_groups", "SecurityGroups", Filters=groups) or {}
    outputs |= real_cluster.outputs()
    return {
        **outputs,
        "certificateAuthorities": [outputs["certificateAuthority"]],
        "accessConfigs": [_access_config({})],
        "kubernetesNetworkConfigs": [_network(cluster)],
        "vpcConfig": {
            **{key: vpc.get(key, default) for key, default in _VPC_DEFAULTS.items()},
            "clusterSecurityGroupId": group.get("GroupId", ""),
            "vpcId": group.get("VpcId", ""),
        },
        "tags": cluster.get("tags") or {},
    }


def _cluster_security_group(api: Api, name: str, subnets: list[str]) -> dict[str, Any]:
    """Make the security group that EKS makes for every cluster, and moto does not; return it with the VPC."""
    subnet = found(api, "ec2", "describe_subnets", "Subnets", SubnetIds=subnets[:1])
    if subnet is None:
        return {"clusterSecurityGroupId": "", "vpcId": ""}
    group = api.call(
        "ec2",
        "create_security_group",
        GroupName=security_group_name(name),
        Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes",
        VpcId=subnet["VpcId"],
        TagSpecifications=specification("security-group", {"tags": {tag_keys.EKS_CLUSTER: name}}),
    )
    return {"clusterSecurityGroupId": group["GroupId"], "vpcId": subnet["VpcId"]}


def security_group_name(cluster: str) -> str:
    """Return the name of the security group that EKS makes for a cluster."""
    return f"eks-cluster-sg-{cluster}"


def _access_config(inputs: Properties) -> Properties:
    return {"authenticationMode": "CONFIG_MAP", **(inputs.get("accessConfig") or {})}


def _kept_inputs(inputs: Properties) -> Properties:
    """Return what moto forgets of the inputs."""
    return {"version": inputs["version"]} if inputs.get("version") else {}


def cluster_outputs(cluster: Properties) -> Properties:
    """Return a described cluster as the provider's outputs."""
    issuer = cluster["identity"]["oidc"]["issuer"]
    return {
        "arn": cluster["arn"],
        "endpoint": cluster["endpoint"],
        "certificateAuthority": {"data": cluster["certificateAuthority"]["data"]},
        "identities": [{"oidcs": [{"issuer": issuer}]}],
        "createdAt": cluster["createdAt"].isoformat(),
        "name": cluster["name"],
        "platformVersion": cluster["platformVersion"],
        "roleArn": cluster["roleArn"],
        "status": cluster["status"],
        "version": cluster["version"],
    }


def _read_cluster(api: Api, existing: Stored) -> Properties | None:
    cluster = found(api, _EKS, "describe_cluster", "cluster", name=existing.id)
    if cluster is None:
        return None
    # moto cannot upgrade a cluster, so that the version of the state is the newer one.
    version = existing.state.get("version") or cluster["version"]
    return {**cluster_outputs(cluster), "version": version, **real_cluster.outputs()}


def _update_cluster(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Bring the tags up to date; the rest changes in state only, because moto cannot update a cluster soundly."""
    gone = removed(old, new)
    if gone:
        api.call(_EKS, "untag_resource", resourceArn=existing.state["arn"], tagKeys=gone)
    if new.get("tags"):
        api.call(_EKS, "tag_resource", resourceArn=existing.state["arn"], tags=new["tags"])
    vpc_config = {**existing.state.get("vpcConfig", {}), **new["vpcConfig"]}
    return {"vpcConfig": vpc_config, "accessConfig": _access_config(new), **_kept_inputs(new)}


def _delete_cluster(api: Api, existing: Stored) -> None:
    if existing.state.get("deletionProtection"):
        # moto keeps the setting and deletes all the same.
        raise StandInError(
            f"EKS refuses to delete the cluster {existing.id}, whose deletion protection is on; update it with the "
            "protection off first"
        )
    with missing_ok():
        api.call(_EKS, "delete_cluster", name=existing.id)
    group = (existing.state.get("vpcConfig") or {}).get("clusterSecurityGroupId")
    if group:
        with missing_ok():
            api.call("ec2", "delete_security_group", GroupId=group)


def _create_node_group(api: Api, inputs: Properties) -> Made:
    cluster = inputs["clusterName"]
    name = name_on_create(inputs, "nodeGroupName")
    group = api.call(
        _EKS,
        "create_nodegroup",
        clusterName=cluster,
        nodegroupName=name,
        nodeRole=inputs["nodeRoleArn"],
        subnets=inputs["subnetIds"],
        tags=inputs.get("tags") or None,
        **{key: inputs.get(key) for key in _NODE_ARGUMENTS},
    )["nodegroup"]
    version = inputs.get("version") or api.call(_EKS, "describe_cluster", name=cluster)["cluster"]["version"]
    computed = {
        "nodeGroupName": name,
        "version": version,
        "releaseVersion": inputs.get("releaseVersion") or f"{version}-sandbox",
        "amiType": inputs.get("amiType") or "CUSTOM",
        "capacityType": inputs.get("capacityType") or "ON_DEMAND",
    }
    try:
        real_cluster.nodes_join(api, {**inputs, **computed})
    except StandInError:
        # Nobody would know of it: the next attempt would find its name taken.
        with suppress(StandInError):
            real_cluster.nodes_leave(cluster, name)
        api.call(_EKS, "delete_nodegroup", clusterName=cluster, nodegroupName=name)
        raise
    return Made(f"{cluster}:{name}", {**_node_group_outputs(group), **computed})


def _node_group_outputs(group: Properties) -> Properties:
    groups = [{"name": each["name"]} for each in group.get("resources", {}).get("autoScalingGroups", ())]
    return {
        "arn": group["nodegroupArn"],
        "status": group["status"],
        "resources": [{"autoscalingGroups": groups, "remoteAccessSecurityGroupId": ""}],
    }


def _read_node_group(api: Api, existing: Stored) -> Properties | None:
    cluster, name = existing.id.split(":", 1)
    group = found(api, _EKS, "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name)
    return None if group is None else _node_group_outputs(group)


def _update_node_group(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    """Change scaling, labels and taints; versions and tags change in state only: moto cannot change those."""
    cluster, name = existing.id.split(":", 1)
    before, after = old.get("labels") or {}, new.get("labels") or {}
    gone = [key for key in before if key not in after]
    old_taints, taints = old.get("taints") or [], new.get("taints") or []
    api.call(
        _EKS,
        "update_nodegroup_config",
        clusterName=cluster,
        nodegroupName=name,
        scalingConfig=new.get("scalingConfig"),
        labels={"addOrUpdateLabels": after, "removeLabels": gone},
        taints={
            "addOrUpdateTaints": taints,
            "removeTaints": [taint for taint in old_taints if taint not in taints],
        },
    )
    changed = {key: new[key] for key in ("version", "releaseVersion") if new.get(key)}
    real_cluster.nodes_join(api, {**existing.state, **new, **changed})
    return changed


def _delete_node_group(api: Api, existing: Stored) -> None:
    cluster, name = existing.id.split(":", 1)
    real_cluster.nodes_leave(cluster, name)
    with missing_ok():
        api.call(_EKS, "delete_nodegroup", clusterName=cluster, nodegroupName=name)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:eks/cluster:Cluster": Kept(_create_cluster, _read_cluster, _delete_cluster, _update_cluster),
    "aws:eks/nodeGroup:NodeGroup": Kept(_create_node_group, _read_node_group, _delete_node_group, _update_node_group),
}
