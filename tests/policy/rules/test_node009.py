"""NODE009: a pool has one GPU model, or the pods say which they want."""

from __future__ import annotations

import pytest

from eks_gpu.facts import declarations, labels, resources
from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, not_concerned, passes, unknown

CLASS = examples.node_class()


def pool(*types: str) -> Resource:
    """Return a pool of some types that says nothing of their model."""
    resource = examples.node_pool(types=types)
    return changed(resource, "spec.template.metadata.labels", {labels.WORKLOAD: "inference"})


TWO = pool("g4dn.2xlarge", "g5.2xlarge")
"""Two models, one with less memory, though not with half of it."""


def declaring(gib: str) -> Resource:
    server = examples.deployment()
    return changed(server, "spec.template.metadata", {"annotations": {declarations.GPU_MEMORY_GIB: gib}})


def selecting(**selector: str) -> Resource:
    named = {"name": labels.INSTANCE_GPU_NAME, "memory": labels.INSTANCE_GPU_MEMORY, "type": labels.INSTANCE_TYPE}
    return examples.deployment(nodeSelector={named[key]: value for key, value in selector.items()})


def test_n08_one_model_in_several_sizes_passes() -> None:
    assert passes(judge("NODE009", CLASS, pool("g5.xlarge", "g5.2xlarge", "g5.48xlarge"), examples.deployment()))


def test_n08_two_models_and_a_pod_that_leaves_it_to_chance() -> None:
    assert complaint(judge("NODE009", CLASS, TWO, examples.deployment())) == (
        "has GPUs of different kinds (t4 of 16 GiB, a10g of 22.4 GiB), and nothing in llm says which of them, or how "
        "much of a GPU's memory is needed"
    )


def test_n08_models_with_as_much_memory_serve_the_same_pods() -> None:
    assert passes(judge("NODE009", CLASS, pool("g5.2xlarge", "g6.2xlarge"), examples.deployment()))


def test_n08_one_name_with_two_memories_is_two_models() -> None:
    both = pool("p4d.24xlarge", "p4de.24xlarge")
    message = complaint(judge("NODE009", CLASS, both, examples.deployment()))
    assert "a100 of 40 GiB, a100 of 80 GiB" in message
    assert passes(judge("NODE009", CLASS, both, selecting(memory="81920")))
    assert passes(judge("NODE009", CLASS, both, selecting(name="a100", memory="40960")))


@pytest.mark.parametrize(
    "pod",
    [selecting(name="a10g"), selecting(memory="22888"), selecting(type="g5.2xlarge"), declaring("16"), declaring("8")],
)
def test_w02_a_pod_that_says_which_or_needs_no_more_than_all_have_passes(pod: Resource) -> None:
    assert passes(judge("NODE009", CLASS, TWO, pod))


def test_w02_a_pod_may_accept_several_by_name() -> None:
    term = {"matchExpressions": [{"key": labels.INSTANCE_GPU_NAME, "operator": "In", "values": ["a10g", "t4"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert passes(judge("NODE009", CLASS, TWO, examples.deployment(affinity={"nodeAffinity": required})))


def test_w02_more_memory_than_the_smallest_has_is_left_to_chance() -> None:
    assert "nothing in llm says" in complaint(
        judge("NODE009", CLASS, pool("g4dn.2xlarge", "g5.2xlarge"), declaring("20"))
    )


def test_n08_what_a_pod_asks_for_may_leave_one_model() -> None:
    eight = examples.deployment(examples.container(resources={"limits": {resources.GPU: "8"}}))
    assert passes(judge("NODE009", CLASS, pool("g4dn.2xlarge", "g5.48xlarge"), eight))


def test_n08_without_a_pod_to_ask_a_spread_of_twice_the_memory_fails() -> None:
    message = complaint(judge("NODE009", CLASS, pool("g5.2xlarge", "g6e.2xlarge")))
    assert message.startswith("has GPUs of very different memory (a10g of 22.4 GiB, l40s of 44.7 GiB)")
    assert passes(judge("NODE009", CLASS, TWO))
    assert passes(judge("NODE009", CLASS, pool("g4dn.2xlarge", "g5.2xlarge")))


def test_n08_pods_elsewhere_do_not_speak_for_the_pool() -> None:
    elsewhere = examples.deployment(nodeSelector={labels.WORKLOAD: "training"})
    assert passes(judge("NODE009", CLASS, TWO, elsewhere))


def test_n08_a_pod_of_which_nobody_knows_where_it_lands_may_speak_for_the_pool() -> None:
    wide, path = pool("g5.2xlarge", "g6e.2xlarge"), "spec.template.spec.nodeSelector"
    assert left_open(judge("NODE009", CLASS, wide, unknown(examples.deployment(nodeSelector={"team": "maps"}), path)))
    cpu_only = examples.deployment(
        examples.container(resources={}), nodeSelector={"team": "maps"}, tolerations=[{"operator": "Exists"}]
    )
    assert "very different memory" in complaint(judge("NODE009", CLASS, wide, unknown(cpu_only, path)))
    elsewhere = examples.deployment(nodeSelector={labels.WORKLOAD: "training"})
    assert "very different memory" in complaint(judge("NODE009", CLASS, wide, elsewhere))


def test_the_names_of_many_pods_are_counted() -> None:
    pods = [examples.deployment(name=f"llm-{n}") for n in range(5)]
    assert "nothing in llm-0, llm-1, llm-2 and 2 more says" in complaint(judge("NODE009", CLASS, TWO, *pods))
    assert "nothing in llm-0, llm-1, llm-2 says" in complaint(judge("NODE009", CLASS, TWO, *pods[:3]))


def test_w02_each_of_several_terms_must_say_which() -> None:
    named = [{"key": labels.INSTANCE_GPU_NAME, "operator": "In", "values": ["a10g"]}]
    anywhere = [{"key": labels.ZONE, "operator": "In", "values": ["us-east-1a"]}]
    both = {"nodeSelectorTerms": [{"matchExpressions": named}, {"matchExpressions": anywhere}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": both}}
    assert "says which of them" in complaint(judge("NODE009", CLASS, TWO, examples.deployment(affinity=affinity)))


def test_w02_a_pod_that_may_find_no_room_may_find_it_on_any_of_the_types() -> None:
    mixed = examples.node_group(instanceTypes=["g5.xlarge", "g4dn.xlarge"])
    tight = examples.container(resources={"limits": {resources.GPU: "1", "cpu": "1", "memory": "14800Mi"}})
    assert "says which of them" in complaint(judge("NODE009", mixed, examples.deployment(tight)))


def test_n08_parts_of_gpus_are_no_model_and_many_models_are_not_all_named() -> None:
    assert passes(judge("NODE009", CLASS, pool("g6.xlarge", "g6f.xlarge"), examples.deployment()))
    wanted = [{"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["g", "p"]}]
    anything = changed(TWO, "spec.template.spec.requirements", wanted)
    message = complaint(judge("NODE009", CLASS, anything, examples.deployment()))
    assert "(t4 of 16 GiB, t4g of 16 GiB ... b300 of 269 GiB)" in message


def test_n08_in_plain_yaml_the_pods_may_be_elsewhere() -> None:
    wide = pool("g5.2xlarge", "g6e.2xlarge")
    report = evaluate(
        (CLASS, wide),
        environment=Environment.PROD,
        rules=(BY_ID["NODE009"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert left_open(report) == ["GPU pods"]


def test_unknown_types_are_left_open() -> None:
    assert left_open(judge("NODE009", unknown(examples.node_group(), "instanceTypes"))) == ["instanceTypes"]


def test_unknown_annotations_are_left_open() -> None:
    path = "spec.template.metadata.annotations"
    assert left_open(judge("NODE009", CLASS, TWO, unknown(declaring("8"), path))) == [path]


def test_pools_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("NODE009", examples.node_group(instanceTypes=["m7i.large", "c7i.large"])))
