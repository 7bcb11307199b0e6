"""Manifests as other people write them: what is right passes without a word, what is wrong is refused for its reason.

They are shaped after public documentation (EKS, Karpenter, NVIDIA, LeaderWorkerSet, JobSet, KServe, KubeRay, the EFS
driver) and after mistakes that were found in public examples.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from eks_gpu.facts.quotas import QUOTAS
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options, Quotas
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY


def read(manifests: str) -> Iterator[Resource]:
    """Yield the objects of a file of manifests as a program would declare them."""
    for document in yaml.safe_load_all(manifests):
        group = document["apiVersion"]
        token = f"kubernetes:{group if '/' in group else f'core/{group}'}:{document['kind']}"
        yield examples.resource(token, document["metadata"]["name"], document)


def report_on(*program: Resource) -> Report:
    options = Options(
        environment_named=True,
        monthly_budget_usd=1_000_000,
        monitoring_stack="observability",
        vcpu_quotas=Quotas(TODAY, {quota.code: 1_000_000 for quota in QUOTAS}),
    )
    return evaluate(program, environment=Environment.PROD, rules=RULES, today=TODAY, options=options)


def found(report: Report) -> set[tuple[str, str]]:
    return {(finding.rule, finding.resource) for finding in report.findings}


SOUND = {
    "the device plugin's DaemonSet and a pod that tries a GPU": """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin-daemonset}
spec:
  template:
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
      containers:
      - name: nvidia-device-plugin-ctr
        image: nvcr.io/nvidia/k8s-device-plugin:v0.17.1
        volumeMounts: [{name: device-plugin, mountPath: /var/lib/kubelet/device-plugins}]
      volumes: [{name: device-plugin, hostPath: {path: /var/lib/kubelet/device-plugins}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: vectoradd}
spec:
  template:
    spec:
      containers:
      - name: vectoradd
        image: nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0
        resources: {limits: {nvidia.com/gpu: 1}}
""",
    "EKS Auto Mode": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
      requirements: [{key: eks.amazonaws.com/instance-category, operator: In, values: [c, m, r]}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
      requirements: [{key: eks.amazonaws.com/instance-family, operator: In, values: [g6e, g6]}]
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
  limits: {nvidia.com/gpu: 4}
---
apiVersion: v1
kind: Pod
metadata: {name: nvidia-smi}
spec:
  nodeSelector: {eks.amazonaws.com/instance-gpu-name: l40s, eks.amazonaws.com/compute-type: auto}
  containers:
  - name: nvidia-smi
    image: public.ecr.aws/amazonlinux/amazonlinux:2023-minimal
    resources: {requests: {memory: 30Gi, nvidia.com/gpu: 1}, limits: {memory: 30Gi, nvidia.com/gpu: 1}}
""",
    "pools that say they want no GPU": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: no-gpu}
spec:
  template:
    spec:
      requirements: [{key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: neuron}
spec:
  template:
    spec:
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [inf2, trn1]}]
---
apiVersion: v1
kind: Pod
metadata: {name: gpu}
spec: {containers: [{name: c, image: "x:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
""",
    "serving on several nodes, by KServe and by Ray": """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: vllm}
spec:
  leaderWorkerTemplate:
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v0.11.0
          resources: {limits: {nvidia.com/gpu: "8", memory: 1124Gi}}
          startupProbe: {tcpSocket: {port: 8080}, periodSeconds: 10, failureThreshold: 100}
          volumeMounts: [{mountPath: /dev/shm, name: dshm}]
        volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 15Gi}}]
    workerTemplate:
      spec:
        containers:
        - name: worker
          image: vllm/vllm-openai:v0.11.0
          resources: {limits: {nvidia.com/gpu: "8", memory: 1124Gi}}
          volumeMounts: [{mountPath: /dev/shm, name: dshm}]
        volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 15Gi}}]
---
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: triton}
spec:
  containers:
  - {name: kserve-container, image: "nvcr.io/nvidia/tritonserver:23.05-py3", resources: {limits: {nvidia.com/gpu: 1}}}
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec:
  workerGroupSpecs:
  - template:
      spec:
        containers: [{name: worker, image: "rayproject/ray-ml:2.46.0-gpu", resources: {limits: {nvidia.com/gpu: 1}}}]
""",
    "training by JobSet and by MPI, and a pod with a claimed device": """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: pytorch}
spec:
  replicatedJobs:
  - template:
      spec:
        template:
          spec:
            containers:
            - name: pytorch
              image: registry.k8s.io/jobset/pytorch-mnist:v1
              resources: {limits: {nvidia.com/gpu: 8}}
              volumeMounts: [{name: shm, mountPath: /dev/shm}]
            volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: nccl}
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: launcher, image: "nccl-tests:1"}]}}}
    Worker:
      template:
        spec:
          containers:
          - name: worker
            image: nccl-tests:1
            volumeMounts: [{mountPath: /dev/shm, name: shmem}]
            resources: {limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}}
          volumes: [{name: shmem, hostPath: {path: /dev/shm}}]
---
apiVersion: v1
kind: Pod
metadata: {name: claimed}
spec:
  containers: [{name: c, image: "ubuntu:24.04", resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: single-gpu}]
""",
    "a file system that is mounted by hand": """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: efs-sc}
provisioner: efs.csi.aws.com
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: efs-pv}
spec: {storageClassName: efs-sc, csi: {driver: efs.csi.aws.com, volumeHandle: fs-0123}}
""",
}


@pytest.mark.parametrize("manifests", SOUND.values(), ids=SOUND.keys())
def test_manifests_that_are_right_pass_without_a_word(manifests: str) -> None:
    assert list(report_on(*read(manifests)).lines())[:-1] == []


POOL_OF_BUSY_NODES = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: g6}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: g6}
      requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}]
      taints: [{key: nvidia.com/gpu, value: "Exists", effect: NoSchedule}]
  limits: {cpu: 1000}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: g6}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi, encrypted: true}}]
"""

BOTTLEROCKET_WITH_A_LARGE_ROOT = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: vllm}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: vllm}
      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}]
  limits: {nvidia.com/gpu: 4}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: vllm}
spec:
  amiSelectorTerms: [{alias: bottlerocket@v1.60.0}]
  blockDeviceMappings:
  - {deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, encrypted: true}}
  - {deviceName: /dev/xvdb, ebs: {volumeSize: 20Gi, encrypted: true}}
"""

GENERATED_SERVER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm}
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:latest
        args: ["vllm serve mistralai/Mistral-7B-v0.3"]
        resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1}}
        livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 240}
"""


ELSEWHERE = {("WORK001", "GPU pools"), ("NODE012", "settings.interruptionQueue"), ("SOFT002", "GPU software")}
"""What these manifests leave to others: the nodes of the server, the controller of the pools, their software."""


@pytest.mark.parametrize(
    ("manifests", "refused"),
    [
        (
            POOL_OF_BUSY_NODES,
            {(rule, "g6") for rule in ("COST001", "NODE001", "NODE002", "NODE003", "NODE006", "NODE013", "NODE015")},
        ),
        # p5e is among what the second may buy, and has no price; so are GPUs from 16 GiB to 269.
        (
            BOTTLEROCKET_WITH_A_LARGE_ROOT,
            {(rule, "vllm") for rule in ("NODE001", "NODE002", "NODE003", "NODE004", "NODE009", "NODE015", "COST002")},
        ),
        (GENERATED_SERVER, {("WORK005", "vllm"), ("WORK006", "vllm"), ("WORK008", "vllm"), ("WORK013", "vllm")}),
    ],
    ids=["no GPU limit, small disk, floating image", "the wrong disk is large, no taint", "no shm, no startup probe"],
)
def test_mistakes_of_public_examples_are_refused_for_their_reason(
    manifests: str, refused: set[tuple[str, str]]
) -> None:
    report = report_on(*read(manifests))
    assert found(report) == refused
    assert {(item.rule, item.path) for item in report.not_evaluated} <= ELSEWHERE


def test_a_blueprint_with_an_ended_image_on_a_wrong_device_is_refused() -> None:
    template = examples.resource(
        tokens.LAUNCH_TEMPLATE,
        "lt",
        {
            "blockDeviceMappings": [{"deviceName": "/dev/sda1", "ebs": {"volumeSize": 50}}],
            "metadataOptions": {"httpTokens": "optional"},
        },
    )
    group = examples.node_group(template, "gpu", amiType="AL2_x86_64_GPU", releaseVersion=None, taints=None)
    report = report_on(template, group)
    assert found(report) == {
        *((rule, "gpu") for rule in ("NODE001", "NODE002", "NODE003", "NODE004", "NODE006", "NODE007")),
        ("SEC001", "lt"),
    }
    said = " ".join(finding.message for finding in report.findings)
    assert "default of 20 GiB (volumes are mapped to /dev/sda1 only) on /dev/xvda" in said


def test_a_cluster_example_with_floating_charts_and_a_default_disk_is_refused() -> None:
    component = examples.resource(
        tokens.MANAGED_NODE_GROUP,
        "gpu",
        {
            "instanceTypes": ["p4d.24xlarge"],
            "gpu": True,
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}],
        },
    )
    charts = [examples.release(name, name, None) for name in ("gpu-operator", "kube-prometheus-stack")]
    assert found(report_on(component, *charts)) == {
        *((rule, "gpu") for rule in ("NODE001", "NODE002", "NODE003", "NODE006", "NODE007")),
        ("SOFT003", "gpu"),
        ("SOFT005", "gpu-operator"),
        ("SOFT005", "kube-prometheus-stack"),
        ("SOFT007", "gpu-operator"),
        ("OBS004", "gpu-operator"),
    }
