"""SHARE005: something can provision shared, MIG and DRA demand."""

from __future__ import annotations

import pytest

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.versions import GPU_OPERATOR, KARPENTER, NVIDIA_DEVICE_PLUGIN
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, messages, not_concerned, passes

MIXED = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"mig": {"strategy": mig.MIXED}})
SINGLE = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values={"mig": {"strategy": mig.SINGLE}})
ANYWHERE = [{"operator": "Exists"}]


def group(kind: str = "p4d.24xlarge", layout: str | None = "all-1g.5gb", **props: object) -> Resource:
    own = {} if layout is None else {labels.MIG_CONFIG: layout}
    return examples.node_group(None, "group", instanceTypes=[kind], labels=own, **props)


def pool(kind: str = "p4d.24xlarge", layout: str | None = "all-1g.5gb", /, *, replicas: int | None = None) -> Resource:
    own = {} if layout is None else {labels.MIG_CONFIG: layout}
    dynamic = changed(examples.node_pool("pool", types=(kind,)), "spec.template.metadata.labels", own)
    return changed(dynamic, "spec.replicas", replicas)


def pod(resource: str, pieces: object = 1, owner: str = "kubernetes:apps/v1:Deployment", **selector: str) -> Resource:
    box = examples.container(resources={"limits": {resource: pieces}})
    server = examples.deployment(box, tolerations=ANYWHERE, nodeSelector=selector)
    return examples.resource(owner, server.name, server.props)


def slice_of(profile: str) -> Resource:
    return pod(resources.mig(profile))


def karpenter(version: str = KARPENTER.version, **settings: object) -> Resource:
    return examples.release(
        "karpenter", "oci://public.ecr.aws/karpenter/karpenter", version, values={"settings": settings}
    )


def overlay(resource: str, *requirements: tuple[str, str, str], amount: object = "56") -> Resource:
    wanted = [{"key": key, "operator": operator, "values": [value]} for key, operator, value in requirements]
    spec = {"requirements": wanted, "capacity": {resource: amount}}
    return examples.resource(tokens.NODE_OVERLAY, "slices", {"metadata": {"name": "slices"}, "spec": spec})


GATE = karpenter(featureGates={"nodeOverlay": True})
P4D = (labels.INSTANCE_TYPE, "In", "p4d.24xlarge")


def test_g04_a_group_with_the_layout_serves_its_slices() -> None:
    assert passes(judge("SHARE005", MIXED, group(), slice_of("1g.5gb")))


def test_g04_a_dynamic_pool_with_the_same_layout_does_not() -> None:
    message = complaint(judge("SHARE005", MIXED, pool(), slice_of("1g.5gb")))
    assert message == (
        "asks nvidia.com/mig-1g.5gb, and no pool makes a node for it: pool makes nodes on demand, and Karpenter does "
        "not know that they have nvidia.com/mig-1g.5gb"
    )


def test_g04_a_static_pool_does() -> None:
    assert passes(judge("SHARE005", MIXED, pool(replicas=1), slice_of("1g.5gb")))


@pytest.mark.parametrize(
    ("kind", "layout", "reason"),
    [
        ("p4d.24xlarge", "all-4g.20gb", "buys the a100 of p4d.24xlarge, which has no profile 4g.40gb (it has 4g.20gb)"),
        ("g5.48xlarge", "all-4g.40gb", "buys a10g, which has no MIG"),
        ("p4de.24xlarge", "all-1g.10gb", "has the layout all-1g.10gb, which makes no 4g.40gb"),
        ("p4de.24xlarge", None, "is not partitioned: no label nvidia.com/mig.config names a layout"),
        ("p4de.24xlarge", "all-disabled", "is not partitioned: no label nvidia.com/mig.config names a layout"),
    ],
)
def test_g04_the_profile_must_be_the_models_and_in_the_layout(kind: str, layout: str | None, reason: str) -> None:
    message = complaint(judge("SHARE005", MIXED, group(kind, layout), slice_of("4g.40gb")))
    assert message.endswith(f"group {reason}")


def test_g04_a_p4de_has_the_profile_that_a_p4d_has_not() -> None:
    assert passes(judge("SHARE005", MIXED, group("p4de.24xlarge", "all-4g.40gb"), slice_of("4g.40gb")))


def test_g04_single_offers_whole_names_only() -> None:
    message = complaint(judge("SHARE005", SINGLE, group(), slice_of("1g.5gb")))
    assert message.endswith("group advertises its partitions as nvidia.com/gpu (strategy single, not mixed)")
    chart = examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version)
    assert "has no strategy for partitions" in complaint(judge("SHARE005", chart, group(), slice_of("1g.5gb")))


def test_g04_an_overlay_with_its_gate_on_serves_a_dynamic_pool() -> None:
    added = overlay(resources.mig("1g.5gb"), P4D)
    assert passes(judge("SHARE005", MIXED, GATE, pool(), added, slice_of("1g.5gb")))
    by_pool = overlay(resources.mig("1g.5gb"), (labels.KARPENTER_NODEPOOL, "In", "pool"))
    assert passes(judge("SHARE005", MIXED, GATE, pool(), by_pool, slice_of("1g.5gb")))


def test_g04_an_overlay_without_its_gate_is_ignored() -> None:
    added = overlay(resources.mig("1g.5gb"), P4D)
    message = complaint(judge("SHARE005", MIXED, karpenter(), pool(), added, slice_of("1g.5gb")))
    assert message.endswith("by a NodeOverlay, which Karpenter ignores until settings.featureGates.nodeOverlay is true")
    assert left_open(judge("SHARE005", MIXED, pool(), added, slice_of("1g.5gb"))) == [
        "settings.featureGates.nodeOverlay"
    ]


@pytest.mark.parametrize(
    "added",
    [
        overlay(resources.mig("2g.10gb"), P4D),
        overlay(resources.mig("1g.5gb"), (labels.INSTANCE_TYPE, "In", "p4de.24xlarge")),
        overlay(resources.mig("1g.5gb"), P4D, amount="0"),
    ],
    ids=["another slice", "another type", "none"],
)
def test_g04_an_overlay_for_something_else_does_not_serve(added: Resource) -> None:
    assert "does not know" in complaint(judge("SHARE005", MIXED, GATE, pool(), added, slice_of("1g.5gb")))


def test_g04_one_pool_that_serves_is_enough() -> None:
    assert passes(judge("SHARE005", MIXED, pool(), group(), slice_of("1g.5gb")))


def test_g04_only_pools_that_let_the_pod_on_count() -> None:
    chosen = pod(resources.mig("1g.5gb"), **{labels.KARPENTER_NODEPOOL: "pool"})
    assert "pool makes nodes on demand" in complaint(judge("SHARE005", MIXED, pool(), group(), chosen))


def test_g04_a_pod_that_taints_keep_off_is_another_rules() -> None:
    shy = changed(slice_of("1g.5gb"), "spec.template.spec.tolerations", [])
    assert passes(judge("SHARE005", MIXED, group(), shy))
    assert "has no MIG" in complaint(judge("SHARE005", MIXED, group("g5.xlarge", None), shy))


def test_g04_pools_that_would_serve_and_keep_the_pod_off_do_not_count() -> None:
    shy = [{"key": resources.GPU, "operator": "Exists"}]
    asking = changed(slice_of("1g.5gb"), "spec.template.spec.tolerations", shy)
    plain = examples.node_group(None, "plain", instanceTypes=["g5.xlarge"], labels={"team": "a"})
    taint = {"key": "team", "value": "b", "effect": "NO_SCHEDULE"}
    tainted = group(taints=[taint])
    message = complaint(judge("SHARE005", MIXED, plain, tainted, asking))
    assert message.endswith("no pool makes a node for it: plain buys a10g, which has no MIG")
    choosy = changed(asking, "spec.template.spec.nodeSelector", {"team": "a"})
    assert complaint(judge("SHARE005", MIXED, plain, group(), choosy)).endswith("plain buys a10g, which has no MIG")


def test_g04_a_layout_that_nobody_knows_here_may_make_the_slices() -> None:
    assert passes(judge("SHARE005", MIXED, group(layout="team"), slice_of("1g.5gb")))


def test_g04_layouts_of_ones_own_are_read() -> None:
    text = "version: v1\nmig-configs:\n  all-disabled: []\n  team: [{mig-enabled: true, mig-devices: {1g.5gb: 7}}]\n"
    values = {"mig": {"strategy": mig.MIXED}, "migManager": {"config": {"name": "own", "data": {"config.yaml": text}}}}
    operator = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    assert passes(judge("SHARE005", operator, group(layout="team"), slice_of("1g.5gb")))
    assert "makes no 2g.10gb" in complaint(judge("SHARE005", operator, group(layout="team"), slice_of("2g.10gb")))


def test_g04_a_layout_may_make_the_slices_on_some_of_a_nodes_gpus() -> None:
    entries = "[{mig-enabled: true, mig-devices: {3g.20gb: 2}}, {mig-enabled: true, mig-devices: {1g.5gb: 7}}]"
    text = f"version: v1\nmig-configs:\n  all-disabled: []\n  team: {entries}\n"
    values = {"mig": {"strategy": mig.MIXED}, "migManager": {"config": {"name": "own", "data": {"config.yaml": text}}}}
    operator = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    assert passes(judge("SHARE005", operator, group(layout="team"), slice_of("1g.5gb")))
    assert passes(judge("SHARE005", operator, group(layout="team"), slice_of("3g.20gb")))


def renamed(rename: str = "true") -> Resource:
    text = (
        f"version: v1\nsharing: {{timeSlicing: {{renameByDefault: {rename}, "
        "resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"
    )
    values = {"config": {"map": {"default": text}}}
    return examples.release("plugin", NVIDIA_DEVICE_PLUGIN.name, NVIDIA_DEVICE_PLUGIN.version, values=values)


def test_g03_renamed_shares_need_a_static_pool_or_an_overlay() -> None:
    asking = pod(resources.GPU_SHARED)
    assert passes(judge("SHARE005", renamed(), group("g5.xlarge", None), asking))
    message = complaint(judge("SHARE005", renamed(), pool("g5.xlarge", None), asking))
    assert message.endswith("Karpenter does not know that they have nvidia.com/gpu.shared")
    added = overlay(resources.GPU_SHARED, (labels.INSTANCE_FAMILY, "In", "g5"), amount=4)
    assert passes(judge("SHARE005", renamed(), GATE, pool("g5.xlarge", None), added, asking))
    whole = complaint(judge("SHARE005", renamed("false"), group("g5.xlarge", None), asking))
    assert whole.endswith("group does not share its GPUs as nvidia.com/gpu.shared")


def test_g03_plain_gpus_on_a_sliced_dynamic_pool_fail_above_the_physical_count_only() -> None:
    sliced = (renamed("false"), pool("g5.xlarge", None))
    assert passes(judge("SHARE005", *sliced, pod(resources.GPU)))
    message = complaint(judge("SHARE005", *sliced, pod(resources.GPU, 2)))
    assert "as many as it has whole GPUs (1 on pool) and buys none" in message
    assert passes(judge("SHARE005", renamed("false"), group("g5.xlarge", None), pod(resources.GPU, 2)))
    assert passes(judge("SHARE005", renamed("false"), pool("g5.12xlarge", None), pod(resources.GPU, 4)))


def test_g03_the_largest_type_of_the_largest_pool_is_the_measure() -> None:
    some = examples.node_pool("some", types=("g5.xlarge", "g5.12xlarge"))
    assert passes(judge("SHARE005", renamed("false"), some, pod(resources.GPU, 4)))
    assert "(4 on some)" in complaint(judge("SHARE005", renamed("false"), some, pod(resources.GPU, 5)))
    assert passes(judge("SHARE005", renamed("false"), some, pool("g5.48xlarge", None), pod(resources.GPU, 5)))


def test_g04_whole_gpus_of_mixed_partitions_are_another_rules() -> None:
    assert not judge("SHARE005", MIXED, pool(), pod(resources.GPU, 9)).findings


def test_g03_whole_gpus_of_renamed_shares_are_another_rules() -> None:
    assert not judge("SHARE005", renamed("true"), pool("g5.xlarge", None), pod(resources.GPU, 2)).findings


def test_g03_an_overlay_tells_karpenter_of_shares_under_their_own_name() -> None:
    added = overlay(resources.GPU, (labels.INSTANCE_FAMILY, "In", "g5"), amount=4)
    assert passes(judge("SHARE005", renamed("false"), GATE, pool("g5.xlarge", None), added, pod(resources.GPU, 2)))


def test_g04_single_partitions_on_a_dynamic_pool_fail_above_the_physical_count_only() -> None:
    assert passes(judge("SHARE005", SINGLE, pool(), pod(resources.GPU, 8)))
    assert "(8 on pool)" in complaint(judge("SHARE005", SINGLE, pool(), pod(resources.GPU, 9)))


def claiming() -> Resource:
    box = examples.container(resources={"claims": [{"name": "gpu"}]})
    return examples.deployment(box, tolerations=ANYWHERE, resourceClaims=[{"name": "gpu"}])


def test_g04_claims_need_a_static_pool_or_a_karpenter_that_knows_them() -> None:
    dynamic = pool("g5.xlarge", None)
    assert passes(judge("SHARE005", group("g5.xlarge", None), claiming()))
    assert passes(judge("SHARE005", karpenter("1.15.1", enableDRA=True), dynamic, claiming()))
    for release in (karpenter("1.14.1", enableDRA=True), karpenter("1.15.1")):
        message = complaint(judge("SHARE005", release, dynamic, claiming()))
        assert message.endswith("Karpenter ignores claims before 1.15 and without settings.enableDRA")
    beside = changed(claiming(), "spec.template.spec.initContainers", [{"name": "fetch", "image": "x:1"}])
    assert "Karpenter ignores claims" in complaint(judge("SHARE005", karpenter("1.15.1"), dynamic, beside))
    auto = changed(dynamic, "spec.template.spec.nodeClassRef.group", labels.EKS_AUTO_DOMAIN)
    assert "EKS Auto Mode" in complaint(judge("SHARE005", auto, claiming()))
    assert left_open(judge("SHARE005", dynamic, claiming())) == ["settings.enableDRA"]


@pytest.mark.parametrize("owner", ["kubernetes:kubeflow.org/v1:PyTorchJob", "kubernetes:batch/v1:Job"])
def test_g04_training_across_slices_has_no_nccl(owner: str) -> None:
    two = pod(resources.mig("1g.5gb"), 2, owner)
    assert "asks 2 slices of GPUs for training" in complaint(judge("SHARE005", MIXED, group(), two))
    assert passes(judge("SHARE005", MIXED, group(), pod(resources.mig("1g.5gb"), 1, owner)))
    assert passes(judge("SHARE005", MIXED, group(), pod(resources.mig("1g.5gb"), 2)))


def test_g04_shares_of_slices_are_left_open() -> None:
    """The plugin's documentation slices partitions, too; under a name of their own or not, nobody counts them here."""
    entry = f"    - name: {resources.mig('1g.5gb')}\n      replicas: 2\n"
    text = f"version: v1\nsharing:\n  timeSlicing:\n    renameByDefault: true\n    resources:\n{entry}"
    values = {"mig": {"strategy": mig.MIXED}, "devicePlugin": {"config": {"data": {"a": text}, "default": "a"}}}
    release = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    for name in (resources.mig("1g.5gb"), resources.mig("1g.5gb") + ".shared"):
        assert left_open(judge("SHARE005", release, group(), pod(name))) == ["device plugin"]
        assert not judge("WORK001", release, group(), pod(name)).findings
    assert "which has no profile 4g.40gb" in complaint(
        judge("SHARE005", release, group(), pod(resources.mig("4g.40gb") + ".shared"))
    )


def test_g04_a_default_layout_makes_slices_where_no_label_does() -> None:
    values = {"mig": {"strategy": mig.MIXED}, "migManager": {"config": {"default": "all-1g.5gb"}}}
    release = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    assert passes(judge("SHARE005", release, group(layout=None), slice_of("1g.5gb")))
    assert "which makes no 2g.10gb" in complaint(judge("SHARE005", release, group(layout=None), slice_of("2g.10gb")))
    off = judge("SHARE005", release, group(layout=mig.ALL_DISABLED), slice_of("1g.5gb"))
    assert "is not partitioned" in complaint(off)


def test_g04_a_default_layout_is_for_gpus_that_have_mig() -> None:
    values = {"mig": {"strategy": mig.SINGLE}, "migManager": {"config": {"default": "all-1g.5gb"}}}
    release = examples.release("operator", GPU_OPERATOR.name, GPU_OPERATOR.version, values=values)
    assert passes(judge("SHARE005", release, pool("g5.12xlarge", None), pod(resources.GPU, 5)))
    assert "(8 on pool)" in complaint(judge("SHARE005", release, pool("p4d.24xlarge", None), pod(resources.GPU, 9)))


def test_each_finding_has_a_remedy_of_its_own() -> None:
    def fix(*program: Resource) -> str:
        return judge("SHARE005", *program).findings[0].fix

    assert "mig.strategy" in fix(MIXED, pool(), slice_of("1g.5gb"))
    assert "renameByDefault" in fix(renamed("true"), pool("g5.xlarge", None), pod(resources.GPU_SHARED))
    assert "Karpenter 1.15 or newer" in fix(karpenter("1.15.1"), pool("g5.xlarge", None), claiming())
    assert fix(SINGLE, pool(), pod(resources.GPU, 9)).startswith("ask no more than one node has whole GPUs")


def test_unset_and_unknown() -> None:
    assert passes(judge("SHARE005", examples.node_pool(), examples.deployment()))
    assert passes(judge("SHARE005", examples.deployment()))
    assert left_open(judge("SHARE005", slice_of("1g.5gb"))) == ["GPU pools"]
    assert left_open(judge("SHARE005", group(), slice_of("1g.5gb"))) == ["device plugin"]
    assert left_open(judge("SHARE005", MIXED, changed(group(), "labels", UNKNOWN), slice_of("1g.5gb"))) == ["labels"]
    assert left_open(judge("SHARE005", MIXED, changed(group(), "instanceTypes", UNKNOWN), slice_of("1g.5gb"))) == [
        "instanceTypes"
    ]


def test_a_pool_that_fails_surely_fails_beside_what_is_not_known() -> None:
    assert "does not know that they have" in complaint(judge("SHARE005", pool(), slice_of("1g.5gb")))
    assert "does not know that they have" in complaint(
        judge("SHARE005", pool("g5.xlarge", None), pod(resources.GPU_SHARED))
    )


def test_in_manifests_only_pools_that_let_the_pod_on_are_judged() -> None:
    def said(*resources_: Resource) -> Report:
        return evaluate(
            resources_,
            environment=Environment.PROD,
            rules=(BY_ID["SHARE005"],),
            today=TODAY,
            options=Options(manifests_only=True),
        )

    assert "does not know" in complaint(said(pool(), slice_of("1g.5gb")))
    assert left_open(said(pool("g5.xlarge", None), slice_of("1g.5gb"))) == ["GPU pools"]


def test_other_pods_are_not_concerned() -> None:
    web = examples.deployment(examples.container(resources={}))
    assert not_concerned(judge("SHARE005", MIXED, pool(), web))


def test_public_examples_pass() -> None:
    """The EKS user guide's MIG on a managed group, and whole GPUs with Karpenter beside a sliced development pool."""
    guide = pod(resources.mig("2g.10gb"), owner="kubernetes:apps/v1:Deployment")
    assert messages(judge("SHARE005", MIXED, group(layout="all-balanced"), guide)) == {}
    assert messages(judge("SHARE005", renamed("false"), pool("g5.xlarge", None), examples.deployment())) == {}
