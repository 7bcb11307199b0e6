"""Mistakes that were found in public collections for GPUs on EKS, rebuilt in our own words.

Each program has the mistake of one collection, whose kind its name says, and is refused by the rules that exist for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.storage import EFS_ACCESS_POINTS, EFS_DRIVER
from eks_gpu.facts.versions import (
    GPU_OPERATOR,
    KUBE_PROMETHEUS_STACK,
    NVIDIA_DEVICE_PLUGIN,
)
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import RULES
from tests.support.judging import TODAY, changed

Program = Sequence[Resource]
PASSWORD = "prom-operator"  # noqa: S105 - the default of the chart, which everybody knows


def refused(program: Program) -> set[tuple[str, str]]:
    """Return which rules refuse which resources of a program in production, where somebody qualifies images."""
    options = Options(approved_images=frozenset({"1.34.1-20260701"}))
    report = evaluate(program, environment=Environment.PROD, rules=RULES, today=TODAY, options=options)
    assert not [line for line in report.lines() if "crashed" in line]
    return {(finding.rule, finding.resource) for finding in report.findings}


def cluster(version: str) -> Resource:
    return examples.resource("aws:eks/cluster:Cluster", "ai", {"version": version})


def general() -> Resource:
    return examples.node_group(
        None, "general", None, instanceTypes=["m6i.large"], amiType="AL2023_x86_64_STANDARD", taints=[], labels={}
    )


def example_of_dynamic_allocation() -> Program:
    core = general()
    gpus = examples.node_group(None, "a100", None, instanceTypes=["p4d.24xlarge"], labels={labels.GPU_PRESENT: "true"})
    operator = examples.release(
        "operator",
        GPU_OPERATOR.name,
        GPU_OPERATOR.version,
        after=(core, gpus),
        skipAwait=True,
        values={"driver": {"enabled": False}, "toolkit": {"enabled": False}, "devicePlugin": {"enabled": False}},
    )
    values = {
        "grafana": {"adminPassword": PASSWORD, "service": {"type": "LoadBalancer"}},
        "alertmanager": {"enabled": False},
    }
    watching = examples.release(
        "watching", KUBE_PROMETHEUS_STACK.name, KUBE_PROMETHEUS_STACK.version, after=(core,), values=values
    )
    return cluster("1.34"), core, gpus, operator, watching


def builder_of_gpu_clusters() -> Program:
    template = examples.launch_template(
        "gpu",
        blockDeviceMappings=[{"deviceName": "/dev/sda1", "ebs": {"volumeSize": 50, "encrypted": "true"}}],
        metadataOptions={"httpTokens": "optional"},
    )
    group = examples.node_group(template, "gpu", None, amiType="AL2_x86_64_GPU", taints=[], releaseVersion=None)
    return cluster("1.27"), template, group


def blueprint_of_targeted_reservations() -> Program:
    reservation = examples.resource(
        tokens.CAPACITY_RESERVATION,
        "p5",
        {
            "instanceType": "p5.48xlarge",
            "availabilityZone": "us-east-1a",
            "instanceCount": 2,
            "instancePlatform": "Linux/UNIX",
            "instanceMatchCriteria": "targeted",
        },
    )
    together = examples.resource(tokens.PLACEMENT_GROUP, "p5", {"strategy": "cluster"})
    template = examples.resource(
        tokens.LAUNCH_TEMPLATE,
        "p5",
        {
            **examples.launch_template().props,
            "placement": {"groupName": "p5"},
            "capacityReservationSpecification": {
                "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
            },
        },
        placement=(together,),
        capacityReservationSpecification=(reservation,),
    )
    scaling = {"minSize": 2, "maxSize": 5, "desiredSize": 1}
    group = examples.node_group(template, "p5", None, instanceTypes=["p5.48xlarge"], scalingConfig=scaling)
    return reservation, together, template, group


def blueprint_that_installs_by_helm() -> Program:
    group = examples.node_group(None, "gpu", None)
    plugin = examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, skipAwait=True)
    return cluster("1.34"), group, plugin


def node_pools_of_an_ai_collection() -> Program:
    disruption = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"}
    pool = examples.training_pool("p5", node={"expireAfter": "720h"}, **disruption)
    unlimited = changed(pool, "spec.limits", {"cpu": 1000})
    return examples.node_class("p5"), unlimited, examples.training_job()


def generator_of_vllm_servers() -> Program:
    server = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.11.0",
        "args": ["--model", "mistralai/Mistral-7B-Instruct-v0.3"],
        "env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
        "ports": [{"containerPort": 8000}],
        "resources": {"limits": {resources.GPU: 1, "memory": "24Gi"}},
    }
    return (examples.deployment(server, name="vllm", volumes=[]),)


def terraform_module_of_a_vendor() -> Program:
    first = examples.node_group(None, "labelled", None)
    second = examples.node_group(None, "bare", None, taints=[], labels={"team": "ml"}, releaseVersion="1.34.1-20260101")
    return cluster("1.34"), first, second


def infrastructure_of_a_university() -> Program:
    shares = "version: v1\nsharing:\n  mps:\n    resources: [{name: nvidia.com/gpu, replicas: 10}]\n"
    group = examples.node_group(None, "g4dn", None, instanceTypes=["g4dn.2xlarge"])
    plugin = examples.release(
        "plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        after=(group,),
        values={"config": {"map": {"default": shares}}, "gfd": {"enabled": True}},
    )
    branch = "https://raw.githubusercontent.com/example/crds/main/crds.yaml"
    definitions = examples.resource("kubernetes:yaml/v2:ConfigFile", "crds", {"file": branch})
    pool = examples.training_pool(
        node={"terminationGracePeriod": "30m"}, consolidationPolicy="WhenEmptyOrUnderutilized", budgets=[]
    )
    return group, plugin, definitions, examples.node_class("p4d"), pool, examples.training_job()


def platform_of_a_data_science_company() -> Program:
    node_class = examples.node_class("gpu", amiSelectorTerms=[{"alias": "al2023@latest"}])
    pool = examples.node_pool("gpu", taints=({"key": resources.GPU, "value": "true", "effect": "NoSchedule"},))
    equal = [{"key": resources.GPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"}]
    plugin = examples.release(
        "plugin",
        NVIDIA_DEVICE_PLUGIN.name,
        NVIDIA_DEVICE_PLUGIN.version,
        values={"gfd": {"enabled": True}, "nfd": {"worker": {"tolerations": equal}}},
    )
    unmarked = {key: value for key, value in labels.pool_labels("a10g", "inference").items() if "present" not in key}
    pool = changed(pool, "spec.template.metadata.labels", unmarked)
    return cluster("1.34"), node_class, pool, plugin


def starter_kit_for_generative_ai() -> Program:
    cache = examples.resource(
        tokens.FILE_SYSTEM,
        "cache",
        {"encrypted": True, "throughputMode": "elastic", "lifecyclePolicies": [{"transitionToIa": "AFTER_7_DAYS"}]},
    )
    parameters = {"provisioningMode": EFS_ACCESS_POINTS, "fileSystemId": "fs-1", "directoryPerms": "700"}
    shared = examples.resource(
        tokens.STORAGE_CLASS,
        "efs",
        {"metadata": {"name": "efs"}, "provisioner": EFS_DRIVER, "parameters": parameters},
        parameters=(cache,),
    )
    claim = examples.resource(
        tokens.CLAIM,
        "models",
        {
            "metadata": {"name": "models"},
            "spec": {"storageClassName": "efs", "accessModes": ["ReadWriteMany"]},
        },
    )
    server = examples.on_cache({"startupProbe": None})
    node_class = examples.node_class("g5", amiSelectorTerms=[{"alias": "bottlerocket@latest"}])
    return cache, shared, claim, server, node_class, examples.node_pool("g5")


EXPECTED: Mapping[Callable[[], Program], set[tuple[str, str]]] = {
    example_of_dynamic_allocation: {
        ("NODE001", "a100"),
        ("SOFT007", "operator"),
        ("SEC002", "watching"),
        ("OBS001", "watching"),
    },
    builder_of_gpu_clusters: {
        ("NODE007", "gpu"),
        ("NODE001", "gpu"),
        ("NODE004", "gpu"),
        ("SEC001", "gpu"),
        ("SOFT006", "ai"),
    },
    blueprint_of_targeted_reservations: {("NODE010", "p5")},
    blueprint_that_installs_by_helm: {("SOFT007", "plugin")},
    node_pools_of_an_ai_collection: {("COST001", "p5"), ("NODE013", "p5")},
    generator_of_vllm_servers: {("WORK005", "vllm"), ("WORK006", "vllm"), ("WORK008", "vllm")},
    terraform_module_of_a_vendor: {("NODE004", "bare"), ("NODE005", "bare"), ("NODE006", "bare")},
    infrastructure_of_a_university: {("SHARE003", "g4dn"), ("SOFT005", "crds"), ("NODE013", "p4d")},
    platform_of_a_data_science_company: {("SOFT004", "gpu"), ("NODE006", "gpu")},
    starter_kit_for_generative_ai: {("STOR005", "cache"), ("WORK006", "llm"), ("NODE006", "g5")},
}


@pytest.mark.parametrize("program", EXPECTED, ids=lambda program: program.__name__)
def test_the_mistake_of_a_peer_is_refused_by_the_rules_for_it(program: Callable[[], Program]) -> None:
    found = refused(program())
    assert EXPECTED[program] <= found, sorted(found)


# --- a policy pack whose checks were guarded by one instance type ----------------------------------------------------

WITH_GPUS = sorted({kind.family: kind.name for kind in CATALOGUE.values() if kind.gpu_count}.values())


@pytest.mark.parametrize("instance", WITH_GPUS)
def test_the_checks_of_a_pool_run_on_every_gpu_instance_type(instance: str) -> None:
    bare = examples.node_group(None, "bare", None, instanceTypes=[instance], taints=[], labels={}, releaseVersion=None)
    assert {(rule, "bare") for rule in ("NODE001", "NODE004", "NODE006")} <= refused((bare,))


def test_a_type_that_nobody_knows_is_a_finding_and_not_a_pass() -> None:
    later = examples.node_group(None, "later", None, instanceTypes=["p9.48xlarge"])
    assert ("NODE008", "later") in refused((later,))
