"""What a stack says about its pools and pods that decides where pods fit."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.versions import GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.pod_template import Preference
from eks_gpu.planning.pool import Kubelet, Pool
from eks_gpu.planning.reading import NotKnown
from eks_gpu.planning.requirements import Requirement
from eks_gpu.planning.sharing.advertised import Partitions, Shares, Split
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed

CLASS = examples.node_class()
P4D = examples.node_pool(types=("p4d.24xlarge",))


def only_pool(*program: Resource) -> Pool:
    (pool,) = Stack(program).pools
    return pool


def labelled(pool: Resource, **own: str) -> Resource:
    spelled = {labels.MIG_CONFIG: own.get("mig"), labels.DEVICE_PLUGIN_CONFIG: own.get("config")}
    given = {key: value for key, value in spelled.items() if value is not None}
    return changed(pool, "spec.template.metadata.labels", {**labels.pool_labels("a100", "inference"), **given})


# --- sharing ---------------------------------------------------------------------------------------------------------


def shares(way: str = "timeSlicing", replicas: object = 4, *, rename: bool = False, name: str = resources.GPU) -> str:
    return (
        f"version: v1\nsharing:\n  {way}:\n    renameByDefault: {str(rename).lower()}\n    resources:\n"
        f"    - name: {name}\n      replicas: {replicas}\n"
    )


def plugin(name: str = "plugin", migStrategy: str | None = None, **configs: str) -> Resource:  # noqa: N803 - the chart's own word
    values: dict[str, object] = {"config": {"map": configs}}
    if migStrategy is not None:
        values["migStrategy"] = migStrategy
    return examples.release(name, NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=values)


def operator(strategy: str | None = None, default_layout: str | None = None, **plugin_values: object) -> Resource:
    values: dict[str, object] = {"devicePlugin": plugin_values}
    if strategy is not None:
        values["mig"] = {"strategy": strategy}
    if default_layout is not None:
        values["migManager"] = {"config": {"default": default_layout}}
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


@pytest.mark.parametrize(
    ("config", "split"),
    [
        ("version: v1\n", None),
        (shares(), Shares(4)),
        (shares("mps"), Shares(4)),
        (shares().replace(resources.GPU, "gpu"), Shares(4)),
        (shares(rename=True), Shares(4, resources.GPU_SHARED)),
        (shares(replicas=1), None),
        (shares(name="nvidia.com/mig-1g.5gb"), None),
        ("sharing: [", None),
    ],
)
def test_g03_shares_are_what_the_plugins_file_says(config: str, split: Split) -> None:
    assert only_pool(CLASS, examples.node_pool(), plugin(default=config)).split == split


def test_g03_a_pool_names_its_file() -> None:
    both = plugin(default="version: v1\n", sliced=shares())
    assert only_pool(CLASS, labelled(P4D), both).split is None
    assert only_pool(CLASS, labelled(P4D, config="sliced"), both).split == Shares(4)


def test_g03_without_a_plugin_in_the_stack_nobody_knows() -> None:
    split = only_pool(CLASS, examples.node_pool()).split
    assert isinstance(split, NotKnown)
    assert split.reason == "it is not in the stack"


def test_g03_two_plugins_that_differ_are_nobodys_word() -> None:
    program = (CLASS, examples.node_pool(), plugin("one", default=shares()))
    assert only_pool(*program, plugin("other", default=shares())).split == Shares(4)
    split = only_pool(*program, plugin("other", default=shares(replicas=8))).split
    assert isinstance(split, NotKnown)
    assert split.reason == "several are in the stack, and they differ"


@pytest.mark.parametrize(
    "spec", [{"devicePlugin": {"config": {"name": "mine"}}}, {"mig": {"strategy": "mixed"}}, UNKNOWN]
)
def test_g03_who_changes_the_cluster_policy_has_the_last_word(spec: object) -> None:
    policy = examples.resource(f"{tokens.CLUSTER_POLICY}Patch", "policy", {"spec": spec})
    assert isinstance(only_pool(CLASS, examples.node_pool(), operator(), policy).split, NotKnown)
    waiting = examples.resource(f"{tokens.CLUSTER_POLICY}Patch", "policy", {"metadata": {"name": "cluster-policy"}})
    assert only_pool(CLASS, examples.node_pool(), operator(), waiting).split is None


@pytest.mark.parametrize(
    ("release", "split"),
    [
        (operator(), Partitions("all-1g.5gb", mig.SINGLE)),
        (operator("mixed"), Partitions("all-1g.5gb", mig.MIXED)),
        (operator("none"), None),
        (plugin(), None),
        (plugin(migStrategy="mixed"), Partitions("all-1g.5gb", mig.MIXED)),
        (plugin(default="version: v1\nflags:\n  migStrategy: single\n"), Partitions("all-1g.5gb", mig.SINGLE)),
    ],
)
def test_g04_partitions_are_the_label_and_the_strategy(release: Resource, split: Split) -> None:
    assert only_pool(CLASS, labelled(P4D, mig="all-1g.5gb"), release).split == split


def test_g04_the_operator_has_a_default_layout() -> None:
    assert only_pool(CLASS, labelled(P4D), operator("mixed", "all-2g.10gb")).split == Partitions("all-2g.10gb")
    assert only_pool(CLASS, labelled(P4D, mig="all-disabled"), operator("mixed", "all-2g.10gb")).split is None
    assert only_pool(CLASS, labelled(P4D), operator("mixed")).split is None


@pytest.mark.parametrize(
    ("settings", "split"),
    [
        ("", None),
        ('device-sharing-strategy = "time-slicing"\n[{0}.time-slicing]\nreplicas = 2\n', Shares(2)),
        (
            'device-sharing-strategy = "mps"\n[{0}.mps]\nreplicas = 2\nrename-by-default = true\n',
            Shares(2, resources.GPU_SHARED),
        ),
        ('device-sharing-strategy = "none"\n', None),
        (
            'device-partitioning-strategy = "mig"\n[{0}.mig.profile]\n"a100.40gb" = "1g.5gb"\n',
            Partitions("all-1g.5gb", mig.SINGLE),
        ),
    ],
)
def test_g03_bottlerocket_shares_by_its_settings(settings: str, split: Split) -> None:
    place = "settings.kubelet-device-plugins.nvidia"
    node_class = examples.node_class(
        amiSelectorTerms=[{"alias": "bottlerocket@v1.65.0"}], userData=f"[{place}]\n{settings.format(place)}"
    )
    assert only_pool(node_class, P4D, plugin(default=shares())).split == split


def test_g03_bottlerocket_may_leave_it_to_a_plugin() -> None:
    off = "[settings.kubelet-device-plugins.nvidia]\nenabled = false\n"
    node_class = examples.node_class(amiSelectorTerms=[{"alias": "bottlerocket@v1.65.0"}], userData=off)
    assert only_pool(node_class, examples.node_pool(), plugin(default=shares())).split == Shares(4)


# --- nodes -----------------------------------------------------------------------------------------------------------

RESERVED = {
    "kubeReserved": {"cpu": "500m"},
    "systemReserved": {"memory": "1Gi"},
    "evictionHard": {"memory.available": "5%"},
    "maxPods": 30,
}
READ = Kubelet(
    kube_reserved={"cpu": "500m"},
    system_reserved={"memory": "1Gi"},
    eviction_hard={"memory.available": "5%"},
    max_pods=30,
)


def test_n03_karpenter_takes_the_kubelet_from_the_node_class() -> None:
    assert only_pool(examples.node_class(kubelet=RESERVED), examples.node_pool()).kubelet == READ
    assert only_pool(CLASS, examples.node_pool()).kubelet == Kubelet()
    assert only_pool(examples.node_pool()).kubelet == Kubelet(), "a class that is not to be seen is as EKS has it"
    assert isinstance(only_pool(examples.node_class(kubelet=UNKNOWN), examples.node_pool()).kubelet, NotKnown)


NODE_CONFIG = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      kubeReserved: {cpu: 500m}
      systemReserved: {memory: 1Gi}
      evictionHard: {memory.available: 5%}
      maxPods: 30
"""
BOTTLEROCKET = """\
[settings.kubernetes]
max-pods = 30
[settings.kubernetes.kube-reserved]
cpu = "500m"
[settings.kubernetes.system-reserved]
memory = "1Gi"
[settings.kubernetes.eviction-hard]
"memory.available" = "5%"
"""


@pytest.mark.parametrize("user_data", [NODE_CONFIG, BOTTLEROCKET])
def test_n03_other_nodes_are_told_by_user_data(user_data: str) -> None:
    template = examples.launch_template(userData=user_data)
    group = examples.node_group(template)
    assert Stack([template, group]).pools[0].kubelet == READ


def test_pools_know_their_weight_and_how_many_values_they_want() -> None:
    wanted = [{"key": labels.INSTANCE_FAMILY, "operator": "In", "values": ["g5", "g6"], "minValues": 2}]
    pool = changed(examples.node_pool(weight=10), "spec.template.spec.requirements", wanted)
    read = only_pool(CLASS, pool)
    assert read.weight == 10
    assert read.requirements == (Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "g6"), 2),)
    assert only_pool(CLASS, examples.node_pool()).weight is None


def subnet(zone: str | object) -> Resource:
    return examples.resource(tokens.SUBNET, f"in-{zone}", {"availabilityZone": zone, "tags": {"pool": "gpu"}})


def test_pools_are_in_the_zones_of_their_subnets() -> None:
    a, b = subnet("us-east-1a"), subnet("us-east-1b")
    group = examples.node_group(None, "gpu", {"subnetIds": (a, b)}, subnetIds=[UNKNOWN, UNKNOWN])
    assert Stack([a, b, group]).pools[0].zones == frozenset({"us-east-1a", "us-east-1b"})
    assert Stack([examples.node_group()]).pools[0].zones is None
    assert isinstance(Stack([examples.node_group(subnetIds=["subnet-1"])]).pools[0].zones, NotKnown)
    selecting = examples.node_class(subnetSelectorTerms=[{"tags": {"pool": "gpu"}}])
    assert only_pool(a, b, selecting, examples.node_pool()).zones == frozenset({"us-east-1a", "us-east-1b"})


def overlay(name: str, capacity: Mapping[str, str], weight: int = 0) -> Resource:
    wanted = [{"key": labels.INSTANCE_TYPE, "operator": "In", "values": ["p4d.24xlarge"]}]
    spec = {"requirements": wanted, "capacity": capacity, "weight": weight}
    return examples.resource(tokens.NODE_OVERLAY, name, {"metadata": {"name": name}, "spec": spec})


def test_g04_overlays_add_capacity_to_node_pools_alone() -> None:
    more, fewer = (
        overlay("more", {"nvidia.com/mig-1g.5gb": "56"}, 2),
        overlay("fewer", {"nvidia.com/mig-1g.5gb": "7"}, 1),
    )
    price = changed(overlay("price", {}), "spec.price", "1.0")
    pools = Stack([CLASS, P4D, examples.node_group(), more, fewer, price]).pools
    by_kind = {pool.kind.value: pool.overlays for pool in pools}
    assert by_kind["node group"] == ()
    assert isinstance(by_kind["node pool"], tuple)
    assert [each.capacity for each in by_kind["node pool"]] == [
        {"nvidia.com/mig-1g.5gb": "7"},
        {"nvidia.com/mig-1g.5gb": "56"},
    ]


# --- pods ------------------------------------------------------------------------------------------------------------


def test_pods_say_what_they_prefer_and_which_containers_stay() -> None:
    term = {"weight": 7, "preference": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}
    server = examples.deployment(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}},
        initContainers=[{"name": "proxy", "restartPolicy": "Always"}, {"name": "fetch"}],
        overhead={"cpu": "250m"},
        resources={"limits": {"memory": "8Gi"}, "requests": {"cpu": "2"}},
    )
    (pod,) = Stack([server]).pods
    assert pod.preferred == (Preference(7, (Requirement("team", "Exists"),)),)
    assert isinstance(pod.init_containers, tuple)
    assert [container.restarts for container in pod.init_containers] == [True, False]
    assert pod.overhead == {"cpu": "250m"}
    assert pod.pod_requests == {"memory": "8Gi", "cpu": "2"}


def claim(**spec: object) -> Resource:
    return examples.resource(tokens.CLAIM, "weights", {"metadata": {"name": "weights"}, "spec": spec})


def volume(**spec: object) -> Resource:
    return examples.resource(tokens.VOLUME, "disk", {"metadata": {"name": "disk"}, "spec": spec})


MOUNTING = examples.deployment(volumes=[{"name": "w", "persistentVolumeClaim": {"claimName": "weights"}}])


def zones_of_volumes(*program: Resource) -> list[tuple[str, ...]]:
    stack = Stack([MOUNTING, *program])
    anchors = stack.places.demand(stack.pods[0]).anchors
    return [
        requirement.values
        for _, selection in anchors
        for wishes in selection.alternatives
        for wish in wishes
        for requirement in wish.requirements
    ]


def test_s01_a_volume_is_where_it_says() -> None:
    term = {"matchExpressions": [{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": ["us-east-1b"]}]}
    place = {"required": {"nodeSelectorTerms": [term]}}
    assert zones_of_volumes(claim(volumeName="disk"), volume(nodeAffinity=place)) == [("us-east-1b",)]


def test_s01_or_where_its_label_says() -> None:
    there = changed(volume(), "metadata", {"name": "disk", "labels": {labels.ZONE: "us-east-1a__us-east-1b"}})
    assert zones_of_volumes(claim(volumeName="disk"), there) == [("us-east-1a", "us-east-1b")]


def test_s01_or_where_the_ebs_volume_is_that_it_was_made_from() -> None:
    disk = examples.resource(tokens.EBS_VOLUME, "ebs", {"availabilityZone": "us-east-1c", "size": 100})
    handle = examples.resource(
        tokens.VOLUME,
        "disk",
        {"metadata": {"name": "disk"}, "spec": {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": UNKNOWN}}},
        spec=(disk,),
    )
    assert zones_of_volumes(claim(volumeName="disk"), handle, disk) == [("us-east-1c",)]


def test_s01_or_where_its_class_allows_one() -> None:
    allowed = [{"matchLabelExpressions": [{"key": labels.ZONE, "values": ["us-east-1a"]}]}]
    storage_class = examples.resource(
        tokens.STORAGE_CLASS, "gp3", {"metadata": {"name": "gp3"}, "allowedTopologies": allowed}
    )
    assert zones_of_volumes(claim(storageClassName="gp3"), storage_class) == [("us-east-1a",)]


def test_s01_a_claim_that_is_not_here_or_says_nothing_may_be_anywhere() -> None:
    assert zones_of_volumes() == []
    assert zones_of_volumes(claim(storageClassName="efs")) == []
    assert zones_of_volumes(claim(volumeName="disk"), volume()) == []


def test_s01_a_place_that_is_not_known_yet_is_said_to_be() -> None:
    stack = Stack([MOUNTING, claim(volumeName="disk"), volume(nodeAffinity=UNKNOWN)])
    assert isinstance(stack.places.demand(stack.pods[0]).anchored, NotKnown)
