"""What to change so that a pool admits a pod that it refuses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU, dedicated
from eks_gpu.planning.placement import demand, place
from eks_gpu.planning.placement.market import cheapest
from eks_gpu.planning.placement.remedy import remedy
from eks_gpu.planning.pod_template import Container, PodTemplate, Toleration, VolumeAffinity
from eks_gpu.planning.pool import Kubelet, Pool, PoolKind, Size
from eks_gpu.planning.requirements import Requirement, from_labels
from eks_gpu.planning.sharing.advertised import Shares

ANYWHERE = (Toleration(None, "Exists", "", None),)
FIXED = "run it on nodes that are there: of a node group, or of a node pool with replicas"


def pool(*types: str, kind: PoolKind = PoolKind.NODE_POOL, **settings: object) -> Pool:
    found = tuple(CATALOGUE[name] for name in types or ("g5.xlarge",))
    return Pool(name="p", kind=kind, types=found, **{"taints": (GPU,), **settings})  # type: ignore[arg-type]  # settings


def pod(asks: Mapping[str, str] | None = None, **settings: object) -> PodTemplate:
    wanted = {resources.GPU: "1"} if asks is None else asks
    return PodTemplate(name="pod", containers=(Container(name="c", limits=wanted),), **settings)  # type: ignore[arg-type]  # settings


def advice(asking: PodTemplate, refusing: Pool, daemons: int = 0) -> str:
    daemon = PodTemplate(name="d", containers=(Container(name="d"),))
    refusal = place(asking, refusing, [daemon] * daemons).refusal
    assert refusal is not None
    return remedy(demand(asking), refusing, refusal)


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ({labels.GPU_TYPE: "l4"}, "require gpu-type=a10g, as nodes of p have it, or add a pool"),
        ({"team": "maps"}, "give p the label team, or do not require it"),
        (
            {labels.EKS_CAPACITY_TYPE: "SPOT"},
            "require a label that nodes of p have: only nodes of EKS's groups have eks.amazonaws.com/capacityType",
        ),
    ],
)
def test_n04_a_label_is_required_as_nodes_have_it_or_given_to_them(selector: dict[str, str], said: str) -> None:
    assert advice(pod(selector=from_labels(selector)), pool(labels={labels.GPU_TYPE: "a10g"})) == said


@pytest.mark.parametrize(
    ("kind", "who"),
    [
        (PoolKind.NODE_GROUP, "nodes that Karpenter makes have"),
        (PoolKind.SELF_MANAGED, "nodes that Karpenter or EKS makes have"),
    ],
)
def test_n04_nobody_is_told_to_set_a_label_of_karpenters(kind: PoolKind, who: str) -> None:
    asking = pod(selector=from_labels({labels.CAPACITY_TYPE: "spot"}))
    assert advice(asking, pool(kind=kind)) == (
        f"require a label that nodes of p have: only {who} karpenter.sh/capacity-type"
    )


def test_n04_a_label_of_karpenters_that_does_not_exist_is_given_to_no_pool() -> None:
    asking = pod(selector=from_labels({"karpenter.k8s.aws/instance-gpu-model": "a10g"}))
    assert advice(asking, pool()) == (
        "require a label that Karpenter gives to nodes: it has none that is called karpenter.k8s.aws/instance-gpu-model"
    )


def test_n04_a_label_of_ones_own_is_given_to_any_pool() -> None:
    asking = pod(selector=from_labels({"team": "maps"}))
    assert advice(asking, pool(kind=PoolKind.NODE_GROUP)) == "give p the label team, or do not require it"


def test_n04_what_is_excluded_is_not_required() -> None:
    neither = pod(affinity=((Requirement(labels.INSTANCE_FAMILY, "NotIn", ("g5", "g6")),),))
    assert advice(neither, pool("g5.xlarge", "g6.xlarge")) == (
        "do not exclude karpenter.k8s.aws/instance-family=g5 or g6, which nodes of p have, or add a pool"
    )
    other = pod(affinity=((Requirement(labels.GPU_TYPE, "NotIn", ("a10g",)),),))
    assert advice(other, pool(labels={labels.GPU_TYPE: "a10g"})) == (
        "do not exclude gpu-type=a10g, which nodes of p have, or add a pool"
    )
    nowhere = pod(affinity=((Requirement(labels.REGION, "DoesNotExist"),),))
    assert advice(nowhere, pool()) == (
        "do not exclude the label topology.kubernetes.io/region, which nodes of p have, or add a pool"
    )


def test_n04_of_many_values_some_are_named() -> None:
    everything = pool(*(name for name in CATALOGUE if name.startswith("g6.")))
    asking = pod(selector=from_labels({labels.INSTANCE_TYPE: "m7i.large"}))
    assert place(asking, everything).reason == (
        "requires node.kubernetes.io/instance-type=m7i.large, nodes there have g6.12xlarge, g6.16xlarge, g6.24xlarge, "
        "g6.2xlarge, g6.48xlarge, g6.4xlarge ... (2 more)"
    )
    assert advice(asking, everything).startswith("require node.kubernetes.io/instance-type=g6.12xlarge, g6.16xlarge")
    assert advice(asking, pool("g6.xlarge", "g6.2xlarge")).startswith(
        "require node.kubernetes.io/instance-type=g6.2xlarge or g6.xlarge, as nodes of p have it"
    )


def test_a_term_without_conditions_needs_one() -> None:
    assert advice(pod(affinity=((),)), pool()) == "write a condition into the affinity term, or remove it"


def test_n05_a_taint_is_tolerated() -> None:
    assert advice(pod(), pool(taints=(GPU, dedicated("a10g")))) == (
        "tolerate gpu-type=a10g:NoSchedule, if the pod belongs on p"
    )


def test_s01_a_volume_comes_to_the_pool_or_the_pool_to_the_volume() -> None:
    bound = pod(volume_affinity=(VolumeAffinity("disk", ((Requirement(labels.ZONE, "In", ("b",)),),)),))
    assert advice(bound, pool(zones=frozenset("a"))) == (
        "give p a subnet in the volume's zone, or make the volume where the pod may run"
    )


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        ({"memory": "100Gi"}, "ask for at most 13.83 GiB of memory, or let p buy g5.8xlarge ($2.448/h), the cheapest"),
        ({resources.GPU: "4"}, "let p buy g5.12xlarge ($5.672/h), the cheapest with a10g and room for it"),
        ({resources.GPU: "32"}, "ask for at most 1 nvidia.com/gpu: no instance type with GPUs has that much"),
        ({"cpu": "1k"}, "ask for at most 3.92 CPU: no instance type with GPUs has that much"),
        ({resources.EFA: "64"}, "ask for less: no instance type with GPUs has that much"),
        ({resources.EFA: "2"}, "let p buy g6e.24xlarge"),
        ({"ephemeral-storage": "50Gi"}, "ask for at most 17 GiB of ephemeral-storage, or give nodes of p a larger vol"),
    ],
)
def test_n03_what_is_too_large_is_made_smaller_or_gets_a_larger_node(asks: dict[str, str], said: str) -> None:
    asking = pod({resources.GPU: "1", **asks})
    assert advice(asking, pool()).startswith(said)


def test_a_pod_is_sent_to_no_other_architecture_where_it_can_be_helped() -> None:
    greedy = demand(pod({resources.GPU: "1", "memory": "4Gi"}))
    cheap = cheapest(greedy)
    assert cheap is not None
    assert cheap.instance.arch == "arm64"
    like = cheapest(greedy, (CATALOGUE["p4d.24xlarge"],))
    assert like is not None
    assert (like.instance.arch, like.instance.gpu_name) == ("amd64", "a100")
    large = cheapest(demand(pod({resources.GPU: "4"})), (CATALOGUE["g5g.xlarge"],))
    assert large is not None
    assert large.instance.arch == "amd64", "no such GPU comes in fours"


def test_g04_what_karpenter_does_not_know_goes_to_nodes_that_are_there() -> None:
    slices = pod({resources.mig("1g.5gb"): "1"}, tolerations=ANYWHERE)
    assert advice(slices, pool("p4d.24xlarge")) == (
        f"{FIXED}; or tell Karpenter by a NodeOverlay's capacity, or ask for nvidia.com/gpu"
    )
    assert advice(pod({resources.GPU: "1", "hugepages-2Mi": "1Gi"}), pool()) == f"{FIXED}; or ask for no hugepages-2Mi"


def test_g03_shares_that_nodes_do_not_offer_are_made_or_not_asked_for() -> None:
    group = pool(kind=PoolKind.NODE_GROUP, split=None)
    shared = pod({resources.GPU_SHARED: "1"}, tolerations=ANYWHERE)
    assert advice(shared, group) == (
        "split the GPUs of p so that its nodes have nvidia.com/gpu.shared, or ask for nvidia.com/gpu"
    )
    few = pool(kind=PoolKind.NODE_GROUP, split=Shares(4, resources.GPU_SHARED))
    assert advice(pod({resources.GPU_SHARED: "5"}, tolerations=ANYWHERE), few) == (
        "ask for at most 4 nvidia.com/gpu.shared"
    )


def test_bounds_of_the_pool_are_widened() -> None:
    assert advice(pod(), pool(kind=PoolKind.NODE_GROUP, size=Size(maximum=0))) == (
        "raise the largest size of p to 1 at least"
    )
    assert advice(pod(), pool(limits={resources.GPU: "0"})) == "raise the limit of p to 1 nvidia.com/gpu at least"
    assert advice(pod(), pool(kubelet=Kubelet(max_pods=2)), daemons=2).startswith("let nodes of p have more pods")
    few = Requirement(labels.INSTANCE_FAMILY, "In", ("g5", "g6"), 2)
    assert advice(pod(), pool(requirements=(few,))) == (
        "lower minValues of karpenter.k8s.aws/instance-family to 1, or let p buy more types that fit the pod"
    )


def test_a_pool_without_types_buys_one() -> None:
    assert advice(pod(), Pool(name="p", kind=PoolKind.NODE_POOL, types=())).endswith(
        "the cheapest type with room for it"
    )
