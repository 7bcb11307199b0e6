"""Type tokens of the resources that rules look at.

A custom resource's token is ``kubernetes:<apiVersion>:<kind>``, whatever class of the SDK declared it. A ``...Patch``
of a kind counts as that kind, with everything it does not mention unknown.
"""

from __future__ import annotations

from typing import Final

STACK: Final = "pulumi:pulumi:Stack"

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
MANAGED_NODE_GROUP: Final = "eks:index:ManagedNodeGroup"
"""A component around a node group. Only the engine expands it: a recorder sees what it was given instead."""
AUTO_SCALING_GROUP: Final = "aws:autoscaling/group:Group"
SELF_MANAGED: Final = frozenset({"eks:index:NodeGroup", "eks:index:NodeGroupV2"})
"""Components around an Auto Scaling group, which again only the engine expands."""
CLOUD_FORMATION: Final = "aws:cloudformation/stack:Stack"
"""In which ``eks.NodeGroup`` makes its Auto Scaling group."""
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_POOL: Final = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS: Final = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"

CLUSTER_COMPONENT: Final = "eks:index:Cluster"
CLUSTERS: Final = frozenset({"aws:eks/cluster:Cluster", CLUSTER_COMPONENT})
ADD_ONS: Final = frozenset({"aws:eks/addon:Addon", "eks:index:Addon"})
SUBNET: Final = "aws:ec2/subnet:Subnet"
SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
DEFAULT_SECURITY_GROUP: Final = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
"""The one that every VPC has, taken over by the program."""
SECURITY_GROUP_RULE: Final = "aws:ec2/securityGroupRule:SecurityGroupRule"
SECURITY_GROUP_INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
SECURITY_GROUP_EGRESS: Final = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
CAPACITY_RESERVATION: Final = "aws:ec2/capacityReservation:CapacityReservation"
CAPACITY_BLOCK: Final = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
PLACEMENT_GROUP: Final = "aws:ec2/placementGroup:PlacementGroup"
RESOURCE_GROUP: Final = "aws:resourcegroups/group:Group"
RESOURCE_GROUP_MEMBER: Final = "aws:resourcegroups/resource:Resource"
FILE_SYSTEM: Final = "aws:efs/fileSystem:FileSystem"
MOUNT_TARGET: Final = "aws:efs/mountTarget:MountTarget"
ACCESS_POINT: Final = "aws:efs/accessPoint:AccessPoint"

HELM_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
HELM_CHART: Final = "kubernetes:helm.sh/v4:Chart"
HELM_CHART_V3: Final = "kubernetes:helm.sh/v3:Chart"
HELM: Final = frozenset({HELM_RELEASE, HELM_CHART, HELM_CHART_V3})
YAML_FILES: Final = frozenset(
    {
        "kubernetes:yaml/v2:ConfigFile",
        "kubernetes:yaml/v2:ConfigGroup",
        "kubernetes:yaml:ConfigFile",
        "kubernetes:yaml:ConfigGroup",
        "kubernetes:kustomize/v2:Directory",
        "kubernetes:kustomize:Directory",
    }
)
DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
RUNTIME_CLASS: Final = "kubernetes:node.k8s.io/v1:RuntimeClass"
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
EBS_VOLUME: Final = "aws:ebs/volume:Volume"
STATEFUL_SET: Final = "kubernetes:apps/v1:StatefulSet"
PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
PROMETHEUS_RULE: Final = "kubernetes:monitoring.coreos.com/v1:PrometheusRule"
SERVICE_MONITOR: Final = "kubernetes:monitoring.coreos.com/v1:ServiceMonitor"
POD_MONITOR: Final = "kubernetes:monitoring.coreos.com/v1:PodMonitor"
PROMETHEUS: Final = "kubernetes:monitoring.coreos.com/v1:Prometheus"
DEFINITION: Final = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
RULE_GROUPS: Final = "aws:amp/ruleGroupNamespace:RuleGroupNamespace"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
SERVICE: Final = "kubernetes:core/v1:Service"
RESOURCE_QUOTA: Final = "kubernetes:core/v1:ResourceQuota"
LIMIT_RANGE: Final = "kubernetes:core/v1:LimitRange"
NODE_OVERLAY: Final = "kubernetes:karpenter.sh/v1alpha1:NodeOverlay"
CLUSTER_POLICY: Final = "kubernetes:nvidia.com/v1:ClusterPolicy"
POD_DISRUPTION_BUDGET: Final = "kubernetes:policy/v1:PodDisruptionBudget"
SCALERS: Final = frozenset(
    {
        "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
        "kubernetes:autoscaling/v1:HorizontalPodAutoscaler",
        "kubernetes:keda.sh/v1alpha1:ScaledObject",
    }
)
"""What changes how many pods a workload has."""

QUEUE: Final = "aws:sqs/queue:Queue"
EVENT_RULE: Final = "aws:cloudwatch/eventRule:EventRule"
EVENT_TARGET: Final = "aws:cloudwatch/eventTarget:EventTarget"
ROLE: Final = "aws:iam/role:Role"
ROLE_POLICIES: Final = frozenset({"aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"})
FARGATE_PROFILE: Final = "aws:eks/fargateProfile:FargateProfile"
POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"

_KUBERNETES: Final = "kubernetes:"
_PATCH: Final = "Patch"


def custom(kind: str) -> str:
    """Return the token of a kind that is spelled with its API: ``karpenter.sh/v1:NodePool``."""
    return f"{_KUBERNETES}{kind}"


def is_kubernetes(token: str) -> bool:
    """Return whether a token is of a Kubernetes object (or of something that makes some)."""
    return token.startswith(_KUBERNETES)


def is_patch(token: str) -> bool:
    """Return whether a token is of a partial Kubernetes object."""
    return is_kubernetes(token) and token.endswith(_PATCH) and not token.endswith(f":{_PATCH}")


def whole(token: str) -> str:
    """Return the token under which a resource is read; most are read under their own.

    A patch is read as the object that it patches, and Karpenter's beta, which says the same in the same words, as the
    current version.
    """
    known = token.removesuffix(_PATCH) if is_patch(token) else token
    return _BETA.get(known, known)


_BETA: Final = {
    "kubernetes:karpenter.sh/v1beta1:NodePool": NODE_POOL,
    "kubernetes:karpenter.k8s.aws/v1beta1:EC2NodeClass": NODE_CLASS,
}
"""Karpenter 0.32 to 1.0."""


def kind(token: str) -> str:
    """Return the last part of a token: ``Deployment`` of ``kubernetes:apps/v1:Deployment``."""
    return whole(token).rpartition(":")[2]
