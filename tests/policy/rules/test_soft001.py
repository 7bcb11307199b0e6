"""SOFT001: RuntimeClass has one owner, before its users."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from eks_gpu.facts.gpu_software import RUNTIME_CLASS, RUNTIME_HANDLER
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Undecided
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

CLASS = examples.resource(
    tokens.RUNTIME_CLASS, "runtime-class", {"metadata": {"name": RUNTIME_CLASS}, "handler": RUNTIME_HANDLER}
)
CONFIG = examples.resource(tokens.CONFIG_MAP, "sharing", {"metadata": {"name": "sharing-1"}, "data": {"default": ""}})


def plugin(*after: Resource, **values: object) -> Resource:
    named = {"runtimeClassName": RUNTIME_CLASS, **values}
    return examples.release(
        "plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, after=after, values=named
    )


def operator(*after: Resource, **values: object) -> Resource:
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, after=after, values=values)


def pod(*after: Resource, runtime_class: object = RUNTIME_CLASS) -> Resource:
    return after_(examples.deployment(runtimeClassName=runtime_class), after)


def after_(resource: Resource, others: Sequence[Resource]) -> Resource:
    return dataclasses.replace(resource, dependencies=frozenset(item.urn for item in others))


def test_g01_a_plugin_that_depends_on_its_class_passes() -> None:
    assert passes(judge("SOFT001", CLASS, plugin(CLASS)))


def test_g01_a_plugin_beside_its_class_is_luck() -> None:
    assert "does not depend on runtime-class, which makes it: that it comes later is luck" in complaint(
        judge("SOFT001", CLASS, plugin())
    )


def test_g01_dependence_through_another_resource_is_dependence() -> None:
    gate = after_(examples.resource("kubernetes:core/v1:Namespace", "gpu", {}), [CLASS])
    assert passes(judge("SOFT001", CLASS, gate, plugin(gate)))


def test_g01_dependence_on_an_empty_component_is_none_and_on_its_component_is_one() -> None:
    empty = examples.resource("example:index:Empty", "empty", {})
    assert "luck" in complaint(judge("SOFT001", CLASS, empty, plugin(empty)))
    inside = dataclasses.replace(CLASS, parent=empty.urn)
    assert passes(judge("SOFT001", inside, empty, plugin(empty)))


def test_g01_what_a_component_waits_for_its_children_wait_for() -> None:
    component = after_(examples.resource("example:index:Plugin", "gpu", {}), [CLASS])
    assert passes(judge("SOFT001", CLASS, component, dataclasses.replace(plugin(), parent=component.urn)))


def test_g01_a_class_that_nothing_makes_rejects_its_pods() -> None:
    report = judge("SOFT001", plugin())
    assert "which nothing in the stack makes: its pods are rejected" in complaint(report)
    assert messages(report).keys() == {"plugin"}
    cluster = examples.resource("aws:eks/cluster:Cluster", "ml", {})
    assert "which nothing in the stack makes" in complaint(judge("SOFT001", cluster, pod()))


@pytest.mark.parametrize(
    "bringer",
    [
        examples.resource("kubernetes:yaml/v2:ConfigFile", "manifests", {"file": "runtime-class.yaml"}),
        examples.release("mine", "./charts/gpu-nodes", None),
        examples.release("argo", "argo-cd", "9.1.0"),
        examples.resource("kubernetes:argoproj.io/v1alpha1:Application", "platform", {"spec": {}}),
    ],
)
def test_g01_what_brings_things_that_are_not_seen_may_bring_the_class(bringer: Resource) -> None:
    assert "runtimeClassName" in left_open(judge("SOFT001", plugin(), bringer))


def test_g01_a_bundle_that_the_engine_has_expanded_hides_nothing() -> None:
    bundle = examples.resource("kubernetes:yaml/v2:ConfigFile", "manifests", {"file": "monitoring.yaml"})
    inside = dataclasses.replace(examples.resource("kubernetes:core/v1:Namespace", "x", {}), parent=bundle.urn)
    assert "which nothing in the stack makes" in complaint(judge("SOFT001", plugin(), bundle, inside))
    known = examples.release("exporter", "./charts/dcgm-exporter", None)
    assert "which nothing in the stack makes" in complaint(judge("SOFT001", plugin(), known))


def test_g01_vllms_chart_names_the_class_by_default() -> None:
    def stack(**values: object) -> Resource:
        return examples.release("vllm", "vllm-stack", "0.1.7", values=values)

    cluster = examples.resource("aws:eks/cluster:Cluster", "ml", {})
    assert "uses the RuntimeClass nvidia, which nothing in the stack makes" in complaint(
        judge("SOFT001", cluster, stack())
    )
    assert passes(judge("SOFT001", cluster, stack(servingEngineSpec={"runtimeClassName": ""})))
    assert left_open(judge("SOFT001", stack())) == ["runtimeClassName"]
    assert left_open(judge("SOFT001", cluster, stack(servingEngineSpec=UNKNOWN))) != []


def test_g01_a_stack_of_workloads_alone_may_find_the_class_in_its_cluster() -> None:
    assert left_open(judge("SOFT001", pod())) == ["runtimeClassName"]
    assert left_open(judge("SOFT001", examples.node_pool(), pod())) == ["runtimeClassName"]


def test_g01_pods_depend_on_the_class_as_well() -> None:
    assert messages(judge("SOFT001", CLASS, plugin(CLASS), pod())).keys() == {"llm"}
    assert passes(judge("SOFT001", CLASS, plugin(CLASS), pod(CLASS)))


def test_g01_the_exporters_chart_names_a_class_too() -> None:
    values = {"runtimeClassName": RUNTIME_CLASS}
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version, values=values)
    assert messages(judge("SOFT001", CLASS, exporter)).keys() == {"exporter"}


def test_g02_with_the_operator_charts_depend_on_it_as_well() -> None:
    values = {"runtimeClassName": RUNTIME_CLASS}
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version, values=values)
    assert "does not depend on operator, which makes it" in complaint(judge("SOFT001", operator(), exporter))
    assert passes(judge("SOFT001", operator(), after_(exporter, [operator()])))


def test_no_name_is_fine_because_nvidia_is_the_default_runtime() -> None:
    assert passes(judge("SOFT001", plugin(runtimeClassName=None)))
    assert not_concerned(judge("SOFT001", examples.deployment()))


def test_g02_beside_the_operator_a_class_of_ones_own_is_overwritten() -> None:
    report = judge("SOFT001", CLASS, operator())
    assert "overwrites this one and removes it with itself" in complaint(report)
    assert messages(report).keys() == {"runtime-class"}
    other = operator(operator={"runtimeClass": "nvidia-operator"})
    assert passes(judge("SOFT001", CLASS, other))


def test_g02_with_the_operator_pods_depend_on_it_or_its_gate() -> None:
    owner = operator()
    assert "does not depend on operator" in complaint(judge("SOFT001", owner, pod()))
    assert passes(judge("SOFT001", owner, pod(owner)))
    gate = after_(examples.resource("kubernetes:nvidia.com/v1:ClusterPolicyPatch", "ready", {}), [owner])
    assert passes(judge("SOFT001", owner, gate, pod(gate)))


def test_on_al2023_the_handler_is_nvidia() -> None:
    wrong = changed(CLASS, "handler", "nvidia-container-runtime")
    resources = (examples.node_class(), examples.node_pool())
    report = judge("SOFT001", wrong, *resources)
    assert "names the handler nvidia-container-runtime" in complaint(report)
    assert messages(report).keys() == {"runtime-class"}
    assert passes(judge("SOFT001", CLASS, *resources))


def test_classes_of_other_runtimes_are_nobodys_business() -> None:
    sandboxed = examples.resource(tokens.RUNTIME_CLASS, "gvisor", {"metadata": {"name": "gvisor"}, "handler": "runsc"})
    assert passes(judge("SOFT001", sandboxed, pod(runtime_class="gvisor"), examples.node_pool()))


@pytest.mark.parametrize(
    "release",
    [
        plugin(CLASS, config={"name": "sharing-1"}),
        operator(devicePlugin={"config": {"name": "sharing-1"}}),
        operator(migManager={"config": {"name": "sharing-1"}}),
    ],
)
def test_g03_the_sharing_configuration_comes_before_who_reads_it(release: Resource) -> None:
    first = (CLASS,) if release.name == "plugin" else ()
    report = judge("SOFT001", *first, CONFIG, release)
    assert "reads its sharing configuration from sharing but does not depend on it" in complaint(report)
    assert messages(report).keys() == {release.name}
    assert passes(judge("SOFT001", *first, CONFIG, after_(release, [*first, CONFIG])))


def test_g03_a_configuration_of_the_charts_own_needs_no_order() -> None:
    own = operator(devicePlugin={"config": {"create": True, "name": "sharing-1"}})
    assert passes(judge("SOFT001", CONFIG, own))
    assert passes(judge("SOFT001", CLASS, CONFIG, plugin(CLASS, config={"name": ""})))


def test_g03_a_configuration_whose_name_is_computed_comes_before() -> None:
    computed = dataclasses.replace(
        plugin(CLASS, config={"name": UNKNOWN}), property_dependencies={"values": frozenset({CONFIG.urn})}
    )
    assert passes(judge("SOFT001", CLASS, CONFIG, computed))


def test_g03_a_configuration_that_is_elsewhere_is_left_open() -> None:
    assert left_open(judge("SOFT001", CLASS, plugin(CLASS, config={"name": "other"}))) == ["values.config.name"]


def test_what_is_set_by_a_serving_runtime_is_judged_there() -> None:
    model = {"modelFormat": {"name": "huggingface"}, "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    service = examples.resource(
        "kubernetes:serving.kserve.io/v1beta1:InferenceService", "llm", {"spec": {"predictor": {"model": model}}}
    )
    assert not_concerned(judge("SOFT001", service))
    assert passes(judge("SOFT001", CLASS, service))
    patch = dataclasses.replace(pod(runtime_class=None), type="kubernetes:apps/v1:DeploymentPatch")
    assert not_concerned(judge("SOFT001", changed(patch, "spec.template.spec.runtimeClassName", None)))
    assert left_open(judge("SOFT001", unknown(pod(), "spec.template.spec"))) == ["spec.template.spec"]
    named = changed(service, "spec.predictor.runtimeClassName", RUNTIME_CLASS)
    assert left_open(judge("SOFT001", named)) == ["runtimeClassName"]


def test_manifests_have_no_order_and_a_cluster_that_may_hold_the_class() -> None:
    for resources, open_ in (((CLASS, pod()), []), ((pod(),), [Undecided])):
        stack = Stack(resources, Options(manifests_only=True))
        assert [type(outcome) for outcome in BY_ID["SOFT001"].check(stack.whole, stack)] == open_


def test_an_unknown_class_is_left_open() -> None:
    template = {"spec": {"containers": [examples.container()], "runtimeClassName": UNKNOWN}}
    jobs = {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": template}}}]}
    job_set = examples.resource("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", "train", {"spec": jobs})
    assert left_open(judge("SOFT001", CLASS, job_set)) == [
        "spec.replicatedJobs[0].template.spec.template.spec.runtimeClassName"
    ]
    assert left_open(judge("SOFT001", CLASS, pod(runtime_class=UNKNOWN))) == ["spec.template.spec.runtimeClassName"]
    assert left_open(judge("SOFT001", CLASS, unknown(plugin(CLASS), "chart"))) == ["chart"]


def test_a_stack_without_any_of_it_is_not_concerned() -> None:
    assert not_concerned(judge("SOFT001", examples.node_group(), examples.release("dns", "external-dns", "1.19.0")))
