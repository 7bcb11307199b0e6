"""WORK004: CPU pods do not tolerate GPU nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eks_gpu.facts import labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes, unknown

ANY = {"operator": "Exists"}
GPU = {"key": resources.GPU, "operator": "Exists", "effect": "NoSchedule"}
CLUSTER = examples.resource("aws:eks/cluster:Cluster", "ml", {})


def web(*tolerations: object, **spec: object) -> Resource:
    box = examples.container(name="web", image="nginx:1.29.0", resources={}, startupProbe=None, volumeMounts=None)
    return examples.deployment(box, name="web", volumes=[], tolerations=list(tolerations), **spec)


def requires(key: str, operator: str, *values: str) -> dict[str, object]:
    terms = [{"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_n05_a_blanket_toleration_fails() -> None:
    assert complaint(judge("WORK004", web(ANY))) == (
        "tolerates every taint and asks for no GPU, and nothing keeps it off GPU nodes: one stays for as long as it "
        "runs there"
    )


@pytest.mark.parametrize(
    "toleration", [GPU, {"key": resources.GPU, "value": "present", "effect": "NoSchedule"}, {**GPU, "effect": ""}]
)
def test_n05_a_toleration_of_the_gpu_taint_fails(toleration: dict[str, str]) -> None:
    assert "tolerates nvidia.com/gpu and asks for no GPU" in complaint(judge("WORK004", web(toleration)))


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
    ],
    ids=["of the EBS driver's controller", "of CoreDNS", "of an operator"],
)
def test_other_tolerations_are_not_concerned(toleration: dict[str, object]) -> None:
    assert not_concerned(judge("WORK004", web(toleration)))
    assert not_concerned(judge("WORK004", web()))


@pytest.mark.parametrize(
    ("annotations", "limits", "asks"),
    [
        ({"gpu-fraction": "0.5"}, {}, True),
        ({"gpu-memory": "4096"}, {}, True),
        ({}, {"volcano.sh/vgpu-number": "1"}, True),
        ({"example.com/note": "gpu"}, {"memory": "1Gi"}, False),
        ({}, {resources.GPU: "0"}, False),
    ],
)
def test_a_part_of_a_gpu_may_be_asked_for_in_the_words_of_others(
    annotations: dict[str, str], limits: dict[str, str], asks: bool
) -> None:
    box = examples.container(resources={"limits": limits})
    tolerant = examples.deployment(box, tolerations=[{"key": resources.GPU, "operator": "Exists"}])
    report = judge("WORK004", changed(tolerant, "spec.template.metadata.annotations", annotations))
    assert not_concerned(report) if asks else "asks for no GPU" in complaint(report)


def test_gpu_pods_and_daemon_sets_are_not_concerned() -> None:
    assert not_concerned(judge("WORK004", examples.deployment(tolerations=[GPU])))
    daemon = replace(web(ANY), type="kubernetes:apps/v1:DaemonSet")
    assert not_concerned(judge("WORK004", daemon))


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {labels.INSTANCE_TYPE: "m7i.large"}},
        {"nodeSelector": {labels.INSTANCE_CATEGORY: "c"}},
        {"nodeSelector": {labels.KARPENTER_NODEPOOL: "general-purpose"}},
        {"nodeSelector": {"eks.amazonaws.com/instance-category": "m"}},
        {"nodeSelector": {labels.WORKLOAD: "system"}},
        {"affinity": requires(labels.GPU_PRESENT, "DoesNotExist")},
        {"affinity": requires(labels.GPU_PRESENT, "NotIn", "true")},
        {"affinity": requires(labels.INSTANCE_GPU_COUNT, "DoesNotExist")},
        {
            "affinity": requires(labels.INSTANCE_FAMILY, "NotIn", *{"x"})
            | requires("karpenter.sh/nodepool", "In", "web")
        },
    ],
)
def test_n05_a_selector_that_excludes_gpu_nodes_passes(spec: dict[str, object]) -> None:
    assert passes(judge("WORK004", web(ANY, **spec)))


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {labels.OS: "linux", labels.ARCH: "amd64"}},
        {"nodeSelector": {labels.INSTANCE_TYPE: "g5.xlarge"}},
        {"nodeSelector": {labels.GPU_PRESENT: "true"}},
        {"nodeSelector": {labels.KARPENTER_NODEPOOL: "gpu-a10g"}},
        {"nodeSelector": {labels.EKS_NODE_GROUP: "ml-g5"}},
        {"nodeSelector": {labels.WORKLOAD: "inference"}},
        {"affinity": requires(labels.INSTANCE_CATEGORY, "In", "c", "m", "g")},
    ],
)
def test_n05_a_selector_that_lets_it_onto_gpu_nodes_fails(spec: dict[str, object]) -> None:
    assert "nothing keeps it off" in complaint(judge("WORK004", web(GPU, **spec)))


def test_n05_every_term_of_an_affinity_must_keep_it_off() -> None:
    off = requires(labels.GPU_PRESENT, "DoesNotExist")
    required = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    pod = web(ANY, affinity=off)
    terms = [
        {"matchExpressions": [{"key": labels.GPU_PRESENT, "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": labels.ARCH, "operator": "In", "values": ["arm64"]}]},
    ]
    assert "nothing keeps it off" in complaint(judge("WORK004", changed(pod, f"{required}.nodeSelectorTerms", terms)))


def test_n05_the_pools_of_the_stack_tell_which_nodes_stay() -> None:
    message = complaint(judge("WORK004", web(GPU), examples.node_pool()))
    assert message.endswith("a node of g5 (up to $1.21/h) stays for as long as it runs there")
    other = {"key": "team", "value": "ml", "effect": "NoSchedule"}
    assert passes(judge("WORK004", web(GPU), examples.node_pool(taints=(other,))))
    assert passes(judge("WORK004", web(GPU, nodeSelector={"role": "web"}), examples.node_pool()))


def test_a_cluster_without_gpu_pools_has_nothing_to_lose() -> None:
    assert passes(judge("WORK004", web(ANY), CLUSTER))


def test_pods_of_charts_and_of_the_system_are_not_concerned() -> None:
    named = changed(web(ANY), "spec.template.metadata.labels", {"helm.sh/chart": "gpu-operator-v26.7.0"})
    assert not_concerned(judge("WORK004", named))
    assert not_concerned(judge("WORK004", changed(web(ANY), "spec.template.metadata.labels", {"app": "gpu-operator"})))
    assert not_concerned(judge("WORK004", web(ANY, priorityClassName="system-cluster-critical")))


def test_pods_under_nvidias_runtime_and_unfinished_templates_are_not_concerned() -> None:
    assert not_concerned(judge("WORK004", web(GPU, runtimeClassName="nvidia")))
    executor = {"spec": {"containers": [{"name": "spark-kubernetes-executor"}], "tolerations": [GPU]}}
    assert not_concerned(judge("WORK004", examples.resource("kubernetes:core/v1:Pod", "executor", executor)))


def test_a_launcher_beside_its_gpu_workers_passes_and_rays_head_does_not() -> None:
    boxes = {
        "Launcher": [{"name": "launcher", "image": "nccl-tests:1"}],
        "Worker": [{"name": "worker", "image": "nccl-tests:1", "resources": {"limits": {resources.GPU: 8}}}],
    }
    replicas = {role: {"template": {"spec": {"containers": box, "tolerations": [GPU]}}} for role, box in boxes.items()}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "nccl", {"spec": {"mpiReplicaSpecs": replicas}})
    assert passes(judge("WORK004", job))
    ray = examples.resource(
        "kubernetes:ray.io/v1:RayCluster",
        "ray",
        {
            "spec": {
                "headGroupSpec": replicas["Launcher"],
                "workerGroupSpecs": [replicas["Worker"]],
            }
        },
    )
    assert "nothing keeps it off" in complaint(judge("WORK004", ray))


def test_a_launchers_workers_may_ask_by_claims_whose_class_is_in_the_stack() -> None:
    spec = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}
    props = {"metadata": {"name": "w"}, "spec": {"spec": spec}}
    template = examples.resource("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate", "w", props)
    worker = {
        "containers": [{"name": "worker", "image": "x:1", "resources": {"claims": [{"name": "dev"}]}}],
        "resourceClaims": [{"name": "dev", "resourceClaimTemplateName": "w"}],
    }
    launcher = {"containers": [{"name": "launcher", "image": "x:1"}], "tolerations": [GPU]}
    replicas = {"Launcher": {"template": {"spec": launcher}}, "Worker": {"template": {"spec": worker}}}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "train", {"spec": {"mpiReplicaSpecs": replicas}})
    assert passes(judge("WORK004", template, job))


def test_n05_a_job_without_gpus_starts_nobody() -> None:
    job = replace(web(ANY), type="kubernetes:batch/v1:Job")
    assert "tolerates every taint and asks for no GPU" in complaint(judge("WORK004", job))


def test_n05_every_toleration_is_looked_at() -> None:
    eviction = {"operator": "Exists", "effect": "NoExecute"}
    assert f"tolerates {resources.GPU}" in complaint(judge("WORK004", web(eviction, GPU)))


def test_n05_the_dearest_pool_is_named_with_its_price() -> None:
    unknown_price = examples.node_pool("new", types=("g99.xlarge",))
    cheap, dear = examples.node_pool("t4", types=("g4dn.xlarge",)), examples.node_pool("a100", types=("p4d.24xlarge",))
    for pools in ((unknown_price, cheap, dear), (dear, cheap, unknown_price)):
        assert "a node of a100 (up to $21.96/h)" in complaint(judge("WORK004", web(GPU), *pools))
    for two in ((unknown_price, cheap), (cheap, unknown_price)):
        assert "a node of t4 (up to $0.53/h)" in complaint(judge("WORK004", web(GPU), *two))


def test_n05_gpus_that_nobody_knows_are_gpus() -> None:
    pool = examples.node_pool("new", types=("g99.xlarge",))
    assert "nothing keeps it off" in complaint(judge("WORK004", web(GPU), pool))
    assert passes(judge("WORK004", web(GPU, nodeSelector={"role": "web"}), pool))


def test_a_pool_that_may_buy_anything_is_no_gpu_pool_to_it() -> None:
    everything = changed(
        examples.node_pool("any", taints=(), limits={"cpu": "100"}), "spec.template.spec.requirements", []
    )
    assert passes(judge("WORK004", web(ANY), CLUSTER, everything))


def test_cpu_pools_that_it_lands_on_are_what_they_are_for() -> None:
    pools = (examples.node_pool("cpu", types=("m6i.large",), taints=()), examples.node_pool())
    assert passes(judge("WORK004", web(GPU, nodeSelector={labels.KARPENTER_NODEPOOL: "cpu"}), *pools))


def test_unknown_tolerations_and_selectors_are_left_open() -> None:
    assert left_open(judge("WORK004", unknown(web(ANY), "spec.template.spec.tolerations"))) == [
        "spec.template.spec.tolerations"
    ]
    pod = changed(web(ANY), "spec.template.spec.nodeSelector", UNKNOWN)
    assert left_open(judge("WORK004", pod)) == ["spec.template.spec.nodeSelector"]


def test_a_pool_of_which_nothing_is_known_leaves_it_to_the_selector() -> None:
    pool = unknown(examples.node_pool(), "spec.template.spec.requirements")
    assert "nothing keeps it off" in complaint(judge("WORK004", web(GPU), pool))
    assert passes(judge("WORK004", web(GPU, nodeSelector={"role": "web"}), pool))
