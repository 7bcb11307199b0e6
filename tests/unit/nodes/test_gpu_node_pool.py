from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.nodes.gpu_node_pool import GpuNodePool, GpuNodePoolArgs
from eks_gpu.nodes.karpenter_connection import KarpenterConnection
from eks_gpu.recording import Recording, record
from eks_gpu.settings.gpu_pool import Capacity, Purpose
from eks_gpu.settings.node_image import NodeImage
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.reservation import Reservation
from tests.support.clusters import SUBNETS, cluster

NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
G5 = NodePool(instance_types=("g5.xlarge", "g5.2xlarge"), max_gpus=8)
P4D = NodePool(instance_types=("p4d.24xlarge",), max_gpus=16, purpose=Purpose.TRAINING, max_job_hours=48)


def _record(  # noqa: PLR0913 - what a pool can be given; all keyword-only
    settings: NodePool,
    *,
    name: str = "pool",
    outputs: bool = False,
    weight: int | None = None,
    reservation_ids: Sequence[str] = (),
    previously: tuple[str, ...] = (),
    profile: str | None = None,
    placement_group: str | None = None,
) -> Recording:
    def program() -> None:
        controller = k8s.core.v1.ConfigMap("controller")
        role = "karpenter-node"
        karpenter = KarpenterConnection(
            node_role_name=pulumi.Output.from_input(role) if outputs else role,
            instance_profile_name=profile,
            ready=(controller,),
        )
        args = GpuNodePoolArgs(
            settings=settings.model_copy(update={"previously": previously}),
            cluster=cluster(outputs=outputs),
            karpenter=karpenter,
            weight=weight,
            reservation_ids=[pulumi.Output.from_input(one) for one in reservation_ids],
            placement_group_name=placement_group,
            tags={"owner": "ml-platform"},
        )
        GpuNodePool(name, args)

    return record(program)


def _pool(settings: NodePool, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - those of _record
    return dict(_record(settings, **arguments).one(NODE_POOL)["spec"])


def _class(settings: NodePool, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - those of _record
    return dict(_record(settings, **arguments).one(NODE_CLASS)["spec"])


def _requirement(settings: NodePool, key: str) -> list[str]:
    requirements = _pool(settings)["template"]["spec"]["requirements"]
    (found,) = [entry for entry in requirements if entry["key"] == key]
    assert found["operator"] == "In"
    return list(found["values"])


@pytest.mark.parametrize("outputs", [False, True])
def test_a_pool_is_the_same_with_plain_and_with_output_identities(outputs: bool) -> None:
    spec = _class(G5, outputs=outputs)

    assert spec["role"] == "karpenter-node"
    assert spec["subnetSelectorTerms"] == [{"id": subnet} for subnet in SUBNETS.values()]
    assert spec["securityGroupSelectorTerms"] == [{"id": "sg-0cluster"}]


def test_the_instance_profile_takes_the_place_of_the_role_where_there_is_one() -> None:
    assert {key: _class(G5).get(key) for key in ("role", "instanceProfile")} == {
        "role": "karpenter-node",
        "instanceProfile": None,
    }
    assert {key: _class(G5, profile="nodes").get(key) for key in ("role", "instanceProfile")} == {
        "role": None,
        "instanceProfile": "nodes",
    }


def test_n01_root_volume_is_100_gib_encrypted_on_the_family_device() -> None:
    assert _class(G5)["blockDeviceMappings"] == [
        {
            "deviceName": "/dev/xvda",
            "ebs": {
                "volumeType": "gp3",
                "volumeSize": "100Gi",
                "iops": 3000,
                "throughput": 500,
                "encrypted": True,
                "deleteOnTermination": True,
            },
        }
    ]


def test_n02_old_images_are_pruned() -> None:
    spec = _class(G5)

    assert spec["kubelet"] == {"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 60}
    assert "imageMaximumGCAge: 168h" in spec["userData"]


def test_n04_nodes_carry_the_labels_of_every_gpu_pool() -> None:
    assert _pool(P4D)["template"]["metadata"]["labels"] == {
        "accelerator": "nvidia",
        "nvidia.com/gpu.present": "true",
        "gpu-type": "a100",
        "workload": "training",
    }


def test_n12_a_dear_pool_keeps_small_pods_off_by_default() -> None:
    taints = _pool(P4D)["template"]["spec"]["taints"]

    assert {"key": "gpu-type", "value": "a100", "effect": "NoSchedule"} in taints
    assert _pool(P4D.model_copy(update={"dedicated": False}))["template"]["spec"]["taints"] == taints[:1]


def test_n08_warm_nodes_are_held_by_placeholders_that_nobody_waits_for() -> None:
    recording = _record(G5.model_copy(update={"warm_nodes": 2}), name="g5")
    placeholders, priority = recording.one(DEPLOYMENT), recording.one(PRIORITY_CLASS)

    assert placeholders["spec"]["replicas"] == 2
    assert placeholders["spec"]["template"]["spec"]["nodeSelector"] == {"karpenter.sh/nodepool": "g5"}
    assert placeholders["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    assert priority["metadata"]["name"] == placeholders["spec"]["template"]["spec"]["priorityClassName"] == "g5-warm"
    assert recording.reaches(placeholders, recording.one(NODE_POOL)), "they go before the pool whose nodes they hold"
    assert _record(G5).of_type(DEPLOYMENT) == _record(G5).of_type(PRIORITY_CLASS)


def test_n08_a_renamed_pool_keeps_the_names_of_its_placeholders() -> None:
    recording = _record(G5.model_copy(update={"warm_nodes": 1}), name="a10g", previously=("g5",))

    assert recording.one(DEPLOYMENT)["metadata"]["name"] == "g5-warm"


def test_n05_nodes_repel_pods_that_asked_for_no_gpu() -> None:
    assert _pool(G5)["template"]["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    ]


def test_n07_the_image_is_pinned_to_a_dated_release() -> None:
    assert _class(G5)["amiSelectorTerms"] == [{"alias": "al2023@v20260724"}]


def test_n08_only_the_named_types_are_bought_and_their_nvme_holds_the_images() -> None:
    assert _requirement(G5, "node.kubernetes.io/instance-type") == ["g5.xlarge", "g5.2xlarge"]
    assert _requirement(G5, "kubernetes.io/arch") == ["amd64"]
    assert _class(G5)["instanceStorePolicy"] == "RAID0"
    assert "instanceStorePolicy" not in _class(G5.model_copy(update={"instance_types": ("p3.2xlarge",)}))


def test_n09_capacity_types_are_those_of_the_settings() -> None:
    settings = G5.model_copy(update={"capacity": (Capacity.SPOT, Capacity.ON_DEMAND)})

    assert _requirement(settings, "karpenter.sh/capacity-type") == ["spot", "on-demand"]


def test_n10_training_is_never_consolidated_away() -> None:
    spec = _pool(P4D)

    assert spec["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert spec["template"]["spec"]["expireAfter"] == "Never"
    assert spec["template"]["spec"]["terminationGracePeriod"] == "48h"


def test_n11_reserved_capacity_names_its_reservation() -> None:
    reservation = Reservation(on_demand_id="cr-0a")
    settings = NodePool(
        instance_types=("p4d.24xlarge",), max_gpus=8, capacity=(Capacity.RESERVED,), reservation=reservation
    )

    assert _class(settings)["capacityReservationSelectorTerms"] == [{"id": "cr-0a"}]


def test_n11_a_program_gives_the_reservation_that_it_makes() -> None:
    settings = NodePool(
        instance_types=("p4d.24xlarge",), max_gpus=8, capacity=(Capacity.RESERVED,), reservation=Reservation()
    )

    spec = _class(settings, reservation_ids=["cr-0b"])

    assert spec["capacityReservationSelectorTerms"] == [{"id": "cr-0b"}]


def test_n12_cheap_pools_are_tried_first_and_a_weight_of_ones_own_wins() -> None:
    assert _pool(G5)["weight"] > _pool(P4D)["weight"]
    assert _pool(P4D, weight=7)["weight"] == 7


def test_n12_a_dedicated_pool_keeps_off_pods_that_do_not_name_its_gpu() -> None:
    settings = P4D.model_copy(update={"dedicated": True})

    assert _pool(settings)["template"]["spec"]["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "gpu-type", "value": "a100", "effect": "NoSchedule"},
    ]


def test_n07_new_nodes_start_with_a_taint_until_they_are_validated_only_where_asked() -> None:
    settings = P4D.model_copy(update={"validate_new_nodes": True})

    assert _pool(settings)["template"]["spec"]["startupTaints"] == [
        {"key": "eks-gpu.io/not-validated", "value": "true", "effect": "NoSchedule"}
    ]
    assert "startupTaints" not in _pool(P4D)["template"]["spec"]


def test_g09_efa_takes_one_adapter_on_each_network_card() -> None:
    interfaces = _class(P4D.model_copy(update={"efa": True}))["networkInterfaces"]

    assert interfaces == [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
        {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"},
        {"networkCardIndex": 2, "deviceIndex": 1, "interfaceType": "efa-only"},
        {"networkCardIndex": 3, "deviceIndex": 1, "interfaceType": "efa-only"},
    ]
    assert "networkInterfaces" not in _class(P4D)


def test_g09_adapters_have_a_security_group_of_their_own_beside_the_cluster_s() -> None:
    recording = _record(P4D.model_copy(update={"efa": True}))
    node_class = recording.one(NODE_CLASS)
    group = recording.one("aws:ec2/securityGroup:SecurityGroup")

    assert node_class["spec"]["securityGroupSelectorTerms"] == [
        {"id": "sg-0cluster"},
        {"id": "pool-efa-security-group"},
    ]
    for rule in ("Ingress", "Egress"):
        rule_of_group = recording.one(f"aws:vpc/securityGroup{rule}Rule:SecurityGroup{rule}Rule")
        assert recording.reaches(rule_of_group, group)
        assert recording.reaches(node_class, rule_of_group), "without its rules the group lets nothing through"
    assert _record(P4D).of_type("aws:ec2/securityGroup:SecurityGroup") == ()


def test_g09_adapters_in_one_zone_are_placed_close_together() -> None:
    settings = P4D.model_copy(update={"efa": True, "zones": ("us-east-1b",)})
    group = _record(settings).one(PLACEMENT_GROUP)

    assert group["strategy"] == "cluster"
    assert _class(settings)["placementGroupSelector"] == {"name": "pool-placement-group"}
    assert _class(settings, placement_group="ours")["placementGroupSelector"] == {"name": "ours"}
    assert _record(settings, placement_group="ours").of_type(PLACEMENT_GROUP) == ()
    assert _record(P4D.model_copy(update={"efa": True})).of_type(PLACEMENT_GROUP) == (), "a group is within one zone"


def test_n11_a_reservation_made_in_a_placement_group_is_used_from_within_it() -> None:
    reservation = Reservation(on_demand_id="cr-0a", placement_group="training")
    settings = NodePool(
        instance_types=("p4d.24xlarge",), max_gpus=8, capacity=(Capacity.RESERVED,), reservation=reservation, efa=True
    )

    assert _class(settings)["placementGroupSelector"] == {"name": "training"}
    assert _record(settings).of_type(PLACEMENT_GROUP) == ()


def test_n01_bottlerocket_has_a_volume_for_itself_and_one_for_images_both_encrypted() -> None:
    settings = NodePool.model_validate(
        {"instance_types": ["g5.xlarge"], "max_gpus": 8, "image": {"family": "bottlerocket"}}
    )
    spec = _class(settings)
    volumes = {volume["deviceName"]: volume["ebs"] for volume in spec["blockDeviceMappings"]}

    assert set(volumes) == {"/dev/xvda", "/dev/xvdb"}
    assert volumes["/dev/xvdb"]["volumeSize"] == "100Gi"
    assert all(volume["encrypted"] for volume in volumes.values())
    (image,) = spec["amiSelectorTerms"]
    assert image["alias"].startswith("bottlerocket@v")


def test_m05_the_gpu_limit_is_the_most_the_pool_may_hold() -> None:
    assert _pool(G5)["limits"] == {"nvidia.com/gpu": "8"}


def test_sec001_metadata_needs_a_token_and_is_out_of_reach_of_pods() -> None:
    assert _class(G5)["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }


def test_zones_narrow_both_subnets_and_requirement() -> None:
    settings = G5.model_copy(update={"zones": ("us-east-1b",)})

    assert _class(settings)["subnetSelectorTerms"] == [{"id": SUBNETS["us-east-1b"]}]
    assert _requirement(settings, "topology.kubernetes.io/zone") == ["us-east-1b"]


def test_tags_reach_the_instances() -> None:
    assert _class(G5)["tags"] == {"owner": "ml-platform"}


def test_n09_the_pool_goes_before_its_node_class_and_both_before_the_controller() -> None:
    recording = _record(G5)
    pool, node_class, controller = recording.one(NODE_POOL), recording.one(NODE_CLASS), recording.named("controller")

    assert recording.reaches(pool, node_class)
    assert recording.reaches(pool, controller)
    assert recording.reaches(node_class, controller)


@pytest.mark.parametrize(("settings", "timeout"), [(G5, "60m"), (P4D, "2910m")])
def test_n09_deletion_waits_until_the_nodes_are_drained(settings: NodePool, timeout: str) -> None:
    recording = _record(settings)

    for token in (NODE_POOL, NODE_CLASS):
        assert recording.one(token).options.custom_timeouts["delete"] == timeout


def test_everything_goes_through_the_provider_of_the_cluster() -> None:
    recording = _record(G5)
    provider = recording.one("pulumi:providers:kubernetes")

    for token in (NODE_POOL, NODE_CLASS):
        assert recording.one(token).provider.startswith(provider.urn)


def test_a_renamed_pool_keeps_its_name_in_the_cluster_and_is_known_by_its_old_one() -> None:
    recording = _record(G5, name="a10g", previously=("g5",))

    assert recording.one(NODE_POOL)["metadata"]["name"] == "g5"
    assert recording.one(NODE_CLASS)["metadata"]["name"] == "g5"
    assert recording.one("eks-gpu:index:GpuNodePool").options.aliases == ("g5",)


def test_a_pool_refuses_everything_that_is_wrong_at_once() -> None:
    settings = G5.model_copy(update={"zones": ("us-east-1z",)})

    with pytest.raises(pulumi.InputPropertiesError) as refusal:
        _record(settings, name="Big_Pool", weight=0, reservation_ids=["cr-0a"])

    assert str(refusal.value) == (
        "Big_Pool has 4 bad arguments:\n"
        "  name: 'Big_Pool' is no name of a pool; use up to 40 lowercase letters, digits and hyphens\n"
        "  settings.zones: us-east-1z has no private subnet of the cluster; its zones are us-east-1a, us-east-1b, "
        "us-east-1c\n"
        "  weight: 0 is no weight; give 1 to 100, or leave it out\n"
        "  reservation_ids: are given, but settings.capacity does not include reserved; add it"
    )


def test_reserved_capacity_without_a_reservation_is_refused() -> None:
    settings = NodePool(
        instance_types=("p4d.24xlarge",), max_gpus=8, capacity=(Capacity.RESERVED,), reservation=Reservation()
    )

    with pytest.raises(pulumi.InputPropertiesError, match="reservation_ids: is empty"):
        _record(settings)


def test_n11_a_capacity_block_takes_no_placement_group() -> None:
    settings = NodePool(
        instance_types=("p4d.24xlarge",),
        max_gpus=8,
        capacity=(Capacity.RESERVED,),
        reservation=Reservation(capacity_block_id="cr-0b"),
    )

    with pytest.raises(pulumi.InputPropertiesError, match="placement_group_name: is given, but a capacity block"):
        _record(settings, placement_group="close")


def test_n11_a_reservation_in_another_zone_is_refused() -> None:
    settings = NodePool(
        instance_types=("p4d.24xlarge",),
        max_gpus=8,
        capacity=(Capacity.RESERVED,),
        reservation=Reservation(on_demand_id="cr-0a", zone="us-east-1f"),
    )

    with pytest.raises(pulumi.InputPropertiesError) as refusal:
        _record(settings)

    assert (
        "settings.reservation.zone: is us-east-1f, where the pool buys nothing; its zones are us-east-1a, us-east-1b, "
        "us-east-1c"
    ) in str(refusal.value)


def test_n07_a_release_for_another_kubernetes_version_is_refused() -> None:
    settings = G5.model_copy(update={"image": NodeImage(release="1.34.9-20260903")})

    with pytest.raises(pulumi.InputPropertiesError, match=r"settings\.image\.release: .* the cluster runs 1\.35"):
        _record(settings)


def test_tags_that_belong_to_karpenter_are_refused() -> None:
    def program() -> None:
        karpenter = KarpenterConnection(node_role_name="karpenter-node")
        args = GpuNodePoolArgs(settings=G5, cluster=cluster(), karpenter=karpenter)
        GpuNodePool("g5", replace(args, tags={"karpenter.sh/nodepool": "mine"}))

    with pytest.raises(pulumi.InputPropertiesError, match=r"tags\.karpenter\.sh/nodepool: is Karpenter's own"):
        record(program)
