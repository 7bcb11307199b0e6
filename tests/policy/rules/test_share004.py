"""SHARE004: MIG layouts exist on the GPU."""

from __future__ import annotations

import base64

import pytest

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

CUSTOM = """
version: v1
mig-configs:
  all-disabled: [{devices: all, mig-enabled: false}]
  team: [{devices: [0, 1], mig-enabled: true, mig-devices: {1g.5gb: 2, 2g.10gb: 1, 3g.20gb: 1}}]
  half: [{devices: all, mig-enabled: true, mig-devices: {"1g.5gb+me": 1, 3g.20gb: 1}}]
"""


def operator(strategy: str | None = mig.MIXED, /, **config: object) -> Resource:
    values: dict[str, object] = {"migManager": {"config": config}} if config else {}
    if strategy is not None:
        values["mig"] = {"strategy": strategy}
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


def pool(layout: str | None, kind: str = "p4d.24xlarge", **props: object) -> Resource:
    own = {} if layout is None else {labels.MIG_CONFIG: layout}
    return examples.node_group(None, "mig", instanceTypes=[kind], labels=own, **props)


def file(text: str = CUSTOM, **config: object) -> Resource:
    return operator(mig.MIXED, data={"config.yaml": text}, name="layouts", **config)


def test_g04_a_gpu_without_mig_cannot_be_partitioned() -> None:
    message = complaint(judge("SHARE004", operator(), pool("all-1g.5gb", "g5.xlarge")))
    assert message == "names the MIG layout all-1g.5gb, but the a10g of g5.xlarge has no MIG"


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        ("all-1g.5gb", "p4d.24xlarge"),
        ("all-1g.5gb.me", "p4d.24xlarge"),
        ("all-balanced", "p4d.24xlarge"),
        ("all-enabled", "p4d.24xlarge"),
        ("all-4g.40gb", "p4de.24xlarge"),
        ("all-1g.18gb", "p5en.48xlarge"),
        ("all-1g.23gb", "p6-b200.48xlarge"),
        ("all-2g.48gb", "g7e.2xlarge"),
        ("all-1g.24gb.gfx", "g7e.2xlarge"),
    ],
)
def test_g04_the_names_of_the_mig_manager_pass(layout: str, kind: str) -> None:
    assert passes(judge("SHARE004", operator(), pool(layout, kind)))


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        ("all-4g.40gb", "p4d.24xlarge"),
        ("all-1g.5gb", "p4de.24xlarge"),
        ("all-1g.20gb", "p5en.48xlarge"),
        ("all-7g.80gb", "g7e.2xlarge"),
        ("some-slices", "p4d.24xlarge"),
    ],
)
def test_g04_names_of_other_models_and_of_nobody_fail(layout: str, kind: str) -> None:
    message = complaint(judge("SHARE004", operator(), pool(layout, kind)))
    assert f"names the MIG layout {layout}, which the" in message
    assert "it has all-disabled, all-1g." in message


def test_g04_a_pool_of_several_models_fails_for_the_one_that_has_it_not() -> None:
    both = examples.node_group(
        None,
        "mig",
        instanceTypes=["p4d.24xlarge", "p4de.24xlarge"],
        labels={labels.MIG_CONFIG: "all-1g.5gb"},
    )
    assert "of p4de.24xlarge has not" in complaint(judge("SHARE004", operator(), both))


@pytest.mark.parametrize("strategy", [mig.SINGLE, None])
def test_g04_single_with_unlike_profiles_fails(strategy: str | None) -> None:
    message = complaint(judge("SHARE004", operator(strategy), pool("all-balanced")))
    assert message.startswith("names the MIG layout all-balanced with 3 profiles, but strategy single")
    assert passes(judge("SHARE004", operator(strategy), pool("all-1g.5gb")))


def test_g04_a_file_of_ones_own_says_which_layouts_there_are() -> None:
    assert passes(judge("SHARE004", file(), pool("team")))
    assert passes(judge("SHARE004", file(), pool("half")))
    message = complaint(judge("SHARE004", file(), pool("all-1g.5gb")))
    assert message.endswith("does not have for the a100 of p4d.24xlarge; it has all-disabled, team, half")
    assert "cannot hold: there is no profile 1g.5gb" in complaint(
        judge("SHARE004", file(), pool("team", "p4de.24xlarge"))
    )


def test_g04_a_file_without_its_default_fails() -> None:
    without = CUSTOM.replace("all-disabled:", "whole:")
    assert "a file without all-disabled" in complaint(judge("SHARE004", file(without)))
    assert passes(judge("SHARE004", file(without, default="whole")))
    assert "a file without layouts" in complaint(judge("SHARE004", file("mig-configs: [")))


@pytest.mark.parametrize(
    ("devices", "reason"),
    [
        ("{3g.20gb: 3, 1g.5gb: 1}", "it needs 10 of 7 compute slices"),
        ("{1g.5gb: 8}", "it needs 8 of 7 compute slices"),
        ("{1g.10gb: 3, 3g.20gb: 1}", "it needs 10 of 8 memory slices"),
        ("{2g.48gb: 3}", "it needs 6 of 4 compute slices"),
        ("{1g.16gb: 3}", "it needs 3 of 2 compute slices"),
    ],
)
def test_g05_a_file_whose_layout_fits_no_gpu_fails(devices: str, reason: str) -> None:
    text = f"{CUSTOM}  much: [{{devices: all, mig-enabled: true, mig-devices: {devices}}}]\n"
    assert complaint(judge("SHARE004", file(text))).endswith(f"a layout that cannot be: much fits no GPU: {reason}")


def test_g04_profiles_of_gpus_that_ec2_has_not_are_nobodys_mistake() -> None:
    a30 = "{device-filter: '0x20B710DE', devices: all, mig-enabled: true, mig-devices: {1g.6gb: 4}}"
    text = f"{CUSTOM}  a30: [{a30}]\n"
    assert passes(judge("SHARE004", file(text)))


def test_g04_an_entry_for_another_model_is_not_for_this_one() -> None:
    text = CUSTOM + (
        "  each:\n"
        "  - {device-filter: ['0x20B010DE'], devices: all, mig-enabled: true, mig-devices: {1g.5gb: 7}}\n"
        "  - {device-filter: ['0x20B210DE', '0x233010DE'], devices: all, "
        "mig-enabled: true, mig-devices: {1g.10gb: 7}}\n"
    )
    for kind in ("p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge"):
        assert passes(judge("SHARE004", file(text), pool("each", kind)))
    assert "does not have for the h200" in complaint(judge("SHARE004", file(text), pool("each", "p5en.48xlarge")))


def test_g04_a_file_in_a_config_map_is_read_too_and_one_elsewhere_is_left_open() -> None:
    props = {"metadata": {"name": "layouts"}, "data": {"config.yaml": CUSTOM}}
    layouts = examples.resource(tokens.CONFIG_MAP, "layouts", props)
    assert passes(judge("SHARE004", layouts, operator(mig.MIXED, name="layouts"), pool("team")))
    assert set(left_open(judge("SHARE004", operator(mig.MIXED, name="layouts"), pool("team")))) == {
        "values.migManager.config.name"
    }


def test_g04_bottlerocket_has_one_strategy_and_auto_mode_none() -> None:
    rocket = pool("all-1g.5gb", amiType="BOTTLEROCKET_x86_64_NVIDIA", releaseVersion="1.60.0-abcdef")
    message = complaint(judge("SHARE004", operator(), rocket))
    assert message == "is Bottlerocket, which advertises partitions by strategy single only, and operator says mixed"
    auto = changed(
        examples.node_pool(types=("p4d.24xlarge",)), "spec.template.metadata.labels", {labels.MIG_CONFIG: "all-1g.5gb"}
    )
    auto = changed(auto, "spec.template.spec.nodeClassRef.group", labels.EKS_AUTO_DOMAIN)
    assert "EKS Auto Mode partitions no GPU" in complaint(judge("SHARE004", operator(), auto))


@pytest.mark.parametrize(
    ("kind", "profile", "reason"),
    [
        ("p4d.24xlarge", "1g.5gb", None),
        ("p4d.24xlarge", "7", None),
        ("p4d.24xlarge", "4g.40gb", "names 4g.40gb in Bottlerocket's settings, which the a100 of p4d.24xlarge has not"),
        ("g5.xlarge", "1g.5gb", "partitions GPUs by Bottlerocket's settings, but the a10g of g5.xlarge has no MIG"),
    ],
)
def test_g04_bottlerockets_own_settings_name_profiles_too(kind: str, profile: str, reason: str | None) -> None:
    settings = (
        '[settings.kubelet-device-plugins.nvidia]\ndevice-partitioning-strategy = "mig"\n'
        f'[settings.kubelet-device-plugins.nvidia.mig.profile]\n"a100.40gb" = "{profile}"\n'
    )
    nodes = examples.node_class("g5", amiSelectorTerms=[{"alias": "bottlerocket@v1.60.0"}], userData=settings)
    report = judge("SHARE004", nodes, examples.node_pool(types=(kind,)))
    assert passes(report) if reason is None else complaint(report).startswith(reason)


def test_g05_partitions_made_in_user_data_must_fit() -> None:
    def booted(command: str) -> Resource:
        script = base64.b64encode(f"#!/bin/bash\nnvidia-smi -mig 1\n{command}\n".encode()).decode()
        return examples.launch_template("lt", userData=script)

    def group(template: Resource) -> Resource:
        return examples.node_group(template, "mig", instanceTypes=["p4d.24xlarge"], labels={})

    template = booted("nvidia-smi mig -cgi 9,9,9,19 -C")
    assert complaint(judge("SHARE004", template, group(template))) == (
        "makes partitions by nvidia-smi mig -cgi 9,9,9,19: it needs 10 of 7 compute slices"
    )
    template = booted("nvidia-smi mig -i 0 -cgi 9,14,19,19 -C")
    assert passes(judge("SHARE004", template, group(template)))


@pytest.mark.parametrize(
    ("made", "fits"),
    [("9,9,9,19", False), ("19," * 7 + "19", False), ("9,3g.20gb", True), ("1g.5gb,1g.5gb,2g.10gb,3g.20gb", True)],
)
def test_g05_partitions_made_by_a_pod_must_fit(made: str, fits: bool) -> None:
    command = ["sh", "-c", f"nvidia-smi -mig 1 && nvidia-smi mig -cgi {made} -C"]
    box = {"name": "mig", "image": "nvidia/cuda:12.8.1-base-ubuntu24.04", "command": command}
    pod = examples.resource("kubernetes:core/v1:Pod", "mig", {"spec": {"containers": [box]}})
    report = judge("SHARE004", pod)
    assert passes(report) if fits else "compute slices" in complaint(report)


@pytest.mark.parametrize(("kind", "fits"), [("g5.xlarge", False), ("p4d.24xlarge", True)])
def test_g04_partitions_made_on_gpus_without_mig_fail(kind: str, fits: bool) -> None:
    template = examples.launch_template("lt", userData="#!/bin/bash\nnvidia-smi mig -cgi 19,19 -C\n")
    booted = judge("SHARE004", template, examples.node_group(template, "mig", instanceTypes=[kind], labels={}))
    box = {"name": "mig", "image": "nvidia/cuda:12.8.1-base-ubuntu24.04", "command": ["nvidia-smi mig -cgi 19,19 -C"]}
    spec = {"containers": [box], "tolerations": [{"operator": "Exists"}]}
    made = judge("SHARE004", examples.resource("kubernetes:core/v1:Pod", "mig", {"spec": spec}), pool(None, kind))
    for report in (booted, made):
        assert passes(report) if fits else complaint(report).endswith("the a10g of g5.xlarge has no MIG")


def test_g04_the_layout_of_nodes_that_name_none_must_exist_where_mig_is_possible() -> None:
    by_default = operator(mig.MIXED, default="all-1g.5gb")
    assert passes(judge("SHARE004", by_default, pool(None)))
    assert passes(judge("SHARE004", by_default, pool(None, "g5.xlarge")))
    assert passes(judge("SHARE004", by_default, pool("all-1g.10gb", "p5.48xlarge")))
    report = judge("SHARE004", by_default, pool(None, "p5.48xlarge"))
    assert complaint(report).startswith("gives mig the MIG layout all-1g.5gb by default, which the h100 of p5.48xlarge")
    assert report.findings[0].resource == "operator"
    unlike = operator(mig.SINGLE, default="all-balanced")
    assert "by default with 3 profiles, but strategy single" in complaint(judge("SHARE004", unlike, pool(None)))
    assert left_open(judge("SHARE004", by_default, changed(pool(None), "labels", UNKNOWN))) == ["labels", "labels"]


def test_g04_a_pool_is_not_told_again_that_the_file_has_no_layouts() -> None:
    found = messages(judge("SHARE004", file("mig-configs: ["), pool("team")))
    assert list(found) == ["operator"]


def test_without_an_operator_only_names_that_speak_of_profiles_are_judged() -> None:
    assert passes(judge("SHARE004", pool("all-1g.5gb")))
    assert "has not" in complaint(judge("SHARE004", pool("all-4g.40gb")))
    assert left_open(judge("SHARE004", pool("team"))) == [labels.MIG_CONFIG]
    assert len(left_open(judge("SHARE004", pool("all-balanced")))) == 1


def test_whole_gpus_and_unknown_labels() -> None:
    assert passes(judge("SHARE004", operator(), pool(None)))
    assert not_concerned(judge("SHARE004", pool(None)))
    assert not_concerned(judge("SHARE004", pool(mig.ALL_DISABLED)))
    assert left_open(judge("SHARE004", changed(pool("x"), "labels", UNKNOWN))) == ["labels"]


def test_the_public_example_of_mig_on_eks_passes() -> None:
    """The EKS user guide's: a managed p4d group, mixed, the MIG manager with a reboot."""
    values = {
        "mig": {"strategy": "mixed"},
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "migManager": {"env": [{"name": "WITH_REBOOT", "value": "true"}]},
    }
    release = examples.release("gpu-operator", "gpu-operator", "v25.10.1", values=values)
    server = examples.deployment(examples.container(resources={"limits": {resources.mig("2g.10gb"): 1}}))
    assert messages(judge("SHARE004", release, pool("all-balanced"), server)) == {}
