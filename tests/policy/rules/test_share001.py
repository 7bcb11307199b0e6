"""SHARE001: the sharing configuration says what it means."""

from __future__ import annotations

import pytest

from eks_gpu.facts import discovery, labels, mig, resources
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

TEMPLATE_CLASS = "spec.template.spec.nodeClassRef.name"
WHOLE = "version: v1\n"
MPS = "version: v1\nsharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"


def sliced(replicas: object = 4, more: str = "", head: str = "version: v1\n") -> str:
    entry = f"{{name: nvidia.com/gpu, replicas: {replicas}}}"
    return f"{head}sharing:\n  timeSlicing:\n    resources: [{entry}]\n{more}"


def plugin(files: object = None, /, **values: object) -> Resource:
    config = {"config": {"map": files}} if files is not None else {}
    return examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=config | values)


def operator(files: object = None, default: str | None = None, /, **values: object) -> Resource:
    config = {"data": files} | ({} if default is None else {"default": default})
    both = {"devicePlugin": {"config": config}} | values
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=both)


def pool(name: str = "g5", /, kind: str = "g5.xlarge", **own: str) -> Resource:
    spelled = {"config": labels.DEVICE_PLUGIN_CONFIG, "layout": labels.MIG_CONFIG, "mps": discovery.MPS_CAPABLE}
    said = {spelled[key]: value for key, value in own.items()}
    return changed(examples.node_pool(name, types=(kind,)), "spec.template.metadata.labels", said)


def config_map(*files: object) -> Resource:
    data = {f"file{number}": text for number, text in enumerate(files)}
    return examples.resource(tokens.CONFIG_MAP, "sharing", {"metadata": {"name": "sharing"}, "data": data})


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("version: v1\nshareing: {}\n", "shareing", "flags, imex, sharing, version"),
        ("version: v1\nsharing: {timeslicing: {}}\n", "sharing.timeslicing", "mps, timeSlicing"),
        (
            "version: v1\nsharing: {timeSlicing: {renameByDefalt: true}}\n",
            "sharing.timeSlicing.renameByDefalt",
            "rename",
        ),
        (sliced(more="  mig: {}\n"), "sharing.mig", "mps, timeSlicing"),
        (
            "version: v1\nflags: {plugin: {deviceListStrategies: envvar}}\n",
            "flags.plugin.deviceListStrategies",
            "device",
        ),
        (
            "version: v1\nsharing: {mps: {resources: [{name: nvidia.com/gpu, replica: 2, replicas: 2}]}}\n",
            "sharing.mps.resources.replica",
            "devices, name, rename, replicas",
        ),
    ],
)
def test_g03_an_unknown_key_fails_with_those_that_are_allowed(text: str, key: str, allowed: str) -> None:
    message = complaint(judge("SHARE001", config_map(text, sliced())))
    assert f"has the key {key}, which is not known and ignored; allowed here: " in message
    assert allowed in message


def test_g03_resources_at_the_top_are_ignored() -> None:
    text = "version: v1\nresources: {gpus: [{pattern: '*', name: nvidia.com/gpu}]}\n"
    assert "has the key resources, which is not supported and ignored" in complaint(
        judge("SHARE001", plugin({"a": text}))
    )


def test_g03_another_version_fails_and_none_is_advice() -> None:
    assert "has version v2" in complaint(judge("SHARE001", plugin({"a": sliced(head="version: v2\n")})))
    (finding,) = judge("SHARE001", plugin({"a": sliced(head="")})).findings
    assert (finding.level, "does not say version: v1" in finding.message) == (Level.ADVISORY, True)


@pytest.mark.parametrize("replicas", [1, 0, -2, "many", "null", "'4'"])
def test_g03_less_than_two_replicas_fail(replicas: object) -> None:
    message = complaint(judge("SHARE001", plugin({"a": sliced(replicas)})))
    assert message.startswith("the configuration a shares nvidia.com/gpu by timeSlicing")
    assert "the plugin starts with 2 or more only" in message or "the plugin does not start" in message


def test_g03_two_replicas_pass() -> None:
    assert passes(judge("SHARE001", plugin({"a": sliced(2)}), pool()))


def test_g03_both_ways_at_once_fail() -> None:
    both = "version: v1\nsharing:\n" + "".join(
        f"  {way}: {{resources: [{{name: nvidia.com/gpu, replicas: 2}}]}}\n" for way in ("timeSlicing", "mps")
    )
    assert "timeSlicing beside mps" in complaint(judge("SHARE001", plugin({"a": both}, gfd={"enabled": True}), pool()))


@pytest.mark.parametrize("text", ["sharing: [", "just words", "- a\n- b\n"])
def test_g03_a_file_that_is_no_mapping_fails(text: str) -> None:
    assert "is no YAML mapping" in complaint(judge("SHARE001", plugin({"a": text})))


def test_g03_mps_without_discovery_fails_and_with_it_passes() -> None:
    assert "GPU feature discovery is off" in complaint(judge("SHARE001", plugin({"a": MPS}), pool()))
    assert passes(judge("SHARE001", plugin({"a": MPS}, gfd={"enabled": True}), pool()))
    assert passes(judge("SHARE001", plugin({"a": MPS}), examples.release("gfd", "gpu-feature-discovery", "0.20.0")))
    assert passes(judge("SHARE001", plugin({"a": MPS}), pool(mps="true")))
    assert passes(judge("SHARE001", operator({"a": MPS}, "a"), pool()))
    off = operator({"a": MPS}, "a", gfd={"enabled": False})
    assert "GPU feature discovery is off" in complaint(judge("SHARE001", off, pool()))


def test_g03_mps_without_discovery_fails_wherever_the_pools_are() -> None:
    assert "feature discovery is off" in complaint(judge("SHARE001", plugin({"default": MPS})))
    both = (pool(mps="true"), pool("other"))
    assert "feature discovery is off" in complaint(judge("SHARE001", plugin({"default": MPS}), *both))


def test_g03_mps_beside_mixed_partitions_fails() -> None:
    mixed = {"mig": {"strategy": mig.MIXED}}
    assert "refuses beside MIG strategy mixed" in complaint(
        judge("SHARE001", operator({"a": MPS}, "a", **mixed), pool())
    )
    chart = plugin({"a": MPS}, gfd={"enabled": True}, migStrategy=mig.MIXED)
    assert "refuses beside" in complaint(judge("SHARE001", chart, pool()))
    flagged = plugin({"a": f"{MPS}flags: {{migStrategy: mixed}}\n"}, gfd={"enabled": True})
    assert "refuses beside" in complaint(judge("SHARE001", flagged, pool()))


def test_g03_several_configurations_without_a_default_fail() -> None:
    files = {"a": WHOLE, "b": sliced()}
    message = complaint(judge("SHARE001", plugin(files), pool()))
    assert message.startswith("names the configurations a, b and no default: nodes without the label")
    assert "the plugin does not start there" in message
    assert passes(judge("SHARE001", plugin(files), pool(config="b")))
    assert passes(judge("SHARE001", plugin({"default": WHOLE, "b": sliced()}), pool()))
    assert passes(judge("SHARE001", plugin(config={"map": files, "default": "a"}), pool()))


def test_g03_several_configurations_without_a_default_fail_wherever_the_pools_are() -> None:
    assert "no default" in complaint(judge("SHARE001", plugin({"a": sliced(), "b": sliced(2)})))


def test_g03_the_operator_takes_no_configuration_by_itself() -> None:
    message = complaint(judge("SHARE001", operator({"any": sliced()}), pool()))
    assert message.endswith("get an empty one: whole GPUs")
    assert passes(judge("SHARE001", operator({"any": sliced()}, "any"), pool()))
    assert passes(judge("SHARE001", operator({"any": sliced()}), pool(config="any")))
    some = judge("SHARE001", operator({"a": sliced(), "b": sliced(2)}), pool("one", config="a"), pool("two"))
    assert [finding.level for finding in some.findings] == [Level.ADVISORY]


def test_g03_a_default_that_is_not_there_fails() -> None:
    message = complaint(judge("SHARE001", operator({"any": sliced()}, "all"), pool()))
    assert message == "makes all the default, which is none of its configurations: any"


def test_g03_a_pool_that_names_no_configuration_of_these_fails() -> None:
    report = judge("SHARE001", plugin({"default": WHOLE, "slices": sliced()}), pool(config="slice"))
    assert list(messages(report)) == ["g5"]
    assert "which is not among default, slices: the plugin does not start there" in complaint(report)


@pytest.mark.parametrize("release", [plugin(), operator()])
def test_g03_a_pool_that_names_a_configuration_of_a_plugin_without_any_fails(release: Resource) -> None:
    report = judge("SHARE001", release, pool(config="slices"), pool("other"))
    assert list(messages(report)) == ["g5"]
    assert complaint(report).startswith("names the configuration slices by its label")
    assert complaint(report).endswith("the label does nothing, and its GPUs stay whole")
    assert len(judge("SHARE001", release, plugin(nothing=1), pool(config="slices")).findings) == 1
    assert passes(judge("SHARE001", release, plugin({"default": WHOLE, "slices": sliced()}), pool(config="slices")))
    told = examples.resource(tokens.CLUSTER_POLICY, "policy", {"spec": {"devicePlugin": {"config": {"name": "x"}}}})
    assert passes(judge("SHARE001", release, told, pool(config="slices")))
    elsewhere = plugin(config={"name": "elsewhere"})
    assert left_open(judge("SHARE001", release, elsewhere, pool(config="slices"))) == ["values.config.name"]


def test_g03_the_operators_strategy_wins_over_a_flag() -> None:
    flagged = sliced(more="flags: {migStrategy: mixed}\n")
    message = complaint(judge("SHARE001", operator({"any": flagged}, "any"), pool()))
    assert (
        message == "the configuration any says flags.migStrategy: mixed, but the operator's mig.strategy (single) wins"
    )
    assert passes(judge("SHARE001", operator({"any": flagged}, "any", mig={"strategy": "mixed"}), pool()))
    assert passes(judge("SHARE001", plugin({"any": flagged}), pool()))
    assert passes(judge("SHARE001", plugin({"any": flagged}, migStrategy="single"), pool()))


def test_g03_no_strategy_is_a_mistake_only_where_there_are_partitions() -> None:
    flagged = sliced(more="flags: {migStrategy: none}\n")
    assert passes(judge("SHARE001", operator({"any": flagged}, "any"), pool()))
    parts = pool(kind="p4d.24xlarge", layout="all-1g.5gb")
    assert "migStrategy: none" in complaint(judge("SHARE001", operator({"any": flagged}, "any"), parts))


@pytest.mark.parametrize(("rename", "resource"), [("false", resources.GPU), ("true", resources.GPU_SHARED)])
def test_g03_two_shares_are_not_twice_as_much(rename: str, resource: str) -> None:
    release = plugin({"a": sliced(more=f"    renameByDefault: {rename}\n")})
    asking = examples.deployment(examples.container(resources={"limits": {resource: "2"}}))
    tolerant = changed(asking, "spec.template.spec.tolerations", [{"key": resources.GPU, "operator": "Exists"}])
    report = judge("SHARE001", release, pool(kind="g5.12xlarge"), tolerant)
    assert complaint(report).startswith(f"asks 2 {resource}, of which g5 makes several of one GPU")
    assert passes(judge("SHARE001", release, pool(kind="g5.12xlarge"), examples.deployment()))


def test_g03_two_shares_of_bottlerockets_own_plugin_are_not_twice_as_much() -> None:
    plugins = "settings.kubelet-device-plugins.nvidia"
    data = f'[{plugins}]\ndevice-sharing-strategy = "time-slicing"\n[{plugins}.time-slicing]\nreplicas = 4\n'
    nodes = examples.node_class("g5", amiSelectorTerms=[{"alias": "bottlerocket@v1.50.0"}], userData=data)
    both = (nodes, pool(kind="g5.12xlarge"), changed(pool("other", kind="g5.12xlarge"), TEMPLATE_CLASS, "g5"))
    two = examples.deployment(examples.container(resources={"limits": {resources.GPU: "2"}}))
    report = judge("SHARE001", *both, two)
    assert list(messages(report)) == ["llm"]
    assert complaint(report).startswith("asks 2 nvidia.com/gpu, of which g5 makes several")
    assert passes(judge("SHARE001", *both, examples.deployment()))
    whole = changed(nodes, "spec.userData", data.replace("4", "1"))
    assert not_concerned(judge("SHARE001", whole, *both[1:], two))
    assert not_concerned(judge("SHARE001", nodes, pool(kind="m6i.large"), two))
    assert left_open(judge("SHARE001", changed(nodes, "spec.userData", UNKNOWN), *both[1:2], two)) == ["spec.userData"]


def test_g03_a_pod_that_lands_nowhere_here_is_another_rules() -> None:
    two = examples.deployment(examples.container(resources={"limits": {resources.GPU: "2"}}))
    assert passes(judge("SHARE001", plugin({"a": sliced()}), two))
    elsewhere = changed(two, "spec.template.spec.nodeSelector", {"team": "x"})
    assert passes(judge("SHARE001", plugin({"a": sliced()}), pool(kind="g5.12xlarge"), elsewhere))


def test_g03_a_pod_that_may_also_have_whole_gpus_passes() -> None:
    asking = examples.deployment(examples.container(resources={"limits": {resources.GPU: "2"}}))
    pools = (pool(kind="g5.12xlarge", config="slices"), pool("whole", kind="g6.12xlarge"))
    assert passes(judge("SHARE001", plugin({"default": WHOLE, "slices": sliced()}), *pools, asking))


def test_a_config_map_that_a_release_reads_is_judged_whatever_it_says() -> None:
    typo = examples.resource(
        tokens.CONFIG_MAP, "sharing", {"metadata": {"name": "sharing"}, "data": {"default": "version: v1\nflag: {}\n"}}
    )
    report = judge("SHARE001", typo, plugin(config={"name": "sharing"}), pool())
    assert list(messages(report)) == ["sharing"]
    assert "has the key flag" in complaint(report)


def test_unset_and_unknown() -> None:
    assert passes(judge("SHARE001", plugin(), pool()))
    assert left_open(judge("SHARE001", plugin({"a": UNKNOWN}), pool())) == ["values.config.map.a"]
    assert left_open(judge("SHARE001", plugin(config={"name": UNKNOWN}), pool())) == ["values.config.name"]
    assert left_open(judge("SHARE001", changed(plugin({"a": WHOLE}), "chart", UNKNOWN))) == ["chart"]
    unlabelled = changed(pool(), "spec.template.metadata.labels", UNKNOWN)
    assert left_open(judge("SHARE001", plugin({"a": WHOLE, "b": WHOLE}), unlabelled)) == [
        "spec.template.metadata.labels"
    ]


def test_other_charts_and_config_maps_are_not_concerned() -> None:
    settings = examples.resource(tokens.CONFIG_MAP, "app", {"data": {"app.yaml": "sharing: {mps: 1}", "n": UNKNOWN}})
    assert not_concerned(judge("SHARE001", settings))
    assert not_concerned(judge("SHARE001", settings, examples.deployment()))


def test_public_examples_pass() -> None:
    """The operator's, the plugin's and MPS's documentation."""
    cluster_wide = sliced(more="flags:\n  migStrategy: none\n")
    assert passes(judge("SHARE001", config_map(cluster_wide)))
    many = "version: v1\nflags:\n  migStrategy: mixed\nsharing:\n  timeSlicing:\n    resources:\n" + "".join(
        f"    - name: {name}\n      replicas: {count}\n"
        for name, count in ((resources.GPU, 8), (resources.mig("1g.5gb"), 2), (resources.mig("7g.40gb"), 4))
    )
    assert passes(judge("SHARE001", config_map(cluster_wide, many)))
    renamed = sliced(10, more="    renameByDefault: true\n    failRequestsGreaterThanOne: true\n")
    assert passes(judge("SHARE001", plugin({"config": renamed}), pool()))
    flags = (
        "version: v1\nflags:\n  migStrategy: none\n  failOnInitError: true\n  nvidiaDriverRoot: /\n"
        "  plugin:\n    passDeviceSpecs: false\n    deviceListStrategy: envvar\n    deviceIDStrategy: uuid\n"
    )
    assert passes(judge("SHARE001", plugin({"config": flags}), pool()))
    ten = "version: v1\nsharing:\n  mps:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 10\n"
    assert passes(judge("SHARE001", plugin({"config": ten}, gfd={"enabled": True}), pool()))
