"""Rules that a cluster which exists already holds by itself, whoever creates an object in it."""

import pulumi

from eks_gpu import AdmissionPolicies, AdmissionPoliciesArgs, ClusterConnection
from eks_gpu_policies.admission.manifests import manifests
from eks_gpu_policies.rule import Environment

cluster = ClusterConnection.lookup(
    "kubernetes", "research", version="1.35", private_subnets={"us-east-1a": "subnet-0a1b2c3d4e5f60718"}
)
held = AdmissionPolicies("admission", AdmissionPoliciesArgs(cluster=cluster, manifests=manifests(Environment.STAGING)))

pulumi.export("policies", sorted(held.policies))
