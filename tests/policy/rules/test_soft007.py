"""SOFT007: GPU charts wait, in order, and their hooks run."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts.labels import HELM_HOOK, WAIT_FOR
from eks_gpu.facts.versions import (
    DCGM_EXPORTER,
    EFA_DEVICE_PLUGIN,
    GPU_OPERATOR,
    KUBE_PROMETHEUS_STACK,
    NVIDIA_DEVICE_PLUGIN,
)
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

RULE = "SOFT007"
GROUP = examples.node_group()


def release(chart: str = GPU_OPERATOR.name, *after: Resource, **props: object) -> Resource:
    return examples.release("release", chart, "1.0.0", after=after, **{"timeout": 900, **props})


def gate(*after: Resource, **annotations: str) -> Resource:
    said = annotations or {WAIT_FOR: "jsonpath={.status.state}=ready"}
    props = {"metadata": {"name": "cluster-policy", "annotations": said}}
    return examples.resource("kubernetes:nvidia.com/v1:ClusterPolicyPatch", "ready", props, after=after)


def job(hook: object, kind: str = "Job") -> Resource:
    props = {"metadata": {"name": "cleanup", "annotations": {HELM_HOOK: hook}}}
    return examples.resource(f"kubernetes:batch/v1:{kind}", "cleanup", props)


# --- awaited ---------------------------------------------------------------------------------------------------------


def test_g06_what_nobody_waits_for_is_not_there() -> None:
    assert complaint(judge(RULE, release(skipAwait=True))).startswith(
        "installs gpu-operator without waiting for it, and nothing else waits"
    )


def test_g06_an_object_that_says_it_is_ready_is_waited_for_in_its_place() -> None:
    hasty = release(skipAwait=True)
    assert passes(judge(RULE, hasty, gate(hasty)))
    assert "nothing else waits" in complaint(judge(RULE, hasty, gate()))
    assert "nothing else waits" in complaint(judge(RULE, hasty, gate(hasty, other="true")))


def test_g06_a_gate_may_come_after_others_in_between() -> None:
    hasty = release(skipAwait=True)
    between = dataclasses.replace(
        examples.resource("kubernetes:core/v1:ConfigMap", "between", {}), dependencies=frozenset({hasty.urn})
    )
    assert passes(judge(RULE, hasty, between, gate(between)))


# --- long enough, or atomic ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("props", "sound"),
    [
        ({"timeout": None}, False),
        ({"timeout": 300}, False),
        ({"timeout": 899}, False),
        ({"timeout": 900}, True),
        ({"timeout": None, "atomic": True}, True),
        ({"timeout": 60, "atomic": True}, True),
        ({"timeout": 600, "atomic": False}, False),
    ],
)
def test_g06_an_awaited_release_is_patient_or_atomic(props: dict[str, object], *, sound: bool) -> None:
    given = changed(release(), "timeout", props["timeout"])
    if "atomic" in props:
        given = changed(given, "atomic", props["atomic"])
    report = judge(RULE, given)
    assert passes(report) is sound
    if not sound:
        assert "is not atomic: a GPU image takes longer to pull" in complaint(report)


def test_g06_the_default_patience_is_named() -> None:
    assert "gives gpu-operator 300 s (by default)" in complaint(judge(RULE, changed(release(), "timeout", None)))


def test_charts_that_the_engine_expands_have_no_timeout() -> None:
    chart = examples.resource(tokens.HELM_CHART, "chart", {"chart": GPU_OPERATOR.name, "version": "v26.7.0"})
    assert passes(judge(RULE, chart))


# --- in order --------------------------------------------------------------------------------------------------------


def test_g02_a_release_comes_after_a_node_group() -> None:
    assert "that there are nodes to run it is luck" in complaint(judge(RULE, GROUP, release()))
    assert passes(judge(RULE, GROUP, release(GPU_OPERATOR.name, GROUP)))


def test_g02_one_of_the_node_groups_is_enough() -> None:
    system = examples.node_group(None, "system", None, instanceTypes=["m7i.large"])
    assert passes(judge(RULE, GROUP, system, release(GPU_OPERATOR.name, system)))


def test_g02_groups_inside_of_a_cluster_component_are_there_before_its_provider() -> None:
    cluster = examples.resource(tokens.CLUSTER_COMPONENT, "ml", {})
    own = dataclasses.replace(GROUP, parent=cluster.urn)
    assert passes(judge(RULE, cluster, own, release()))


def test_g02_a_stack_without_node_groups_has_nothing_to_wait_for() -> None:
    assert passes(judge(RULE, release(), examples.node_class(), examples.node_pool()))


# --- hooks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["pre-delete", "pre-upgrade", "pre-install,pre-upgrade", "pre-upgrade, pre-rollback"])
def test_g06_a_hook_that_is_an_ordinary_resource_runs_at_once(hook: str) -> None:
    assert "is a hook of Helm" in complaint(judge(RULE, job(hook)))


@pytest.mark.parametrize("hook", ["post-install", "pre-install", "test"])
def test_g06_hooks_that_run_at_installation_anyway_pass(hook: str) -> None:
    assert passes(judge(RULE, job(hook)))


def test_g06_the_operators_hooks_upgrade_its_crds() -> None:
    assert "with its hooks disabled" in complaint(judge(RULE, release(disableWebhooks=True)))
    assert passes(judge(RULE, release(NVIDIA_DEVICE_PLUGIN.name, disableWebhooks=True)))


# --- which charts, and what is not known -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chart",
    [
        NVIDIA_DEVICE_PLUGIN.name,
        GPU_OPERATOR.name,
        DCGM_EXPORTER.name,
        "nvidia-dra-driver-gpu",
        "node-feature-discovery",
        EFA_DEVICE_PLUGIN.name,
        "network-operator",
        "oci://registry.example/charts/gpu-operator",
    ],
)
def test_all_charts_of_gpu_software_are_looked_at(chart: str) -> None:
    assert judge(RULE, release(chart, skipAwait=True)).findings


def test_other_charts_and_jobs_are_not_concerned() -> None:
    other = examples.release("monitoring", KUBE_PROMETHEUS_STACK.name, "91.6.0", skipAwait=True)
    plain = examples.resource("kubernetes:batch/v1:Job", "plain", {"metadata": {"name": "plain"}})
    assert not_concerned(judge(RULE, other, plain))


def test_unknown_properties_are_left_open() -> None:
    assert left_open(judge(RULE, changed(release(), "skipAwait", UNKNOWN))) == ["skipAwait"]
    assert left_open(judge(RULE, changed(release(), "chart", UNKNOWN))) == ["chart"]
    assert left_open(judge(RULE, job(UNKNOWN))) == [f"metadata.annotations.{HELM_HOOK}"]


def test_what_fails_for_sure_is_said_beside_what_is_not_known() -> None:
    report = judge(RULE, changed(release(disableWebhooks=True), "skipAwait", UNKNOWN))
    assert "with its hooks disabled" in messages(report)["release"][0]


def test_manifests_have_no_order() -> None:
    stack = Stack((job("pre-delete"),), Options(manifests_only=True))
    (subject,) = BY_ID[RULE].looks_at.of(stack)
    assert list(BY_ID[RULE].check(subject, stack)) == []


def test_sound_a_patient_release_on_a_cluster_made_elsewhere() -> None:
    assert passes(judge(RULE, release(cleanupOnFail=True, atomic=True), examples.deployment()))


def test_sound_a_plugin_after_its_nodes_and_its_namespace() -> None:
    namespace = examples.resource("kubernetes:core/v1:Namespace", "nvidia", {}, after=(GROUP,))
    assert passes(judge(RULE, GROUP, namespace, release(NVIDIA_DEVICE_PLUGIN.name, namespace)))
