"""Pools in other people's words: EKS Auto Mode, Auto Scaling groups, families that nobody knows yet."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU
from eks_gpu.planning.pool import PoolKind, Size
from eks_gpu.planning.reading import NotKnown, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

AUTO = labels.EKS_AUTO_DOMAIN


def auto_pool(*requirements: tuple[str, list[str]], taints: tuple[dict[str, str], ...] = ()) -> Resource:
    """Return a node pool of EKS Auto Mode, as its user guide writes them."""
    wanted = [{"key": f"{AUTO}/{key}", "operator": "In", "values": values} for key, values in requirements]
    spec = {
        "nodeClassRef": {"group": AUTO, "kind": "NodeClass", "name": "default"},
        "requirements": wanted,
        "taints": list(taints),
    }
    props = {"metadata": {"name": "gpu"}, "spec": {"template": {"spec": spec}, "limits": {"cpu": "1000"}}}
    return examples.resource(tokens.NODE_POOL, "gpu", props)


def test_cost001_a_family_in_the_words_of_auto_mode_buys_gpus() -> None:
    pool = auto_pool(("instance-family", ["g6", "p5"]))
    families = {instance.family for instance in Stack((pool,)).pools[0].gpu_types}
    assert families == {"g6", "p5"}
    assert "has no limit on nvidia.com/gpu" in complaint(judge("COST001", pool))
    assert "has no taint" in complaint(judge("NODE004", pool))


def test_node004_auto_modes_pool_for_ordinary_pods_is_not_concerned_whatever_gpu_pods_there_are() -> None:
    pool = auto_pool(("instance-category", ["c", "m", "r"]))
    assert not_concerned(judge("NODE004", pool, examples.deployment()))


def test_pods_select_nodes_of_auto_mode_in_its_words() -> None:
    pool = auto_pool(("instance-cpu", ["4", "8", "16"]))
    select = {f"{AUTO}/compute-type": "auto", f"{AUTO}/instance-gpu-name": "l40s"}
    message = complaint(judge("NODE004", pool, examples.deployment(nodeSelector=select)))
    assert "nothing but omission lets it buy GPUs" in message


def test_the_disk_that_auto_mode_gives_is_left_open_and_said_so() -> None:
    report = judge("NODE001", auto_pool(("instance-family", ["g6"])))
    assert left_open(report) == ["spec.template.spec.nodeClassRef.name"]
    assert report.not_evaluated[0].reason == "EKS Auto Mode decides it"


@pytest.mark.parametrize("rule", ["NODE002", "NODE003", "NODE006", "NODE007", "NODE010", "NODE014", "NODE017"])
def test_what_auto_mode_chooses_is_no_concern(rule: str) -> None:
    assert not_concerned(judge(rule, auto_pool(("instance-family", ["g6"]))))


def family_pool(*families: str) -> Resource:
    wanted = [{"key": labels.INSTANCE_FAMILY, "operator": "In", "values": list(families)}]
    return changed(examples.node_pool(taints=()), "spec.template.spec.requirements", wanted)


def test_node004_a_gpu_family_that_nobody_knows_yet_is_a_gpu_family() -> None:
    assert "p9" not in {instance.family for instance in CATALOGUE.values()}
    pool = changed(family_pool("p9"), "spec.limits", {"cpu": "1000"})
    assert "buys p9 but has no taint" in complaint(judge("NODE004", pool))
    assert "p9, whose price is not known" in complaint(judge("COST002", pool, options={"monthlyBudgetUsd": 1}))


def test_node004_families_without_nvidia_gpus_are_not_concerned() -> None:
    pool = changed(family_pool("m7i", "c7g", "inf2", "trn1"), "spec.limits", {"cpu": "1000"})
    assert not_concerned(judge("NODE004", pool))


CLUSTER_TAG = {"key": "kubernetes.io/cluster/ml", "value": "owned", "propagateAtLaunch": True}


def scaling_group(
    template: Resource, *, tags: tuple[dict[str, object], ...] = (CLUSTER_TAG,), **props: object
) -> Resource:
    given = {"launchTemplate": {"id": "lt-1", "version": "1"}, "minSize": 0, "maxSize": 4, "tags": list(tags), **props}
    return examples.resource(tokens.AUTO_SCALING_GROUP, "self", given, launchTemplate=(template,))


def test_node001_a_self_managed_group_is_judged_by_its_launch_template() -> None:
    image = "resolve:ssm:/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/nvidia/recommended/image_id"
    small = examples.launch_template(instanceType="g5.xlarge", imageId=image, blockDeviceMappings=[examples.volume(30)])
    group = scaling_group(small)
    assert messages(judge("NODE001", small, group))["self"][0].startswith("has 30 GiB on /dev/xvda, where AL2023")
    assert "which moves with every release" in complaint(judge("NODE006", small, group))
    assert "4 x g5.xlarge" in complaint(judge("COST002", small, group, options={"monthlyBudgetUsd": 1}))


def self_managed(user_data: str | None) -> tuple[Resource, Resource]:
    template = examples.launch_template(instanceType="g5.xlarge", userData=user_data)
    return template, scaling_group(template)


@pytest.mark.parametrize(
    "told",
    [
        (
            "#!/bin/bash\n/etc/eks/bootstrap.sh ml --kubelet-extra-args \\\n"
            "  '--node-labels=team=ml,gpu-type=a10g --register-with-taints=nvidia.com/gpu=present:NoSchedule'\n"
        ),
        examples.node_config(
            'kubelet: {flags: ["--node-labels=team=ml,gpu-type=a10g", '
            '"--register-with-taints=nvidia.com/gpu=present:NoSchedule"]}'
        ),
        examples.node_config(
            'kubelet: {flags: ["--node-labels=gpu-type=a10g,team=ml"], config: {registerWithTaints: '
            "[{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}}"
        ),
        (
            '[settings.kubernetes.node-labels]\nteam = "ml"\ngpu-type = "a10g"\n'
            '[settings.kubernetes.node-taints]\n"nvidia.com/gpu" = ["present:NoSchedule"]\n'
        ),
    ],
)
def test_n05_user_data_tells_the_labels_and_taints_of_a_self_managed_group(told: str) -> None:
    pool = Stack(self_managed(told)).pools[0]
    assert pool.labels == {"team": "ml", "gpu-type": "a10g"}
    assert pool.taints == (GPU,)


def test_node004_a_self_managed_group_that_is_told_no_taint_fails() -> None:
    report = judge("NODE004", *self_managed(examples.node_config("kubelet: {}")))
    assert "has no taint nvidia.com/gpu" in complaint(report)


@pytest.mark.parametrize(
    "told",
    [None, "#!/bin/bash\nbootstrap --register-with-taints=$TAINTS --node-labels=$LABELS\n", "something else"],
)
def test_node004_what_user_data_does_not_tell_is_left_open(told: str | None) -> None:
    assert left_open(judge("NODE004", *self_managed(told))) == ["userData"]


def test_a_group_that_a_component_of_nodes_has_made_is_a_pool_whatever_its_tags() -> None:
    component = examples.resource("eks:index:NodeGroupV2", "gpu", {"instanceType": "g5.xlarge"})
    template = examples.launch_template(instanceType="g5.xlarge")
    group = unknown(scaling_group(template), "tags.0.key")
    assert Stack((template, group)).pools == ()
    assert len(Stack((component, template, dataclasses.replace(group, parent=component.urn))).pools) == 1


def test_mixed_instances_are_read_with_their_overrides() -> None:
    template = examples.launch_template(instanceType="m7i.large", userData=None)
    policy = {
        "launchTemplate": {
            "launchTemplateSpecification": {"launchTemplateId": "lt-1"},
            "overrides": [{"instanceType": "g5.xlarge"}, {"instanceType": "p9.48xlarge"}],
        }
    }
    props = {"mixedInstancesPolicy": policy, "maxSize": 4, "minSize": 0, "tags": [CLUSTER_TAG]}
    group = examples.resource(tokens.AUTO_SCALING_GROUP, "self", props, mixedInstancesPolicy=(template,))
    pool = Stack((template, group)).pools[0]
    assert (pool.kind, pool.template, pool.unlisted) == (PoolKind.SELF_MANAGED, template.urn, ("p9.48xlarge",))
    assert [instance.name for instance in pool.gpu_types] == ["g5.xlarge"]
    assert isinstance(pool.taints, NotKnown)


def test_a_mixed_group_finds_its_launch_template_by_name() -> None:
    template = changed(examples.launch_template(instanceType="g5.xlarge"), "name", "gpu-nodes")
    policy = {"launchTemplate": {"launchTemplateSpecification": {"launchTemplateName": "gpu-nodes"}}}
    props = {"mixedInstancesPolicy": policy, "maxSize": 4, "minSize": 0, "tags": [CLUSTER_TAG]}
    group = examples.resource(tokens.AUTO_SCALING_GROUP, "self", props)
    assert Stack((template, group)).pools[0].template == template.urn


@pytest.mark.parametrize(
    ("distribution", "bought"),
    [
        (None, {"on-demand"}),
        ({"onDemandPercentageAboveBaseCapacity": 100}, {"on-demand"}),
        ({"onDemandPercentageAboveBaseCapacity": 99}, {"on-demand", "spot"}),
        ({"onDemandPercentageAboveBaseCapacity": 0}, {"spot"}),
        ({"onDemandPercentageAboveBaseCapacity": 0, "onDemandBaseCapacity": 1}, {"on-demand", "spot"}),
        ({"onDemandBaseCapacity": 1}, {"on-demand"}),
    ],
)
def test_a_mixed_group_buys_spot_only_as_far_as_it_says(distribution: object, bought: set[str]) -> None:
    template = examples.launch_template(instanceType="g5.xlarge")
    group = scaling_group(template, mixedInstancesPolicy={"instancesDistribution": distribution}, launchTemplate=None)
    assert need(Stack((template, group)).pools[0].capacity_types) == bought
    unclear = unknown(group, "mixedInstancesPolicy.instancesDistribution")
    assert isinstance(Stack((template, unclear)).pools[0].capacity_types, NotKnown)


@pytest.mark.parametrize(
    ("market", "bought"),
    [(None, "on-demand"), ("spot", "spot"), ("capacity-block", "reserved"), ("other", "on-demand")],
)
def test_a_group_buys_on_the_market_of_its_launch_template(market: str | None, bought: str) -> None:
    options = None if market is None else {"marketType": market}
    template = examples.launch_template(instanceType="g5.xlarge", instanceMarketOptions=options)
    assert need(Stack((template, scaling_group(template))).pools[0].capacity_types) == {bought}


def test_an_auto_scaling_group_of_no_cluster_is_nobodys_pool() -> None:
    template = examples.launch_template(instanceType="g5.xlarge")
    assert Stack((template, scaling_group(template, tags=()))).pools == ()


def test_a_tag_made_from_a_clusters_name_that_is_not_known_yet_makes_a_pool() -> None:
    template = examples.launch_template(instanceType="g5.xlarge")
    cluster = examples.resource("aws:eks/cluster:Cluster", "ml", {})
    group = unknown(scaling_group(template), "tags.0.key")
    assert Stack((cluster, template, group)).pools == ()
    links = {**group.property_dependencies, "tags": frozenset({cluster.urn})}
    assert len(Stack((cluster, template, dataclasses.replace(group, property_dependencies=links))).pools) == 1


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        (None, Size(minimum=1, desired=2, maximum=2)),
        ({"maxSize": 8}, Size(minimum=1, desired=2, maximum=8)),
        ({"minSize": 0, "desiredSize": 0, "maxSize": 4}, Size(minimum=0, desired=0, maximum=4)),
    ],
)
def test_the_component_asks_for_what_it_is_not_given(given: object, sizes: Size) -> None:
    props = {"instanceTypes": ["g5.xlarge"], "scalingConfig": given}
    component = examples.resource(tokens.MANAGED_NODE_GROUP, "gpu", props)
    assert Stack((component,)).pools[0].size == sizes
    group = examples.node_group(scalingConfig={"maxSize": 8})
    assert Stack((group,)).pools[0].size == Size(maximum=8)


def test_node001_an_image_by_a_public_parameter_has_that_familys_devices() -> None:
    base = "resolve:ssm:/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/1.50.0/image_id"
    template = examples.launch_template(imageId=base, blockDeviceMappings=[examples.volume(200)])
    group = examples.node_group(template, amiType=None, releaseVersion=None)
    assert any(
        "/dev/xvdb, where Bottlerocket keeps images" in one
        for one in messages(judge("NODE001", template, group))["inference"]
    )
    large = {**examples.volume(200), "deviceName": "/dev/xvdb"}
    right = examples.launch_template(imageId=base, blockDeviceMappings=[large])
    assert passes(judge("NODE001", right, examples.node_group(right, amiType=None, releaseVersion=None)))


def test_cost001_a_limit_on_gpus_bounds_a_pool_of_auto_mode() -> None:
    pool = changed(auto_pool(("instance-family", ["g6"])), "spec.limits", {resources.GPU: 4})
    assert passes(judge("COST001", pool))


def test_node006_karpenters_beta_is_read_and_its_class_without_terms_boots_the_newest() -> None:
    beta = {
        tokens.NODE_POOL: "karpenter.sh/v1beta1:NodePool",
        tokens.NODE_CLASS: "karpenter.k8s.aws/v1beta1:EC2NodeClass",
    }
    node_class = changed(examples.node_class(amiFamily="AL2"), "spec.amiSelectorTerms", None)
    program = [
        dataclasses.replace(item, type=f"kubernetes:{beta[item.type]}") for item in (node_class, examples.node_pool())
    ]
    assert "whatever is newest of AL2 is booted" in complaint(judge("NODE006", *program))
    assert passes(judge("COST001", *program))
