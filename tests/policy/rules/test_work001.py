"""WORK001: every GPU pod can be scheduled."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.taints import GPU, Taint, dedicated
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.stack import Stack
from tests.support.judging import TODAY, changed, complaint, judge, left_open, not_concerned, passes, unknown

CLASS = examples.node_class()
AGENT = examples.resource(
    "kubernetes:apps/v1:DaemonSet",
    "agent",
    {
        "metadata": {"name": "agent"},
        "spec": {
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {
                    "containers": [{"name": "a", "image": "agent:1", "resources": {"requests": {"cpu": "500m"}}}],
                    "tolerations": [{"operator": "Exists"}],
                },
            }
        },
    },
)


def server(gpus: int = 1, name: str = "llm", **asks: str) -> Resource:
    """Return a server that asks for so many GPUs and whatever else is given."""
    wanted = {resources.GPU: str(gpus), **{key.replace("_", "-"): text for key, text in asks.items()}}
    return examples.deployment(examples.container(resources={"limits": wanted}), name=name)


def pool(*types: str, name: str = "g5", **settings: object) -> Resource:
    return examples.node_pool(name, types=types or ("g5.xlarge",), **settings)  # type: ignore[arg-type]  # free settings


# --- the worked examples ---------------------------------------------------------------------------------------------


def test_n03_four_cpu_do_not_fit_a_g5_xlarge_after_daemon_sets() -> None:
    message = complaint(judge("WORK001", CLASS, pool(), AGENT, server(cpu="4")))
    assert message == "no pool admits it: g5: it asks 4 CPU, g5.xlarge has 3.42 after DaemonSets"


def test_n03_even_without_daemon_sets_the_kubelet_has_its_part() -> None:
    assert "asks 4 CPU, g5.xlarge has 3.92" in complaint(judge("WORK001", CLASS, pool(), server(cpu="4")))
    assert passes(judge("WORK001", CLASS, pool(), server(cpu="3920m")))


def test_n03_a_pool_of_both_passes() -> None:
    assert passes(judge("WORK001", CLASS, pool("g5.xlarge", "g5.2xlarge"), AGENT, server(cpu="4")))
    assert passes(judge("WORK001", CLASS, pool("g5.2xlarge"), AGENT, server(cpu="4")))


def volume_class(size: str) -> Resource:
    mapping = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": size, "volumeType": "gp3", "encrypted": True}}
    return examples.node_class(blockDeviceMappings=[mapping])


def test_n01_a_root_of_20_gib_leaves_17_and_one_of_100_leaves_89() -> None:
    message = complaint(judge("WORK001", volume_class("20Gi"), pool(), server(ephemeral_storage="18Gi")))
    assert "asks 18 GiB of ephemeral-storage, g5.xlarge has 17 GiB" in message
    assert passes(judge("WORK001", volume_class("20Gi"), pool(), server(ephemeral_storage="17Gi")))
    assert passes(judge("WORK001", volume_class("100Gi"), pool(), server(ephemeral_storage="89Gi")))
    assert "has 89 GiB" in complaint(judge("WORK001", volume_class("100Gi"), pool(), server(ephemeral_storage="90Gi")))


def test_n03_a_g4dn_xlarge_has_14481_mib() -> None:
    assert passes(judge("WORK001", CLASS, pool("g4dn.xlarge"), server(memory="14481Mi")))
    message = complaint(judge("WORK001", CLASS, pool("g4dn.xlarge"), server(memory="14482Mi")))
    assert "asks 14.143 GiB of memory, g4dn.xlarge has 14.142 GiB" in message


# --- the other reasons -----------------------------------------------------------------------------------------------


def test_w02_more_gpus_than_any_node_has() -> None:
    (finding,) = judge("WORK001", CLASS, pool("g5.12xlarge"), server(8)).findings
    assert "asks 8 nvidia.com/gpu, g5.12xlarge has 4" in finding.message
    assert finding.fix == "let g5 buy g5.48xlarge ($16.288/h), the cheapest with a10g and room for it"


def test_w02_a_taint_of_the_pools_own_needs_a_toleration() -> None:
    guarded = pool(taints=(GPU.kubernetes(), dedicated("a10g").kubernetes()))
    (finding,) = judge("WORK001", CLASS, guarded, server()).findings
    assert finding.message.endswith("it does not tolerate the taint gpu-type=a10g:NoSchedule")
    assert finding.fix == "tolerate gpu-type=a10g:NoSchedule, if the pod belongs on g5"


def test_n04_a_label_that_no_pool_has() -> None:
    elsewhere = changed(server(), "spec.template.spec.nodeSelector", {labels.WORKLOAD: "training"})
    (finding,) = judge("WORK001", CLASS, pool(), elsewhere).findings
    assert finding.message.endswith("it requires workload=training, nodes there have inference")
    assert finding.fix.startswith("require workload=inference, as nodes of g5 have it")
    nowhere = changed(server(), "spec.template.spec.nodeSelector", {"team": "maps"})
    (finding,) = judge("WORK001", CLASS, pool(), nowhere).findings
    assert finding.message.endswith("it requires team=maps, nodes there have no such label")
    assert finding.fix == "give g5 the label team, or do not require it"


def test_m05_a_limit_below_one_node() -> None:
    small = pool("p4d.24xlarge", limits={resources.GPU: "4"})
    (finding,) = judge("WORK001", CLASS, small, server(4)).findings
    assert finding.message.endswith("it needs p4d.24xlarge with 8 nvidia.com/gpu, more than the pool's limit of 4")
    assert finding.fix == "raise the limit of g5 to 8 nvidia.com/gpu at least"
    assert passes(judge("WORK001", CLASS, pool("p4d.24xlarge", limits={resources.GPU: "8"}), server(4)))


def test_a_group_without_nodes_holds_nothing() -> None:
    empty = examples.node_group(scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 0})
    assert "the pool's largest size is 0" in complaint(judge("WORK001", empty, server(cpu="1")))


def test_each_pool_gives_its_first_reason_and_the_nearest_comes_first() -> None:
    guarded = pool("p4d.24xlarge", name="p4d", taints=(GPU.kubernetes(), dedicated("a100").kubernetes()))
    message = complaint(judge("WORK001", CLASS, guarded, pool(), server(cpu="6")))
    assert message == (
        "no pool admits it: g5: it asks 6 CPU, g5.xlarge has 3.92; "
        "p4d: it does not tolerate the taint gpu-type=a100:NoSchedule"
    )


def test_the_reasons_of_many_pools_are_counted() -> None:
    pools = [pool(name=f"g5-{n}", limits={resources.GPU: str(n)}) for n in range(1, 7)]
    assert complaint(judge("WORK001", CLASS, *pools, server(cpu="6"))).endswith("; and 2 more")


def test_s01_a_volume_in_a_zone_without_the_pool() -> None:
    wanted = {"key": labels.ZONE, "operator": "In", "values": ["us-east-1a"]}
    requirements = [{"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["g5.2xlarge"]}, wanted]
    zoned = changed(pool(), "spec.template.spec.requirements", requirements)
    place = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{**wanted, "values": ["us-east-1b"]}]}]}}
    disk = examples.resource(
        tokens.VOLUME, "disk", {"metadata": {"name": "disk"}, "spec": {"nodeAffinity": place, "storageClassName": ""}}
    )
    claim = examples.resource(
        tokens.CLAIM,
        "weights",
        {"metadata": {"name": "weights"}, "spec": {"volumeName": "disk", "storageClassName": ""}},
    )
    mounting = changed(
        server(),
        "spec.template.spec.volumes",
        [{"name": "weights", "persistentVolumeClaim": {"claimName": "weights"}}],
    )
    message = complaint(judge("WORK001", CLASS, zoned, disk, claim, mounting))
    assert message.endswith(
        f"it mounts weights, and the volume requires {labels.ZONE}=us-east-1b, nodes there have us-east-1a"
    )
    assert passes(judge("WORK001", CLASS, zoned, changed(disk, "spec.nodeAffinity", None), claim, mounting))


# --- silence ---------------------------------------------------------------------------------------------------------


def test_a_pod_that_one_of_several_pools_admits_passes() -> None:
    assert passes(judge("WORK001", CLASS, pool(), pool("g5.12xlarge", name="large"), server(4)))


def test_a_pod_without_gpus_is_not_concerned() -> None:
    plain = examples.deployment(examples.container(resources={"requests": {"cpu": "64"}}))
    assert not_concerned(judge("WORK001", CLASS, pool(), plain))


def test_without_pools_nothing_can_be_said() -> None:
    assert left_open(judge("WORK001", server())) == ["GPU pools"]
    assert left_open(judge("WORK001", examples.node_group(instanceTypes=["m7i.large"]), server())) == ["GPU pools"]


def test_w02_what_work002_says_better_is_left_to_it() -> None:
    waits = changed(server(), "spec.template.spec.nodeSelector", {labels.GFD_PRODUCT: "NVIDIA-A10G"})
    assert passes(judge("WORK001", CLASS, pool(), waits))
    assert judge("WORK002", CLASS, pool(), waits).findings


@pytest.mark.parametrize(
    ("path", "taint"),
    [("spec.template.spec.nodeSelector", GPU), ("spec.template.spec.tolerations", dedicated("a10g"))],
)
def test_what_a_pod_does_not_say_yet_is_left_open(path: str, taint: Taint) -> None:
    guarded = pool("g5.2xlarge", taints=(taint.kubernetes(),))
    assert left_open(judge("WORK001", CLASS, guarded, unknown(server(), path))) == [path]


def test_what_a_pod_does_not_say_yet_does_not_hide_what_is_wrong_anyway() -> None:
    greedy = unknown(server(cpu="8"), "spec.template.spec.nodeSelector")
    assert "asks 8 CPU" in complaint(judge("WORK001", CLASS, pool(), greedy))


def test_instance_types_that_nobody_knows_yet_are_left_open() -> None:
    assert left_open(judge("WORK001", unknown(examples.node_group(), "instanceTypes"), server(8))) == ["instanceTypes"]
    assert left_open(judge("WORK001", CLASS, pool("g9.xlarge"), server(8))) == ["instance types"]


def test_n03_between_what_karpenter_reckons_and_what_a_machine_has_nobody_can_tell() -> None:
    group = examples.node_group(instanceTypes=["g5.xlarge"])
    assert passes(judge("WORK001", group, server(memory="14162Mi")))
    assert left_open(judge("WORK001", group, server(memory="15Gi"))) == ["memory"]
    assert "asks 16 GiB of memory" in complaint(judge("WORK001", group, server(memory="16Gi")))


def test_a_shared_gpu_with_an_unknown_plugin_is_left_open_on_nodes_that_are_there() -> None:
    shared = examples.deployment(
        examples.container(resources={"limits": {resources.GPU_SHARED: "1"}}), tolerations=[GPU.toleration()]
    )
    assert left_open(judge("WORK001", examples.node_group(), shared)) == ["device plugin"]
    assert "for which Karpenter buys no node" in complaint(judge("WORK001", CLASS, pool(), shared))


# --- correct public programs, in our words ----------------------------------------------------------------------------


def test_a_node_group_that_is_selected_by_its_name_or_type_passes() -> None:
    group = examples.node_group(nodeGroupName="gpu")
    by_name = changed(server(), "spec.template.spec.nodeSelector", {labels.EKS_NODE_GROUP: "gpu"})
    assert passes(judge("WORK001", group, by_name))
    other = changed(server(), "spec.template.spec.nodeSelector", {labels.EKS_NODE_GROUP: "cpu"})
    assert "requires eks.amazonaws.com/nodegroup=cpu, nodes there have gpu" in complaint(judge("WORK001", group, other))
    unnamed = examples.node_group()
    assert passes(judge("WORK001", unnamed, by_name))
    assert passes(
        judge(
            "WORK001", unnamed, changed(server(), "spec.template.spec.nodeSelector", {labels.EKS_NODE_GROUP: UNKNOWN})
        )
    )


def test_a_pool_open_to_all_gpu_families_serves_a_pod_that_names_its_gpu() -> None:
    wanted = [{"key": labels.INSTANCE_CATEGORY, "operator": "In", "values": ["g", "p"]}]
    anything = changed(pool(), "spec.template.spec.requirements", wanted)
    chosen = changed(server(4), "spec.template.spec.nodeSelector", {labels.INSTANCE_GPU_NAME: "l4"})
    assert passes(judge("WORK001", CLASS, anything, chosen))


def in_plain_yaml(*program: Resource) -> Report:
    return evaluate(
        program,
        environment=Environment.PROD,
        rules=(BY_ID["WORK001"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )


def in_class(made: Resource) -> Resource:
    return changed(made, "spec.template.spec.nodeClassRef.name", "g5")


def test_the_remedy_is_for_the_pool_that_needs_least() -> None:
    small, large = pool("g5.xlarge", name="small"), pool("g5.8xlarge", name="large")
    guarded = pool("p4d.24xlarge", name="p4d", taints=(GPU.kubernetes(), dedicated("a100").kubernetes()))
    limited = pool("g5.16xlarge", name="limited", limits={resources.GPU: "0"})
    pools = [in_class(each) for each in (small, guarded, large)]
    (finding,) = judge("WORK001", CLASS, *pools, server(cpu="40")).findings
    assert finding.fix.startswith("ask for at most 31.85 CPU, or let large buy g5.16xlarge")
    (finding,) = judge("WORK001", CLASS, *pools, in_class(limited), server(cpu="40")).findings
    assert finding.fix == "raise the limit of limited to 1 nvidia.com/gpu at least"
    (finding,) = judge("WORK001", CLASS, in_class(guarded), server(cpu="40")).findings
    assert finding.fix.startswith("tolerate gpu-type=a100:NoSchedule")


def test_a_pool_that_refuses_does_not_hide_one_of_which_nobody_can_tell() -> None:
    blind = unknown(examples.node_group(), "instanceTypes")
    assert left_open(judge("WORK001", CLASS, blind, pool(), server(cpu="8"))) == ["instanceTypes"]
    assert left_open(judge("WORK001", CLASS, pool(), blind, server(cpu="8"))) == ["instanceTypes"]


def test_a_pod_that_names_its_node_asks_no_scheduler() -> None:
    placed = changed(server(cpu="8"), "spec.template.spec.nodeName", "ip-10-0-0-1.ec2.internal")
    assert passes(judge("WORK001", CLASS, pool(), placed))
    assert passes(judge("WORK001", CLASS, pool(), unknown(placed, "spec.template.spec.nodeName")))


def test_w02_a_term_may_name_the_node_by_a_field() -> None:
    fields = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["ip-10-0-0-1.ec2.internal"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": fields}}
    named = changed(server(), "spec.template.spec.affinity", {"nodeAffinity": required})
    assert passes(judge("WORK001", CLASS, pool(), named))


def test_in_plain_yaml_a_pod_may_be_meant_for_other_pools_unless_one_lets_it_on() -> None:
    elsewhere = changed(server(), "spec.template.spec.nodeSelector", {"team": "maps"})
    assert left_open(in_plain_yaml(CLASS, pool(), elsewhere)) == ["GPU pools"]
    assert "asks 8 CPU" in complaint(in_plain_yaml(CLASS, pool(), server(cpu="8")))
    guarded = in_class(pool("p4d.24xlarge", name="p4d", taints=(GPU.kubernetes(), dedicated("a100").kubernetes())))
    assert "asks 8 CPU" in complaint(in_plain_yaml(CLASS, pool(), guarded, server(cpu="8")))


def test_many_copies_of_a_program_share_what_is_prepared_for_one() -> None:
    copies = [examples.node_pool(f"g5-{n}") for n in range(5)]
    named = [changed(each, "spec.template.spec.nodeClassRef.name", "g5") for each in copies]
    seen = Stack([CLASS, *named, server()])
    assert len(seen.pools) == 5
    assert len(seen.possible_pools) == 1
    by_name = changed(server(), "spec.template.spec.nodeSelector", {labels.KARPENTER_NODEPOOL: "g5-3"})
    chosen = Stack([CLASS, *named, by_name])
    assert [pool.name for pool, answer in chosen.placements(chosen.pods[0]) if answer.admits] == ["g5-3"]
