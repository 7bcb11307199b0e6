"""Which properties of an AWS resource cannot be changed in place.

From the schemas of terraform-provider-aws v6 ("ForceNew", "RequiresReplace"), which pulumi-aws v7 carries over; only
types that a GPU platform uses. Every other type is updated in place, which may differ from the real provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_EVERYWHERE: Final = ("region",)
_NAMED: Final = ("name", "namePrefix")
_RULE: Final = (
    "type",
    "fromPort",
    "toPort",
    "protocol",
    "cidrBlocks",
    "ipv6CidrBlocks",
    "prefixListIds",
    "securityGroupId",
    "sourceSecurityGroupId",
    "self",
)

FIXED: Final[Mapping[str, tuple[str, ...]]] = {
    "aws:cloudwatch/eventRule:EventRule": (*_NAMED, "eventBusName"),
    "aws:cloudwatch/eventTarget:EventTarget": ("rule", "targetId", "eventBusName"),
    "aws:cloudwatch/logGroup:LogGroup": (*_NAMED, "logGroupClass"),
    "aws:ec2/eip:Eip": ("domain", "publicIpv4Pool", "networkBorderGroup", "customerOwnedIpv4Pool"),
    "aws:ec2/flowLog:FlowLog": ("vpcId", "subnetId", "eniId", "trafficType", "logDestination", "logDestinationType"),
    "aws:ec2/internetGateway:InternetGateway": (),
    "aws:ec2/launchTemplate:LaunchTemplate": _NAMED,
    "aws:ec2/natGateway:NatGateway": ("allocationId", "subnetId", "connectivityType", "privateIp"),
    "aws:ec2/placementGroup:PlacementGroup": ("name", "strategy", "partitionCount", "spreadLevel"),
    "aws:ec2/route:Route": (
        "routeTableId",
        "destinationCidrBlock",
        "destinationIpv6CidrBlock",
        "destinationPrefixListId",
    ),
    "aws:ec2/routeTable:RouteTable": ("vpcId",),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ("subnetId", "gatewayId"),
    "aws:ec2/securityGroup:SecurityGroup": (*_NAMED, "description", "vpcId"),
    "aws:ec2/securityGroupRule:SecurityGroupRule": _RULE,
    "aws:ec2/subnet:Subnet": (
        "vpcId",
        "cidrBlock",
        "availabilityZone",
        "availabilityZoneId",
        "ipv6Native",
        "outpostArn",
    ),
    "aws:ec2/vpc:Vpc": ("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ("vpcId", "serviceName", "vpcEndpointType", "serviceRegion"),
    "aws:efs/accessPoint:AccessPoint": ("fileSystemId", "posixUser", "rootDirectory"),
    "aws:efs/backupPolicy:BackupPolicy": ("fileSystemId",),
    "aws:efs/fileSystem:FileSystem": (
        "availabilityZoneName",
        "creationToken",
        "encrypted",
        "kmsKeyId",
        "performanceMode",
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": ("fileSystemId",),
    "aws:efs/mountTarget:MountTarget": ("fileSystemId", "ipAddress", "ipAddressType", "ipv6Address", "subnetId"),
    "aws:eks/accessEntry:AccessEntry": ("clusterName", "principalArn", "type"),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (
        "clusterName",
        "principalArn",
        "policyArn",
        "accessScope",
    ),
    "aws:eks/addon:Addon": ("addonName", "clusterName"),
    "aws:eks/cluster:Cluster": (
        "name",
        "roleArn",
        "accessConfig.bootstrapClusterCreatorAdminPermissions",
        "bootstrapSelfManagedAddons",
        "encryptionConfig.resources",
        "kubernetesNetworkConfig.ipFamily",
        "kubernetesNetworkConfig.serviceIpv4Cidr",
        "outpostConfig",
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        "amiType",
        "capacityType",
        "clusterName",
        "diskSize",
        "instanceTypes",
        "launchTemplate.id",
        "launchTemplate.name",
        "nodeGroupName",
        "nodeGroupNamePrefix",
        "nodeRoleArn",
        "remoteAccess",
        "subnetIds",
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": ("clusterName", "namespace", "serviceAccount"),
    "aws:iam/instanceProfile:InstanceProfile": (*_NAMED, "path"),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ("url",),
    "aws:iam/policy:Policy": (*_NAMED, "description", "path"),
    "aws:iam/role:Role": (*_NAMED, "path"),
    "aws:iam/rolePolicy:RolePolicy": (*_NAMED, "role"),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ("policyArn", "role"),
    "aws:kms/alias:Alias": _NAMED,
    "aws:kms/key:Key": ("customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion"),
    "aws:sqs/queue:Queue": (*_NAMED, "fifoQueue"),
    "aws:sqs/queuePolicy:QueuePolicy": ("queueUrl",),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": ("securityGroupId",),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ("securityGroupId",),
}


def fixed_properties(token: str) -> tuple[str, ...]:
    """Return the properties of `token` whose change replaces the resource."""
    return (*_EVERYWHERE, *FIXED.get(token, ()))
