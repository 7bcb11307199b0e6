"""Where the vendors say what a rule rests on: for people who want to read on. Checked 2026-11-21."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_EKS: Final = "https://docs.aws.amazon.com/eks/latest/userguide"
_EC2: Final = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide"
_KARPENTER: Final = "https://karpenter.sh/docs"
_KUBERNETES: Final = "https://kubernetes.io/docs"
_OPERATOR: Final = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest"
_RELEASE: Final = "https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/"
_SHARING: Final = f"{_OPERATOR}/gpu-sharing.html"
_PROBES: Final = f"{_KUBERNETES}/concepts/configuration/liveness-readiness-startup-probes/"
_DISRUPTION: Final = f"{_KARPENTER}/concepts/disruption/"
_GPUS: Final = f"{_KUBERNETES}/tasks/manage-gpus/scheduling-gpus/"
_TAINTS: Final = f"{_KUBERNETES}/concepts/scheduling-eviction/taint-and-toleration/"
_VOLUMES: Final = f"{_KUBERNETES}/concepts/storage/persistent-volumes/"
_BALANCERS: Final = f"{_EKS}/network-load-balancing.html"
_FIELDS: Final = "https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html"

LINKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NODE001": f"{_EKS}/launch-templates.html",
        "NODE002": "https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html",
        "NODE003": f"{_KUBERNETES}/concepts/architecture/garbage-collection/",
        "NODE004": _TAINTS,
        "NODE005": f"{_KUBERNETES}/concepts/overview/working-with-objects/labels/",
        "NODE006": f"{_KARPENTER}/tasks/managing-amis/",
        "NODE007": f"{_EKS}/ml-eks-optimized-ami.html",
        "NODE008": f"{_KARPENTER}/reference/instance-types/",
        "NODE009": f"{_KARPENTER}/concepts/scheduling/",
        "NODE010": f"{_EKS}/capacity-blocks-mng.html",
        "NODE011": _DISRUPTION,
        "NODE012": f"{_DISRUPTION}#interruption",
        "NODE013": _DISRUPTION,
        "NODE014": f"{_EKS}/node-efa.html",
        "NODE015": f"{_DISRUPTION}#termination-controller",
        "NODE016": f"{_KARPENTER}/concepts/nodepools/#specweight",
        "NODE017": f"{_EKS}/managed-node-update-behavior.html",
        "SOFT001": f"{_KUBERNETES}/concepts/containers/runtime-class/",
        "SOFT002": f"{_OPERATOR}/getting-started.html",
        "SOFT003": f"{_OPERATOR}/amazon-eks.html",
        "SOFT004": f"{_KUBERNETES}/concepts/workloads/controllers/daemonset/",
        "SOFT005": _RELEASE,
        "SOFT006": f"{_KARPENTER}/upgrading/compatibility/",
        "SOFT007": _RELEASE,
        "SHARE001": _SHARING,
        "SHARE002": _SHARING,
        "SHARE003": _SHARING,
        "SHARE004": "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
        "SHARE005": f"{_KARPENTER}/concepts/nodeoverlays/",
        "WORK001": f"{_KUBERNETES}/concepts/scheduling-eviction/kube-scheduler/",
        "WORK002": f"{_KARPENTER}/concepts/scheduling/",
        "WORK003": _GPUS,
        "WORK004": _TAINTS,
        "WORK005": f"{_KUBERNETES}/concepts/storage/volumes/#emptydir",
        "WORK006": _PROBES,
        "WORK007": _PROBES,
        "WORK008": "https://huggingface.co/docs/huggingface_hub/guides/manage-cache",
        "WORK009": "https://docs.pytorch.org/docs/stable/distributed.checkpoint.html",
        "WORK010": "https://docs.aws.amazon.com/eks/latest/best-practices/aiml-compute.html",
        "WORK011": _GPUS,
        "WORK012": f"{_KUBERNETES}/tasks/run-application/configure-pdb/",
        "WORK013": f"{_KUBERNETES}/concepts/containers/images/",
        "WORK014": "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/"
        "customization_guide/compose.html",
        "STOR001": f"{_EKS}/efs-csi.html",
        "STOR002": f"{_EKS}/efs-csi.html",
        "STOR003": _VOLUMES,
        "STOR004": _VOLUMES,
        "STOR005": "https://docs.aws.amazon.com/efs/latest/ug/performance.html",
        "STOR006": f"{_KARPENTER}/concepts/nodeclasses/#specinstancestorepolicy",
        "OBS001": "https://docs.nvidia.com/deploy/xid-errors/index.html",
        "OBS002": _FIELDS,
        "OBS003": _FIELDS,
        "OBS004": "https://prometheus-operator.dev/docs/developer/getting-started/",
        "OBS005": f"{_EKS}/node-health.html",
        "COST001": f"{_KARPENTER}/concepts/nodepools/#speclimits",
        "COST002": "https://aws.amazon.com/ec2/pricing/on-demand/",
        "COST003": f"{_DISRUPTION}#consolidation",
        "COST004": f"{_KUBERNETES}/concepts/policy/resource-quotas/",
        "COST005": f"{_KUBERNETES}/concepts/policy/limit-range/",
        "COST006": "https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html",
        "SEC001": f"{_EC2}/configuring-instance-metadata-service.html",
        "SEC002": _BALANCERS,
        "SEC003": _BALANCERS,
    }
)
"""Rule id to a page of the documentation."""
