"""SHARE003: a share has memory enough."""

from __future__ import annotations

import pytest

from eks_gpu.facts import declarations, labels, resources
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

WHOLE = "version: v1\n"


def shared(replicas: int, way: str = "timeSlicing") -> str:
    return f"version: v1\nsharing:\n  {way}:\n    resources: [{{name: {resources.GPU}, replicas: {replicas}}}]\n"


def plugin(files: object, **more: object) -> Resource:
    values = {"config": {"map": files, **more}, "gfd": {"enabled": True}}
    return examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=values)


def pool(*kinds: str, name: str = "gpus", config: str | None = None) -> Resource:
    own = {} if config is None else {labels.DEVICE_PLUGIN_CONFIG: config}
    return changed(examples.node_pool(name, types=kinds or ("g4dn.xlarge",)), "spec.template.metadata.labels", own)


def server(**annotations: str) -> Resource:
    plain = examples.deployment(examples.container(args=["--model", "x/tiny"]))
    return changed(plain, "spec.template.metadata.annotations", annotations)


def test_g03_ten_shares_of_a_t4_are_too_small() -> None:
    message = complaint(judge("SHARE003", plugin({"default": shared(10)}), pool()))
    assert message == "makes 10 shares of each t4 with 16384 MiB: 1638 MiB a share, less than 4096 MiB"


@pytest.mark.parametrize(("replicas", "enough"), [(4, True), (5, False)])
def test_g03_four_gib_is_enough(replicas: int, enough: bool) -> None:
    assert passes(judge("SHARE003", plugin({"default": shared(replicas)}), pool())) is enough


def test_g03_the_least_share_can_be_said_otherwise() -> None:
    assert passes(judge("SHARE003", plugin({"default": shared(10)}), pool(), options={"smallestShareMib": 1600}))


def test_g03_the_smallest_gpu_of_a_pool_counts() -> None:
    both = pool("g4dn.xlarge", "g5.xlarge")
    assert "of each t4 with 16384 MiB: 3276 MiB a share" in complaint(judge("SHARE003", plugin({"a": shared(5)}), both))
    assert passes(judge("SHARE003", plugin({"a": shared(5)}), pool("g5.xlarge")))


def test_g04_the_largest_declared_model_must_fit_a_share() -> None:
    needing = server(**{declarations.GPU_MEMORY_GIB: "12"})
    message = complaint(judge("SHARE003", plugin({"a": shared(2)}), pool(), needing))
    assert message.endswith("8192 MiB a share, and llm declares or names a model of 12288 MiB")
    assert passes(judge("SHARE003", plugin({"a": shared(2)}), pool(), server(**{declarations.GPU_MEMORY_GIB: "8"})))
    heavy = server(**{declarations.MODEL_BYTES: "9Gi"})
    assert "a model of 9216 MiB" in complaint(judge("SHARE003", plugin({"a": shared(2)}), pool(), heavy))


def test_g04_a_model_that_its_name_tells_must_fit_too() -> None:
    named = examples.deployment(examples.container(args=["--model", "mistralai/Mistral-7B-Instruct-v0.3"]))
    assert "llm declares or names a model of" in complaint(judge("SHARE003", plugin({"a": shared(2)}), pool(), named))


def test_g03_mps_for_every_node_fails_where_pools_are_not_alike() -> None:
    two = (pool("g6e.xlarge"), pool("g5.xlarge", name="other"))
    report = judge("SHARE003", plugin({"default": shared(2, "mps")}), *two)
    assert set(messages(report)) == {"gpus", "other"}
    assert {finding.level for finding in report.findings} == {Level.MANDATORY}
    assert (
        "shares its GPUs by mps because that is the default of every node (default of plugin)"
        in messages(report)["gpus"][0]
    )


def test_g03_mps_for_every_node_is_advice_where_one_pool_is_all() -> None:
    (finding,) = judge("SHARE003", plugin({"default": shared(2, "mps")}), pool("g6e.xlarge")).findings
    assert finding.level is Level.ADVISORY
    other = pool("g5.xlarge", name="other", config="whole")
    report = judge("SHARE003", plugin({"default": shared(2, "mps"), "whole": WHOLE}), pool("g6e.xlarge"), other)
    assert [item.level for item in report.findings] == [Level.ADVISORY]


def test_g03_mps_by_a_pools_label_passes() -> None:
    files = {"default": WHOLE, "shared": shared(2, "mps")}
    assert passes(
        judge("SHARE003", plugin(files), pool("g6e.xlarge", config="shared"), pool("g5.xlarge", name="other"))
    )


def test_g03_a_peer_shares_every_gpu_by_ten() -> None:
    report = judge("SHARE003", plugin({"default": shared(10, "mps")}), pool(), pool("g5.xlarge", name="a10g"))
    assert len(messages(report)["gpus"]) == 2
    assert len(messages(report)["a10g"]) == 2


def test_it_is_advice_outside_production() -> None:
    for environment in (Environment.DEV, Environment.STAGING):
        (finding,) = judge("SHARE003", plugin({"a": shared(10)}), pool(), environment=environment).findings
        assert finding.level is Level.ADVISORY


def test_the_operators_shares_count_too() -> None:
    values = {"devicePlugin": {"config": {"data": {"any": shared(10)}, "default": "any"}}}
    operator = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    assert "1638 MiB a share" in complaint(judge("SHARE003", operator, pool()))


def test_g03_shares_of_bottlerockets_own_plugin_count_without_a_release() -> None:
    def rocket(data: object) -> Resource:
        return examples.node_class("gpus", amiSelectorTerms=[{"alias": "bottlerocket@v1.50.0"}], userData=data)

    plugins = "settings.kubelet-device-plugins.nvidia"
    ten = f'[{plugins}]\ndevice-sharing-strategy = "mps"\n[{plugins}.mps]\nreplicas = 10\n'
    assert "1638 MiB a share" in complaint(judge("SHARE003", rocket(ten), pool()))
    assert passes(judge("SHARE003", rocket(ten.replace("10", "4")), pool()))
    assert not_concerned(judge("SHARE003", rocket(ten.replace("10", "1")), pool()))
    assert not_concerned(judge("SHARE003", rocket(f"[{plugins}]\nenabled = false\n"), pool()))
    assert left_open(judge("SHARE003", rocket(UNKNOWN), pool())) == ["spec.userData"]


def test_whole_gpus_and_pools_without_a_plugin_are_not_concerned() -> None:
    assert not_concerned(judge("SHARE003", plugin({"a": WHOLE}), pool()))
    assert not_concerned(judge("SHARE003", pool()))
    assert judge("SHARE003", pool()).not_evaluated == ()


def test_a_release_of_an_unknown_chart_is_left_open() -> None:
    unnamed = changed(plugin({"a": shared(10)}), "chart", UNKNOWN)
    assert left_open(judge("SHARE003", unnamed, pool())) == ["chart"]
    other = examples.release("dns", "external-dns", "1.19.0")
    assert not_concerned(judge("SHARE003", other, pool()))


def test_pools_of_gpus_that_nobody_knows_and_of_none_are_no_mistake() -> None:
    assert passes(judge("SHARE003", plugin({"a": shared(10)}), pool("g99.xlarge")))
    assert not_concerned(judge("SHARE003", plugin({"a": shared(10)}), pool("m6i.large")))


def test_an_unknown_configuration_is_left_open() -> None:
    assert left_open(judge("SHARE003", plugin({"a": UNKNOWN}), pool())) == ["values.config.map.a"]
    assert left_open(
        judge("SHARE003", plugin({"a": shared(10)}), changed(pool(), "spec.template.metadata.labels", UNKNOWN))
    )
