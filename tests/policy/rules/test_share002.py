"""SHARE002: production does not time-slice."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes

SLICED = f"version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: {resources.GPU}\n      replicas: 4\n"
WHOLE = "version: v1\n"
CONFIG = examples.resource(
    tokens.CONFIG_MAP, "sharing", {"metadata": {"name": "sharing-1"}, "data": {"default": SLICED}}
)


def plugin(**config: object) -> Resource:
    return examples.release(
        "plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values={"config": config}
    )


def operator(**config: object) -> Resource:
    values = {"devicePlugin": {"config": config}}
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


def pool(workload: str | None = "inference", config: str | None = None, kind: str = "g5.xlarge") -> Resource:
    own = {labels.WORKLOAD: workload, labels.DEVICE_PLUGIN_CONFIG: config}
    said = {key: value for key, value in own.items() if value is not None}
    return changed(examples.node_pool(types=(kind,)), "spec.template.metadata.labels", said)


def test_g04_time_slicing_for_inference_fails_and_says_what_to_do_instead() -> None:
    message = complaint(judge("SHARE002", plugin(map={"default": SLICED}), pool()))
    assert "time-slices the GPUs of g5 (4 pods on one nvidia.com/gpu), which serves inference" in message
    assert message.endswith("its GPUs have no MIG: give each server a whole one, or a limited share by MPS")
    message = complaint(judge("SHARE002", plugin(map={"default": SLICED}), pool(kind="p4d.24xlarge")))
    assert message.endswith("its GPUs can be partitioned by MIG instead")


@pytest.mark.parametrize("workload", ["training", "development"])
def test_g04_a_pool_for_something_else_may_time_slice(workload: str) -> None:
    assert passes(judge("SHARE002", plugin(map={"default": SLICED}), pool(workload)))


def test_g04_a_pool_that_names_no_workload_may_serve() -> None:
    message = complaint(judge("SHARE002", plugin(map={"default": SLICED}), pool(None)))
    assert "nothing says that it does not serve" in message
    assert "label workload (development, training)" in message


def test_g04_a_pool_on_which_only_other_work_lands_needs_no_label_to_say_so() -> None:
    notebook = examples.resource(
        "kubernetes:core/v1:Pod", "notebook", {"spec": {"containers": [examples.container(image="jupyter/x:1")]}}
    )
    assert passes(judge("SHARE002", plugin(map={"default": SLICED}), pool(None), notebook))
    both = judge("SHARE002", plugin(map={"default": SLICED}), pool(None), notebook, examples.deployment())
    assert "on which llm may serve" in complaint(both)


def test_g04_a_pool_on_which_a_server_may_land_serves() -> None:
    report = judge("SHARE002", plugin(map={"default": SLICED}), pool("development"), examples.deployment())
    assert "on which llm may serve" in complaint(report)
    elsewhere = examples.deployment(nodeSelector={labels.WORKLOAD: "inference"})
    assert passes(judge("SHARE002", plugin(map={"default": SLICED}), pool("development"), elsewhere))


def test_g04_a_name_without_its_vendor_is_the_same_resource() -> None:
    short = SLICED.replace(resources.GPU, "gpu")
    message = complaint(judge("SHARE002", plugin(map={"default": short}), pool()))
    assert f"4 pods on one {resources.GPU}" in message


def test_g04_whole_gpus_pass() -> None:
    assert passes(judge("SHARE002", plugin(map={"default": WHOLE}), pool()))
    assert passes(judge("SHARE002", plugin(), pool()))


def test_g03_a_pool_gets_the_configuration_that_its_label_names() -> None:
    both = plugin(map={"default": WHOLE, "sliced": SLICED})
    assert passes(judge("SHARE002", both, pool()))
    assert "time-slices" in complaint(judge("SHARE002", both, pool(config="sliced")))


def test_g03_the_only_configuration_of_the_plugin_is_its_default() -> None:
    assert "time-slices" in complaint(judge("SHARE002", plugin(map={"mine": SLICED}), pool()))


def test_g03_the_operator_gives_no_configuration_without_a_default() -> None:
    assert passes(judge("SHARE002", operator(data={"mine": SLICED}), pool()))
    assert "time-slices" in complaint(judge("SHARE002", operator(data={"mine": SLICED}, default="mine"), pool()))


@pytest.mark.parametrize("release", [plugin(name="sharing-1"), operator(name="sharing-1", default="default")])
def test_g03_a_config_map_is_read_like_values(release: Resource) -> None:
    assert "time-slices" in complaint(judge("SHARE002", CONFIG, release, pool()))


def test_g03_a_config_map_is_found_by_what_the_values_were_computed_from() -> None:
    release = examples.resource(
        tokens.HELM_RELEASE,
        "plugin",
        {"chart": NVIDIA_DEVICE_PLUGIN.name, "values": {"config": {"name": UNKNOWN}}},
        values=(CONFIG,),
    )
    assert "time-slices" in complaint(judge("SHARE002", CONFIG, release, pool()))


@pytest.mark.parametrize(
    ("way", "workload", "fails"),
    [("time-slicing", "inference", True), ("time-slicing", "development", False), ("mps", "inference", False)],
)
def test_g04_bottlerockets_own_settings_time_slice_too(way: str, workload: str, fails: bool) -> None:
    plugins = "settings.kubelet-device-plugins.nvidia"
    data = f'[{plugins}]\ndevice-sharing-strategy = "{way}"\n[{plugins}.{way}]\nreplicas = 4\n'
    nodes = examples.node_class("g5", amiSelectorTerms=[{"alias": "bottlerocket@v1.50.0"}], userData=data)
    report = judge("SHARE002", nodes, pool(workload))
    if fails:
        assert complaint(report).startswith(f"time-slices the GPUs of g5 (4 pods on one {resources.GPU}), which serves")
    else:
        assert not report.findings
    assert left_open(judge("SHARE002", changed(nodes, "spec.userData", UNKNOWN), pool(workload))) == ["spec.userData"]


def test_g04_a_configuration_that_nobody_in_the_stack_reads_is_left_open() -> None:
    assert left_open(judge("SHARE002", CONFIG, pool())) == ["data"]
    assert not_concerned(judge("SHARE002", changed(CONFIG, "data.default", WHOLE), pool()))
    assert not_concerned(judge("SHARE002", changed(CONFIG, "data.default", SLICED.replace("timeSlicing", "mps"))))


def test_g04_time_sliced_slices_have_an_answer_of_their_own() -> None:
    sliced = SLICED.replace(resources.GPU, resources.mig("1g.5gb"))
    message = complaint(judge("SHARE002", plugin(map={"default": sliced}), pool(kind="p4d.24xlarge")))
    assert message.endswith("which serves inference; give each server a slice of its own")


def test_files_of_values_leave_open_what_is_not_said_beside_them() -> None:
    by_file = changed(plugin(), "valueYamlFiles", ["values.yaml"])
    assert left_open(judge("SHARE002", by_file, pool())) == ["values.config.map"]
    assert passes(judge("SHARE002", changed(plugin(), "valueYamlFiles", []), pool()))
    beside = changed(plugin(map={"default": SLICED}, default="default", name=""), "valueYamlFiles", ["values.yaml"])
    assert "time-slices" in complaint(judge("SHARE002", beside, pool()))


def test_it_is_off_in_dev_and_advice_in_staging() -> None:
    program = (plugin(map={"default": SLICED}), pool())
    assert not judge("SHARE002", *program, environment=Environment.DEV).rules
    assert judge("SHARE002", *program, environment=Environment.STAGING).findings[0].level is Level.ADVISORY


def test_time_slicing_without_a_pool_to_reach_is_left_open() -> None:
    assert left_open(judge("SHARE002", plugin(map={"default": SLICED}))) == ["GPU pools"]


def test_a_config_map_elsewhere_is_left_open() -> None:
    assert left_open(judge("SHARE002", plugin(name="other"), pool())) == ["values.config.name"]


def test_an_unknown_file_is_left_open() -> None:
    assert left_open(judge("SHARE002", plugin(map={"default": UNKNOWN}), pool())) == ["values.config.map.default"]


def test_a_file_that_is_no_yaml_says_nothing() -> None:
    assert passes(judge("SHARE002", plugin(map={"default": "sharing: ["}), pool()))


def test_other_charts_are_not_concerned() -> None:
    assert not_concerned(judge("SHARE002", examples.release("dns", "external-dns", "1.19.0"), pool()))
