"""OBS005: node repair sees the GPU."""

from __future__ import annotations

import json

import pytest

from eks_gpu.facts.taints import GPU
from eks_gpu.facts.versions import GPU_OPERATOR, KARPENTER
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

RULE = "OBS005"
EVERYTHING = {"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
CLUSTER = examples.resource("aws:eks/cluster:Cluster", "ml", {"version": "1.35"})


def agent(configuration: object = None, kind: str = "aws:eks/addon:Addon") -> Resource:
    props = {"addonName": "eks-node-monitoring-agent", "addonVersion": "v1.7.0-eksbuild.1"}
    given = {} if configuration is None else {"configurationValues": configuration}
    return examples.resource(kind, "agent", {**props, **given})


def pool(*, repaired: bool = False, **props: object) -> Resource:
    return examples.node_group(
        None, "gpu", None, **({"nodeRepairConfig": {"enabled": True}} if repaired else {}), **props
    )


def karpenter(*, repairs: object = True) -> Resource:
    values = {"settings": {"featureGates": {"nodeRepair": repairs}}}
    return examples.release("karpenter", KARPENTER.name, KARPENTER.version, values=values)


# --- the engine that tolerates nothing -------------------------------------------------------------------------------


def test_m01_by_default_the_agents_engine_is_kept_off_by_the_taint() -> None:
    (finding,) = judge(RULE, CLUSTER, agent(), pool(repaired=True)).findings
    assert finding.message == (
        "the dcgm-server of agent does not tolerate the taint nvidia.com/gpu=present:NoSchedule, so the agent hears "
        "nothing of the GPUs: every healthy node of gpu is taken for broken and replaced every 10 minutes or so"
    )
    assert finding.fix == f"configure agent with {json.dumps(EVERYTHING)}"


def test_m01_without_repair_a_broken_gpu_is_never_noticed() -> None:
    assert "and a broken GPU is never noticed" in complaint(judge(RULE, CLUSTER, agent(), pool()))


@pytest.mark.parametrize(
    "tolerations",
    [
        [{"operator": "Exists"}],
        [{"key": GPU.key, "operator": "Exists", "effect": "NoSchedule"}],
        [{"key": GPU.key, "operator": "Equal", "value": GPU.value, "effect": "NoSchedule"}],
    ],
)
def test_m01_tolerations_that_match_pass(tolerations: list[object]) -> None:
    configured = json.dumps({"dcgmAgent": {"tolerations": tolerations}})
    assert passes(judge(RULE, CLUSTER, agent(configured), pool(repaired=True)))


@pytest.mark.parametrize(
    "tolerations",
    [
        [{"key": GPU.key, "operator": "Equal", "value": "true", "effect": "NoSchedule"}],
        [{"key": GPU.key, "operator": "Exists", "effect": "NoExecute"}],
        [],
    ],
)
def test_n05_tolerations_of_another_taint_do_not(tolerations: list[object]) -> None:
    configured = json.dumps({"dcgmAgent": {"tolerations": tolerations}})
    assert "does not tolerate the taint" in complaint(judge(RULE, CLUSTER, agent(configured), pool()))


def test_m01_tolerations_of_the_agent_itself_do_not_help() -> None:
    configured = json.dumps({"nodeAgent": {"tolerations": [{"operator": "Exists"}]}})
    assert "the dcgm-server of agent does not tolerate" in complaint(judge(RULE, CLUSTER, agent(configured), pool()))


def test_m01_configuration_in_yaml_or_as_a_mapping_counts_too() -> None:
    assert passes(judge(RULE, CLUSTER, agent("dcgmAgent:\n  tolerations:\n    - operator: Exists\n"), pool()))
    assert passes(judge(RULE, CLUSTER, agent(EVERYTHING, "eks:index:Addon"), pool()))


def test_m01_the_agents_chart_is_judged_like_its_add_on() -> None:
    chart = examples.release("agent", "eks-node-monitoring-agent", "1.7.0")
    assert "never noticed" in complaint(judge(RULE, CLUSTER, chart, pool()))
    assert passes(judge(RULE, CLUSTER, changed(chart, "values", EVERYTHING), pool()))


def test_m01_pools_of_karpenter_are_judged_like_groups() -> None:
    nodes = (examples.node_class(), examples.node_pool())
    assert messages(judge(RULE, CLUSTER, agent(), karpenter(), *nodes)).keys() == {"g5"}
    assert "replaced every 10 minutes" in complaint(judge(RULE, CLUSTER, agent(), karpenter(), *nodes))
    assert passes(judge(RULE, CLUSTER, agent(json.dumps(EVERYTHING)), karpenter(), *nodes))


def test_untainted_pools_are_seen() -> None:
    assert passes(judge(RULE, CLUSTER, agent(), pool(taints=[])))


def test_the_engine_does_not_run_on_arm() -> None:
    assert passes(judge(RULE, CLUSTER, agent(), pool(instanceTypes=["g5g.2xlarge"], amiType="AL2023_ARM_64_NVIDIA")))


# --- repair without the agent ----------------------------------------------------------------------------------------


def test_m01_repair_without_the_agent_repairs_no_gpu() -> None:
    assert "nothing tells how its GPUs are" in complaint(judge(RULE, CLUSTER, pool(repaired=True)))
    nodes = (examples.node_class(), examples.node_pool())
    assert "nothing tells how its GPUs are" in complaint(judge(RULE, CLUSTER, karpenter(), *nodes))


def test_m01_in_a_cluster_made_elsewhere_the_agent_may_be_there() -> None:
    assert left_open(judge(RULE, pool(repaired=True))) == ["eks-node-monitoring-agent"]
    delivery = examples.release("argo", "argo-cd", "9.1.0")
    assert left_open(judge(RULE, CLUSTER, delivery, pool(repaired=True))) == ["eks-node-monitoring-agent"]


def test_nobody_repairs_and_nobody_watches_is_not_this_rules() -> None:
    assert not_concerned(judge(RULE, CLUSTER, pool()))
    assert not_concerned(judge(RULE, CLUSTER, karpenter(repairs=False), examples.node_class(), examples.node_pool()))


# --- two engines -----------------------------------------------------------------------------------------------------


def test_m01_two_engines_on_one_port_are_advice() -> None:
    operator = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"dcgm": {"enabled": True}})
    (finding,) = judge(RULE, CLUSTER, agent(json.dumps(EVERYTHING)), operator, pool()).findings
    assert finding.message.startswith("nvidia-dcgm of operator and the dcgm-server of agent both listen on port 5555")
    assert finding.level == "advisory"
    default = changed(operator, "values", {})
    assert passes(judge(RULE, CLUSTER, agent(json.dumps(EVERYTHING)), default, pool()))


# --- unknown, not concerned ------------------------------------------------------------------------------------------


def test_an_unknown_configuration_is_left_open() -> None:
    assert left_open(judge(RULE, CLUSTER, agent(UNKNOWN), pool()))
    inside = agent({"dcgmAgent": {"tolerations": UNKNOWN}}, "eks:index:Addon")
    assert left_open(judge(RULE, CLUSTER, inside, pool())) == ["configurationValues.dcgmAgent.tolerations"]


def test_unknown_taints_and_add_ons_are_left_open() -> None:
    assert left_open(judge(RULE, CLUSTER, agent(), unknown(pool(), "taints"))) == ["taints"]
    assert left_open(judge(RULE, CLUSTER, unknown(agent(), "addonName"), pool())) == ["addonName"]


def test_pools_of_cpus_and_of_auto_mode_are_not_concerned() -> None:
    assert not_concerned(judge(RULE, CLUSTER, agent(), pool(instanceTypes=["m7i.large"])))
    reference = {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}
    auto = changed(examples.node_pool("auto"), "spec.template.spec.nodeClassRef", reference)
    assert not_concerned(judge(RULE, CLUSTER, agent(), auto))


def test_sound_all_add_ons_with_their_defaults_on_pools_of_cpus_beside_configured_ones() -> None:
    others = [
        examples.resource("aws:eks/addon:Addon", name, {"addonName": name})
        for name in ("vpc-cni", "coredns", "kube-proxy")
    ]
    cpus = examples.node_group(None, "system", None, instanceTypes=["m7i.large"], taints=[])
    assert passes(judge(RULE, CLUSTER, agent(json.dumps(EVERYTHING)), *others, cpus, pool(repaired=True)))
