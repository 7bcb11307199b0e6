"""Programs that are right, in the words of other people: no rule may fire on them.

They use none of our components, labels or annotations, and are shaped after public documentation: Karpenter's, the EKS
user guide's, vLLM's and Kubeflow's.
"""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.storage import EFS_DRIVER
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY

GPU_TAINT = {"key": resources.GPU, "effect": "NoSchedule"}

GENERAL_PURPOSE = examples.resource(
    tokens.NODE_POOL,
    "default",
    {
        "metadata": {"name": "default"},
        "spec": {
            "template": {
                "spec": {
                    "requirements": [
                        {"key": labels.ARCH, "operator": "In", "values": ["amd64"]},
                        {"key": labels.OS, "operator": "In", "values": ["linux"]},
                        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": ["spot"]},
                        {"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["c", "m", "r"]},
                        {"key": labels.INSTANCE_GENERATION, "operator": "Gt", "values": ["2"]},
                    ],
                    "nodeClassRef": {"group": labels.KARPENTER_AWS_DOMAIN, "kind": "EC2NodeClass", "name": "default"},
                    "expireAfter": "720h",
                }
            },
            "limits": {"cpu": 1000},
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"},
        },
    },
)
"""The NodePool of Karpenter's getting-started page. Without its EC2NodeClass, which may float: no GPU depends on it."""

ANYTHING = examples.resource(
    tokens.NODE_POOL,
    "anything",
    {
        "metadata": {"name": "anything"},
        "spec": {
            "template": {
                "spec": {
                    "requirements": [{"key": labels.INSTANCE_CPU, "operator": "In", "values": ["4", "8", "16"]}],
                    "taints": [{"key": "team", "value": "web", "effect": "NoSchedule"}],
                }
            }
        },
    },
)
"""A pool that could buy GPUs and never will: no GPU pod tolerates its taint."""

GPU_CLASS = examples.resource(
    tokens.NODE_CLASS,
    "gpu",
    {
        "metadata": {"name": "gpu"},
        "spec": {
            "amiSelectorTerms": [{"alias": "bottlerocket@v1.60.0"}],
            "blockDeviceMappings": [
                {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "4Gi", "volumeType": "gp3", "encrypted": True}},
                {"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "200Gi", "throughput": 500, "encrypted": True}},
            ],
            "subnetSelectorTerms": [{"tags": {labels.KARPENTER_DISCOVERY: "my-cluster"}}],
        },
    },
)

GPU_POOL = examples.resource(
    tokens.NODE_POOL,
    "gpu",
    {
        "metadata": {"name": "gpu"},
        "spec": {
            "template": {
                "metadata": {"labels": {"team": "ml"}},
                "spec": {
                    "requirements": [
                        {"key": labels.INSTANCE_GPU_NAME, "operator": "In", "values": ["l4", "a10g"]},
                        {"key": labels.INSTANCE_GPU_COUNT, "operator": "Lt", "values": ["4"]},
                        {"key": labels.CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]},
                    ],
                    "taints": [GPU_TAINT],
                    "nodeClassRef": {"group": labels.KARPENTER_AWS_DOMAIN, "kind": "EC2NodeClass", "name": "gpu"},
                },
            },
            "limits": {"cpu": "100", resources.GPU: 4},
        },
    },
    after=(GPU_CLASS,),
)

SERVER = examples.resource(
    "kubernetes:apps/v1:Deployment",
    "mistral",
    {
        "metadata": {"name": "mistral-7b", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "template": {
                "metadata": {"labels": {"app": "mistral-7b"}},
                "spec": {
                    "volumes": [
                        {"name": "cache-volume", "persistentVolumeClaim": {"claimName": "mistral-7b"}},
                        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
                    ],
                    "containers": [
                        {
                            "name": "mistral-7b",
                            "image": "vllm/vllm-openai:v0.11.0",
                            "resources": {
                                "limits": {"cpu": "10", "memory": "20G", resources.GPU: "1"},
                                "requests": {"cpu": "2", "memory": "6G", resources.GPU: "1"},
                            },
                            "volumeMounts": [
                                {"mountPath": "/root/.cache/huggingface", "name": "cache-volume"},
                                {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - a path inside a container
                            ],
                            "startupProbe": {"httpGet": {"path": "/health", "port": 8000}, "failureThreshold": 60},
                            "livenessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10},
                        }
                    ],
                },
            },
        },
    },
)

TRAINING = examples.resource(
    "kubernetes:kubeflow.org/v1:PyTorchJob",
    "mnist",
    {
        "spec": {
            "pytorchReplicaSpecs": {
                role: {
                    "template": {
                        "spec": {
                            "containers": [
                                {
                                    "name": "pytorch",
                                    "image": "pytorch/pytorch:2.6.0-cuda12.6-cudnn9-runtime",
                                    "resources": {"limits": {resources.GPU: 1, "memory": "32Gi"}},
                                    "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],  # noqa: S108
                                }
                            ],
                            "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}],
                        }
                    }
                }
                for role in ("Master", "Worker")
            }
        }
    },
)

WEB = examples.resource(
    "kubernetes:apps/v1:Deployment",
    "web",
    {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.29.0"}]}}}},
)

STORAGE_CLASS = examples.resource(
    tokens.STORAGE_CLASS,
    "efs-sc",
    {
        "provisioner": EFS_DRIVER,
        "parameters": {
            "provisioningMode": "efs-ap",
            "fileSystemId": "fs-92107410",
            "directoryPerms": "700",
            "gidRangeStart": "1000",
            "gidRangeEnd": "2000",
            "basePath": "/dynamic_provisioning",
        },
    },
)

TEMPLATE = examples.resource(
    tokens.LAUNCH_TEMPLATE,
    "nodes",
    {
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "ebs": {"volumeSize": 200, "volumeType": "gp3", "throughput": 250, "encrypted": "true"},
            }
        ],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
    },
)

GROUP = examples.resource(
    tokens.NODE_GROUP,
    "p5",
    {
        "instanceTypes": ["p5.48xlarge"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "releaseVersion": "1.34.2-20260724",
        "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
        "taints": [{"key": resources.GPU, "value": "true", "effect": "NO_SCHEDULE"}],
        "launchTemplate": {"id": "lt-0123456789abcdef0", "version": "1"},
    },
    launchTemplate=(TEMPLATE,),
)

CPU_GROUP = examples.resource(
    tokens.NODE_GROUP,
    "system",
    {"instanceTypes": ["m7i.large"], "scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": 3}, "diskSize": 20},
)

OPERATOR = examples.release(
    "gpu-operator",
    "gpu-operator",
    "v25.10.1",
    atomic=True,
    values={part: {"enabled": False} for part in ("driver", "toolkit", "devicePlugin")},
)
"""As the EKS user guide installs it beside Bottlerocket, which brings all three."""
PLUGIN = examples.release("nvidia-device-plugin", "nvidia-device-plugin", "0.17.4", after=(GROUP,), timeout=1200)

PROGRAMS = {
    "a cluster without GPUs": (GENERAL_PURPOSE, ANYTHING, CPU_GROUP, WEB),
    "Karpenter, operator, server": (GENERAL_PURPOSE, ANYTHING, GPU_POOL, GPU_CLASS, OPERATOR, SERVER, WEB),
    "a node group, plugin, training": (TEMPLATE, GROUP, CPU_GROUP, PLUGIN, TRAINING, STORAGE_CLASS),
    "workloads alone": (SERVER, TRAINING, WEB),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.parametrize("environment", Environment)
def test_no_rule_fires_on_a_program_that_is_right(program: tuple[Resource, ...], environment: Environment) -> None:
    report = evaluate(program, environment=environment, rules=RULES, today=TODAY)
    assert list(report.lines())[:-1] == []


def test_and_what_is_wrong_with_the_same_programs_is_found() -> None:
    untainted = examples.resource(tokens.NODE_GROUP, "p5", {**GROUP.props, "taints": []}, launchTemplate=(TEMPLATE,))
    report = evaluate((TEMPLATE, untainted), environment=Environment.PROD, rules=RULES, today=TODAY)
    assert [finding.rule for finding in report.findings] == ["NODE004"]
