"""NODE008: every pool buys GPUs we know."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, not_concerned, passes, unknown

TEMPLATE = examples.launch_template()


def group(*types: str, **props: object) -> tuple[Resource, Resource]:
    return TEMPLATE, examples.node_group(TEMPLATE, instanceTypes=list(types), **props)


def pool(*requirements: object, **spec: object) -> Resource:
    return changed(examples.node_pool(**spec), "spec.template.spec.requirements", list(requirements))  # type: ignore[arg-type]  # settings of the spec


def required(key: str, *values: str, operator: str = "In") -> dict[str, object]:
    return {"key": key, "operator": operator, "values": list(values)}


def overlay(*requirements: object, amount: str = "1") -> Resource:
    spec = {"requirements": list(requirements), "capacity": {resources.GPU: amount}}
    return examples.resource(tokens.NODE_OVERLAY, "shares", {"metadata": {"name": "shares"}, "spec": spec})


def test_n08_known_types_pass() -> None:
    assert passes(judge("NODE008", *group("g5.xlarge", "g5.2xlarge")))
    assert passes(judge("NODE008", examples.node_pool(types=("p4d.24xlarge",))))


@pytest.mark.parametrize(
    ("props", "mark"),
    [
        ({"labels": None}, "the taint nvidia.com/gpu"),
        ({"taints": None, "labels": {"accelerator": "nvidia"}}, "the label accelerator=nvidia"),
        ({"taints": None, "labels": {"nvidia.com/gpu.present": "true"}}, "the label nvidia.com/gpu.present=true"),
        ({"taints": None, "labels": {"gpu-type": "t4"}}, "the label gpu-type=t4"),
    ],
)
def test_n08_a_group_marked_for_gpus_that_buys_none_fails(props: dict[str, object], mark: str) -> None:
    message = complaint(judge("NODE008", *group("m5.large", **props)))
    assert message == f"is marked as a GPU pool ({mark}) and may buy no type with an NVIDIA GPU: m5.large"


def test_n08_a_group_that_names_no_type_gets_a_t3_medium() -> None:
    nodes = examples.node_group(TEMPLATE, instanceTypes=None)
    assert complaint(judge("NODE008", TEMPLATE, nodes)).endswith("GPU: t3.medium")
    template = examples.launch_template(instanceType="g5.xlarge")
    assert passes(judge("NODE008", template, examples.node_group(template, instanceTypes=None)))


@pytest.mark.parametrize(
    "requirement",
    [required(labels.INSTANCE_CATEGORY, "c", "m"), required(labels.INSTANCE_GPU_NAME, "a10"), required("x", "y")],
)
def test_n08_a_pool_limited_in_gpus_that_buys_none_fails(requirement: object) -> None:
    nodes = pool(requirement, required(labels.INSTANCE_CPU, "1"))
    assert "its requirements admit no type with an NVIDIA GPU" in complaint(judge("NODE008", nodes))


def test_n08_a_requirement_on_nvidia_is_a_mark_too() -> None:
    nodes = pool(
        required(labels.INSTANCE_GPU_MANUFACTURER, "nvidia"),
        required(labels.INSTANCE_FAMILY, "m7i"),
        limits={"cpu": "100"},
        taints=(),
    )
    bare = changed(nodes, "spec.template.metadata", None)
    assert "a requirement on karpenter.k8s.aws/instance-gpu-manufacturer" in complaint(judge("NODE008", bare))


def test_n08_a_type_without_gpu_mixed_in_fails() -> None:
    assert "mixes m5.2xlarge in" in complaint(judge("NODE008", *group("g5.2xlarge", "m5.2xlarge")))
    assert "mixes inf2.xlarge in" in complaint(judge("NODE008", examples.node_pool(types=("g5.xlarge", "inf2.xlarge"))))
    assert "mixes c, m in" in complaint(judge("NODE008", pool(required(labels.INSTANCE_CATEGORY, "g", "c", "m"))))


def test_n08_another_requirement_may_keep_the_others_out() -> None:
    named = required(labels.INSTANCE_CATEGORY, "g", "c", "m")
    assert passes(judge("NODE008", pool(named, required(labels.INSTANCE_GPU_COUNT, "0", operator="Gt"))))
    assert passes(judge("NODE008", pool(named, required(labels.INSTANCE_FAMILY, "g6"))))
    assert not passes(judge("NODE008", pool(named, required(labels.INSTANCE_GPU_COUNT, "0"))))


@pytest.mark.parametrize(("name", "near"), [("g5.3xlarge", "g5.xlarge"), ("p7.48xlarge", "p5.48xlarge")])
def test_n08_a_type_that_nobody_knows_fails_with_the_nearest(name: str, near: str) -> None:
    message = complaint(judge("NODE008", *group(name)))
    assert message == (
        f"buys {name}, of which nothing is known here, so that no rule can judge it; the nearest is {near}"
    )


def test_n08_a_family_that_nobody_knows_fails() -> None:
    assert "buys g9, of which nothing is known" in complaint(
        judge("NODE008", pool(required(labels.INSTANCE_FAMILY, "g9", "g6")))
    )


def test_g4ad_is_nobodys_mistake_unless_it_is_marked_for_nvidia() -> None:
    assert not_concerned(judge("NODE008", *group("g4ad.xlarge", taints=None, labels=None)))
    assert "g4ad.xlarge" in complaint(judge("NODE008", *group("g4ad.xlarge", labels=None)))


def test_n08_fractions_of_a_gpu_need_an_overlay_where_karpenter_buys() -> None:
    nodes = examples.node_pool(types=("g6f.xlarge", "gr6f.4xlarge"))
    assert "EC2 counts 0 GPUs" in complaint(judge("NODE008", nodes))
    assert passes(judge("NODE008", nodes, overlay(required(labels.INSTANCE_FAMILY, "g6f"))))
    assert passes(judge("NODE008", nodes, overlay()))
    for useless in (overlay(required(labels.INSTANCE_TYPE, "g5.xlarge")), overlay(amount="0")):
        assert not passes(judge("NODE008", nodes, useless))
    assert passes(judge("NODE008", examples.node_pool(types=("g6f.xlarge", "g6.xlarge"))))
    assert passes(judge("NODE008", *group("g6f.xlarge")))


def unmarked(*requirements: object, **spec: object) -> Resource:
    bare = pool(*requirements, **{"limits": {"cpu": "100"}, "taints": (), **spec})
    return changed(bare, "spec.template.metadata", None)


CPU = required(labels.INSTANCE_FAMILY, "m7i")


@pytest.mark.parametrize("limit", [{"nvidia.com/gpu": "4"}, {"nvidia.com/mig-1g.5gb": "7"}])
def test_n08_a_limit_on_gpus_is_a_mark(limit: dict[str, str]) -> None:
    (key,) = limit
    assert f"is marked as a GPU pool (a limit on {key}) and" in complaint(judge("NODE008", unmarked(CPU, limits=limit)))


@pytest.mark.parametrize(
    "nodes",
    [
        unmarked(CPU, limits={"cpu": "100", "nvidia.com/gpu": "0"}),
        unmarked(CPU, taints=({"key": "dedicated", "value": "ci", "effect": "NoSchedule"},)),
        unmarked(CPU, required("team", "nvidia")),
        unmarked(CPU, required(labels.INSTANCE_GPU_MANUFACTURER, "amd")),
        unmarked(CPU, required(labels.INSTANCE_GPU_MANUFACTURER, "nvidia", operator="NotIn")),
        unmarked(CPU, required(labels.INSTANCE_GPU_NAME, "a10", operator="NotIn")),
    ],
    ids=["a limit of 0", "another taint", "a team", "another maker", "not this maker", "not this model"],
)
def test_n08_what_keeps_gpus_away_or_speaks_of_others_is_no_mark(nodes: Resource) -> None:
    assert not_concerned(judge("NODE008", nodes))


def test_n08_types_are_judged_whether_a_pool_is_marked_or_not() -> None:
    assert "mixes m5.large in" in complaint(judge("NODE008", *group("g5.xlarge", "m5.large", taints=None, labels=None)))


@pytest.mark.parametrize(
    "named", [required(labels.INSTANCE_GPU_NAME, "a10g"), required(labels.INSTANCE_GPU_NAME, "a10", operator="NotIn")]
)
def test_n08_only_a_model_that_is_asked_for_and_unknown_is_put_right(named: object) -> None:
    assert complaint(judge("NODE008", pool(CPU, named, required("team", "a10")))).endswith("that is known here")


def test_n08_fractions_beside_a_type_that_nobody_knows_are_not_counted() -> None:
    nodes = examples.node_pool(types=("g6f.xlarge", "p9.48xlarge"))
    assert complaint(judge("NODE008", nodes)).startswith("buys p9.48xlarge, of which nothing is known")


def test_n08_what_an_overlay_asks_of_nodes_may_fit() -> None:
    nodes = examples.node_pool(types=("g6f.xlarge",))
    assert passes(judge("NODE008", nodes, overlay(required(labels.CAPACITY_TYPE, "on-demand"))))


def test_n08_manifests_without_an_overlay_leave_open_whether_there_is_one() -> None:
    nodes = examples.node_pool(types=("g6f.xlarge",))
    report = evaluate(
        (nodes,),
        environment=Environment.PROD,
        rules=(BY_ID["NODE008"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert left_open(report) == ["NodeOverlay"]


@pytest.mark.parametrize("path", ["spec.template.spec.taints", "spec.template.metadata.labels", "spec.limits"])
def test_n08_a_mark_is_found_beside_others_that_are_not_known(path: str) -> None:
    nodes = unknown(pool(required(labels.INSTANCE_FAMILY, "m7i")), path)
    assert "is marked as a GPU pool" in complaint(judge("NODE008", nodes))


def test_a_pool_of_anything_is_another_rules_business() -> None:
    open_pool = changed(pool(required(labels.INSTANCE_CPU, "4"), limits={}, taints=()), "spec.template.metadata", None)
    assert not_concerned(judge("NODE008", open_pool))


def test_cpu_pools_are_not_concerned() -> None:
    assert not_concerned(judge("NODE008", *group("m5.large", taints=None, labels={"team": "web"})))


def test_unknown_types_are_left_open() -> None:
    nodes = unknown(examples.node_group(TEMPLATE), "instanceTypes")
    assert left_open(judge("NODE008", TEMPLATE, nodes)) == ["instanceTypes"]
    template = examples.launch_template(instanceRequirements={"acceleratorCount": {"min": 1}})
    nodes = examples.node_group(template, instanceTypes=None)
    assert left_open(judge("NODE008", template, nodes)) == ["instanceRequirements"]


def test_n08_a_gpu_name_that_nobody_has_is_a_mark_and_another_makers_is_none() -> None:
    bare = {"limits": {"cpu": "100"}, "taints": ()}
    wrong = changed(pool(required(labels.INSTANCE_GPU_NAME, "a10"), **bare), "spec.template.metadata", None)
    message = complaint(judge("NODE008", wrong))
    assert "a requirement on karpenter.k8s.aws/instance-gpu-name of a10)" in message
    assert message.endswith("that is known here; the nearest to a10 is a10g")
    strange = changed(pool(required(labels.INSTANCE_GPU_NAME, "xyz"), **bare), "spec.template.metadata", None)
    assert complaint(judge("NODE008", strange)).endswith("that is known here")
    radeon = required(labels.INSTANCE_GPU_NAME, "radeon-pro-v520")
    assert not_concerned(judge("NODE008", changed(pool(radeon, **bare), "spec.template.metadata", None)))


@pytest.mark.parametrize("rule", ["NODE001", "NODE004", "NODE008"])
def test_a_policy_pack_guarded_by_one_instance_type_is_not_ours_every_type_is_judged(rule: str) -> None:
    for name in ("g4dn.xlarge", "g5.xlarge", "g6e.xlarge", "p4d.24xlarge", "p5.48xlarge", "g7e.48xlarge"):
        small = examples.launch_template(blockDeviceMappings=[examples.volume(20)])
        nodes = examples.node_group(small, instanceTypes=[name, "m5.large"], taints=None)
        assert judge(rule, small, nodes).findings
