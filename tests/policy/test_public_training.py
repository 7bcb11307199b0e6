"""Training and its pools as other people write them: what is right passes the rules about disruption without a word.

Shaped after the documentation of Karpenter, Kubeflow and JobSet, and AWS's examples of distributed training; none of
our labels or annotations is in them.
"""

from __future__ import annotations

import pytest
import yaml

from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY

RULES = ("NODE011", "NODE012", "NODE013", "NODE015", "NODE016", "WORK009", "WORK012")

SOUND = {
    "a GPU pool that keeps busy nodes, and a server": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 5}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5m}
  template:
    metadata: {labels: {nvidia.com/gpu.present: "true"}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      expireAfter: 720h
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  template:
    spec:
      containers:
      - {name: server, image: "vllm/vllm-openai:v0.11.0", resources: {limits: {nvidia.com/gpu: 1}}}
""",
    "a pool for inference that packs tightly on spot": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: inference-spot}
spec:
  limits: {nvidia.com/gpu: 16}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m, budgets: [{nodes: 20%}]}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
""",
    "training on a pool without disruption, saving to FSx and held by a budget": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: p5-training}
spec:
  limits: {nvidia.com/gpu: 64}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 30m
    budgets: [{nodes: "0", schedule: "0 0 * * *", duration: 24h, reasons: [Drifted]}]
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: p5}
      expireAfter: Never
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llama-fsdp}
spec:
  elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 64, maxRestarts: 100}
  pytorchReplicaSpecs:
    Worker:
      replicas: 8
      restartPolicy: OnFailure
      template:
        metadata: {labels: {app: llama-fsdp}}
        spec:
          nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
          volumes:
          - {name: fsx, persistentVolumeClaim: {claimName: fsx}}
          - {name: shm, emptyDir: {medium: Memory}}
          containers:
          - name: pytorch
            image: registry.example.com/fsdp:1
            command: [torchrun, --nproc_per_node=8, /fsdp/train.py]
            args: [--checkpoint_dir=/fsx/checkpoints, --checkpoint_freq=500, --resume_from_checkpoint=/fsx/checkpoints]
            resources: {limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}}
            volumeMounts: [{name: fsx, mountPath: /fsx}, {name: shm, mountPath: /dev/shm}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: llama-fsdp}
spec: {minAvailable: 8, selector: {matchLabels: {app: llama-fsdp}}}
""",
    "a JobSet that saves to a bucket, and refuses to go": """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: gemma}
spec:
  replicatedJobs:
  - name: workers
    replicas: 1
    template:
      spec:
        parallelism: 4
        template:
          metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
          spec:
            containers:
            - name: trainer
              image: registry.example.com/maxtext:3
              command: [bash, -c, "python3 train.py base_output_directory=s3://runs/gemma enable_checkpointing=true"]
              resources: {limits: {nvidia.com/gpu: 8}}
""",
    "a test of the network on any pool, a cron job and a short batch": """
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: nccl-tests}
spec:
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
          - {name: launcher, image: "public.ecr.aws/hpc-cloud/nccl-tests:1", command: [all_reduce_perf, -b, "8"]}
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: worker
            image: public.ecr.aws/hpc-cloud/nccl-tests:1
            resources: {limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: embed}
spec:
  activeDeadlineSeconds: 1800
  template:
    spec:
      restartPolicy: Never
      containers: [{name: embed, image: "registry.example.com/embed:2", resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: any}
spec:
  limits: {nvidia.com/gpu: 16}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: any}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
""",
}


@pytest.mark.parametrize("manifests", SOUND.values(), ids=SOUND.keys())
def test_no_rule_about_disruption_fires_on_manifests_that_are_right(manifests: str) -> None:
    resources = []
    for document in yaml.safe_load_all(manifests):
        token = f"kubernetes:{document['apiVersion']}:{document['kind']}"
        resources.append(examples.resource(token, document["metadata"]["name"], document))
    report = evaluate(
        resources,
        environment=Environment.PROD,
        rules=tuple(BY_ID[rule] for rule in RULES),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert [f"{finding.rule} {finding.resource}: {finding.message}" for finding in report.findings] == []
