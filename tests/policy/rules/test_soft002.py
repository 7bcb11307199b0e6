"""SOFT002: one owner of the GPU per pool."""

from __future__ import annotations

import base64

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.taints import GPU
from eks_gpu.facts.versions import DCGM_EXPORTER, GPU_OPERATOR, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Undecided
from eks_gpu_policies.rules import BY_ID
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown

RULE = "SOFT002"
BOTTLEROCKET = "BOTTLEROCKET_x86_64_NVIDIA"
CLUSTER = examples.resource("aws:eks/cluster:Cluster", "ml", {"version": "1.35"})
STATIC = (
    "https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.0/deployments/static/nvidia-device-plugin.yml"
)


def plugin(name: str = "plugin", **values: object) -> Resource:
    return examples.release(name, NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=values)


def operator(**values: object) -> Resource:
    return examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)


def dra(**values: object) -> Resource:
    return examples.release("dra", "nvidia-dra-driver-gpu", "25.8.0", values=values)


def pool(name: str = "gpu", **props: object) -> Resource:
    return examples.node_group(None, name, None, **props)


# --- the worked example ----------------------------------------------------------------------------------------------


def test_g02_bottlerocket_and_the_operators_defaults_are_two_owners() -> None:
    report = judge(RULE, CLUSTER, operator(), pool(amiType=BOTTLEROCKET))
    told = complaint(report)
    assert report.findings[0].fix.startswith("Bottlerocket's NVIDIA image keeps its own: keep the others off the pool")
    assert "gpu has 2 owners of its GPUs: Bottlerocket's NVIDIA image, the GPU Operator (operator)" in told


def test_g02_bottlerocket_and_an_operator_without_its_plugin_are_one() -> None:
    assert passes(judge(RULE, CLUSTER, operator(devicePlugin={"enabled": False}), pool(amiType=BOTTLEROCKET)))


# --- several ---------------------------------------------------------------------------------------------------------


def test_g02_operator_and_plugin_are_two() -> None:
    (finding,) = judge(RULE, CLUSTER, operator(), plugin(), pool()).findings
    assert "the device plugin plugin" in finding.message
    assert "the GPU Operator (operator)" in finding.message
    assert "set devicePlugin.enabled: false in the values of operator" in finding.fix


@pytest.mark.parametrize("key", ["nvidia.com/gpu.deploy.operands", labels.DEPLOY_DEVICE_PLUGIN])
def test_g02_a_pool_that_opts_out_of_the_operator_has_the_other(key: str) -> None:
    out = pool(labels={**labels.pool_labels("a10g", "inference"), key: "false"})
    assert passes(judge(RULE, CLUSTER, operator(), plugin(), out))


def test_g02_the_same_plugin_twice_is_two() -> None:
    assert "2 owners" in complaint(judge(RULE, CLUSTER, plugin("a"), plugin("b"), pool()))
    manifest = examples.resource("kubernetes:yaml/v2:ConfigFile", "static", {"file": STATIC})
    assert "2 owners" in complaint(judge(RULE, CLUSTER, plugin(), manifest, pool()))


def test_g02_a_plugin_of_ones_own_beside_the_operator_is_two() -> None:
    spec = {"containers": [{"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]}
    own = examples.resource(tokens.DAEMON_SET, "own", {"spec": {"template": {"spec": spec}}})
    assert "the device plugin own" in complaint(judge(RULE, CLUSTER, operator(), own, pool()))


@pytest.mark.parametrize(
    "image",
    [
        "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.7",
        "registry.example.com:5000/eks/aws-efa-k8s-device-plugin",
        "docker.io/rocm/k8s-device-plugin:1.31.0",
        "public.ecr.aws/neuron/neuron-device-plugin:2.26.26.0",
    ],
)
def test_g02_plugins_of_other_devices_own_no_gpu(image: str) -> None:
    spec = {"containers": [{"name": "plugin", "image": image}], "tolerations": [{"operator": "Exists"}]}
    other = examples.resource(tokens.DAEMON_SET, "other", {"spec": {"template": {"spec": spec}}})
    assert passes(judge(RULE, CLUSTER, plugin(), other, pool()))


def test_g02_a_dra_driver_beside_a_plugin_sells_each_gpu_twice() -> None:
    assert "the DRA driver dra" in complaint(judge(RULE, CLUSTER, plugin(), dra(), pool()))
    domains_only = dra(resources={"gpus": {"enabled": False}})
    assert passes(judge(RULE, CLUSTER, plugin(), domains_only, pool()))


def test_g02_a_dra_driver_that_the_engine_has_expanded_is_known_by_what_its_containers_run() -> None:
    def part(name: str, program: str) -> dict[str, object]:
        script = f"# before it starts\nif true; then\n  true\nfi\n{program} -v $(LOG_VERBOSITY)"
        return {"name": name, "image": "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.8.0", "args": ["bash", "-c", script]}

    def expanded(*containers: dict[str, object]) -> Resource:
        spec = {"containers": list(containers), "tolerations": [{"operator": "Exists"}]}
        return examples.resource(tokens.DAEMON_SET, "dra", {"spec": {"template": {"spec": spec}}})

    domains, gpus = part("compute-domains", "compute-domain-kubelet-plugin"), part("gpus", "gpu-kubelet-plugin")
    assert passes(judge(RULE, CLUSTER, plugin(), expanded(domains), pool()))
    assert "the DRA driver dra" in complaint(judge(RULE, CLUSTER, plugin(), expanded(domains, gpus), pool()))


def test_g02_what_a_taint_keeps_off_is_meant_for_the_pool_all_the_same() -> None:
    tainted = pool(taints=[GPU.eks(), {"key": "team", "value": "a", "effect": "NO_SCHEDULE"}])
    assert passes(judge(RULE, CLUSTER, plugin(), tainted))
    assert "2 owners" in complaint(judge(RULE, CLUSTER, operator(), plugin(), tainted))


def test_g02_a_selector_shares_the_pools_between_two() -> None:
    halves = [pool(half, labels={**labels.pool_labels("a10g", "inference"), "half": half}) for half in ("a", "b")]
    assert passes(judge(RULE, CLUSTER, *(plugin(half, nodeSelector={"half": half}) for half in ("a", "b")), *halves))


def test_g02_a_plugin_that_is_aimed_at_a_pool_and_kept_off_by_its_taint_is_meant_for_it() -> None:
    half = pool(labels={**labels.pool_labels("a10g", "inference"), "half": "a"})
    aimed = plugin(nodeSelector={"half": "a"}, tolerations=[])
    assert "2 owners" in complaint(judge(RULE, CLUSTER, operator(), aimed, half))
    assert left_open(judge(RULE, CLUSTER, operator(), plugin(nodeSelector=UNKNOWN), half)) == ["values.nodeSelector"]


def test_g02_slices_by_the_operator_beside_a_plugin_that_keeps_off_them() -> None:
    """AWS's own way with MIG: the plugin's affinity excludes the partitioned nodes, which the operator has."""
    sliced = pool("slices", labels={**labels.pool_labels("a100-mig", "inference"), labels.MIG_CONFIG: "all-1g.5gb"})
    whole = pool("whole", labels={**labels.pool_labels("a10g", "inference"), "nvidia.com/gpu.deploy.operands": "false"})
    off = [{"matchExpressions": [{"key": labels.MIG_CONFIG, "operator": "DoesNotExist"}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": off}}}
    assert passes(judge(RULE, CLUSTER, operator(), plugin(affinity=affinity), sliced, whole))
    assert messages(judge(RULE, CLUSTER, operator(), plugin(), sliced, whole)).keys() == {"slices"}


# --- none ------------------------------------------------------------------------------------------------------------


def test_g02_software_without_an_owner_offers_no_gpu() -> None:
    assert "nobody offers the GPUs of gpu" in complaint(
        judge(RULE, CLUSTER, operator(devicePlugin={"enabled": False}), pool())
    )
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    assert "though dcgm-exporter of exporter is meant for it" in complaint(judge(RULE, CLUSTER, exporter, pool()))


def test_g02_in_a_cluster_made_elsewhere_an_owner_may_be_there_unless_the_operator_was_told_not_to_be() -> None:
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    assert left_open(judge(RULE, exporter, pool())) == ["GPU software"]
    assert "nobody offers the GPUs" in complaint(judge(RULE, operator(devicePlugin={"enabled": False}), pool()))
    manifests = examples.resource("kubernetes:yaml/v2:ConfigFile", "plugin", {"file": "plugin.yaml"})
    assert "GPU software" in left_open(judge(RULE, CLUSTER, exporter, manifests, pool()))


def test_the_agent_of_eks_is_no_gpu_software() -> None:
    add_on = {"addonName": "eks-node-monitoring-agent", "addonVersion": "v1.7.0-eksbuild.1"}
    agent = examples.resource("aws:eks/addon:Addon", "agent", add_on)
    assert left_open(judge(RULE, CLUSTER, agent, pool())) == ["GPU software"]


def test_pools_without_any_gpu_software_are_left_open() -> None:
    assert left_open(judge(RULE, CLUSTER, pool())) == ["GPU software"]


def test_in_manifests_alone_an_owner_may_be_elsewhere() -> None:
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    stack = Stack((exporter, examples.node_class(), examples.node_pool()), Options(manifests_only=True))
    (outcome,) = BY_ID[RULE].check(stack.pools[0], stack)
    assert isinstance(outcome, Undecided)


# --- who brings its own ----------------------------------------------------------------------------------------------


def auto_pool() -> Resource:
    own = examples.node_pool("auto")
    reference = {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}
    return changed(own, "spec.template.spec.nodeClassRef", reference)


def test_auto_mode_brings_its_own() -> None:
    assert passes(judge(RULE, CLUSTER, auto_pool()))
    assert "EKS Auto Mode" in complaint(judge(RULE, CLUSTER, auto_pool(), plugin()))


def test_bottlerocket_can_leave_its_own_off() -> None:
    text = "[settings.kubelet-device-plugins.nvidia]\nenabled = false\n"
    template = examples.launch_template(userData=base64.b64encode(text.encode()).decode())
    off = examples.node_group(template, "gpu", None, amiType=BOTTLEROCKET)
    assert passes(judge(RULE, CLUSTER, operator(), template, off))


def test_bottlerocket_of_karpenter_brings_its_own() -> None:
    node_class = examples.node_class(amiSelectorTerms=[{"alias": "bottlerocket@v1.65.0"}])
    assert passes(judge(RULE, CLUSTER, node_class, examples.node_pool()))
    assert "Bottlerocket" in complaint(judge(RULE, CLUSTER, node_class, examples.node_pool(), plugin()))


# --- unknown, not concerned ------------------------------------------------------------------------------------------


def test_an_unknown_chart_or_image_is_left_open() -> None:
    assert left_open(judge(RULE, CLUSTER, unknown(plugin(), "chart"), pool())) == ["chart"]
    assert left_open(judge(RULE, CLUSTER, plugin(), unknown(pool(), "amiType"))) == ["amiType"]


def test_an_unknown_switch_is_left_open_and_one_more_owner_beside_two_is_not() -> None:
    hidden = operator(devicePlugin={"enabled": UNKNOWN})
    assert left_open(judge(RULE, CLUSTER, hidden, pool()))
    assert "2 owners" in complaint(judge(RULE, CLUSTER, hidden, plugin("a"), plugin("b"), pool()))


def test_pools_of_cpus_are_not_concerned() -> None:
    assert not_concerned(judge(RULE, CLUSTER, plugin(), pool(instanceTypes=["m7i.xlarge"])))


# --- how others do it ------------------------------------------------------------------------------------------------


def test_sound_the_operator_on_al2023_with_driver_and_toolkit_off() -> None:
    owner = operator(driver={"enabled": False}, toolkit={"enabled": False}, mig={"strategy": "mixed"})
    assert passes(judge(RULE, CLUSTER, owner, pool(), examples.node_class(), examples.node_pool()))


def test_sound_the_plugin_with_discovery_and_the_exporter() -> None:
    exporter = examples.release("exporter", DCGM_EXPORTER.name, DCGM_EXPORTER.version)
    assert passes(judge(RULE, CLUSTER, plugin(gfd={"enabled": True}), exporter, pool()))


def test_sound_the_manifest_of_the_plugins_own_repository() -> None:
    manifest = examples.resource("kubernetes:yaml/v2:ConfigFile", "static", {"file": STATIC})
    report = judge(RULE, CLUSTER, manifest, pool())
    assert (report.passed, report.findings) == (1, ())
