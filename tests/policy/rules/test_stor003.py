"""STOR003: claims can bind."""

from __future__ import annotations

import json

import pytest

from eks_gpu.facts import storage
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes, unknown
from tests.support.objects import objects

ONCE = ["ReadWriteOnce"]
MANY = ["ReadWriteMany"]


def claim(class_name: object = "shared", modes: list[str] | None = None, **spec: object) -> Resource:
    named = {} if class_name is None else {"storageClassName": class_name}
    props = {"metadata": {"name": "models"}, "spec": {"accessModes": modes or ONCE, **named, **spec}}
    return examples.resource(tokens.CLAIM, "models", props)


def of_class(provisioner: str, name: str = "shared", *, default: bool = False, **settings: object) -> Resource:
    annotations = {storage.DEFAULT_CLASS_ANNOTATION: "true"} if default else {}
    props = {"metadata": {"name": name, "annotations": annotations}, "provisioner": provisioner, **settings}
    return examples.resource(tokens.STORAGE_CLASS, name, props)


def cluster(version: object = "1.35") -> Resource:
    return examples.resource("aws:eks/cluster:Cluster", "ml", {} if version is None else {"version": version})


EFS = of_class(storage.EFS_DRIVER)
EBS = of_class(storage.EBS_DRIVER)


def volume(class_name: str | None, name: str = "models") -> Resource:
    named = {} if class_name is None else {"storageClassName": class_name}
    return examples.resource(tokens.VOLUME, name, {"metadata": {"name": name}, "spec": named})


# --- the class --------------------------------------------------------------------------------------------------------


def test_s01_a_class_of_the_stack_makes_the_volume() -> None:
    assert passes(judge("STOR003", EFS, claim()))


def test_s01_a_class_that_nobody_has_fails_where_the_clusters_classes_are_known() -> None:
    known = {"clusterClasses": ["gp3", "fast"]}
    assert complaint(judge("STOR003", EFS, claim("efs"), options=known)) == (
        "names the class efs, which is neither in the stack nor among the cluster's: fast, gp3"
    )
    assert passes(judge("STOR003", claim("gp3"), options=known))


def test_s01_without_that_it_is_left_open() -> None:
    assert left_open(judge("STOR003", claim("efs"))) == ["storageClassName"]


def test_s01_every_cluster_of_eks_has_gp2() -> None:
    assert passes(judge("STOR003", claim(storage.EKS_CLASS)))


def test_s01_drivers_bring_classes_by_their_settings() -> None:
    chart = examples.release(
        "ebs", "aws-ebs-csi-driver", "2.40.0", values={"storageClasses": [{"name": "gp3", "parameters": {}}]}
    )
    assert passes(judge("STOR003", chart, claim("gp3")))
    assert left_open(judge("STOR003", chart, claim("io2"))) == ["storageClassName"]


def test_s01_a_class_that_is_made_with_a_name_of_pulumis_is_found_by_its_origin() -> None:
    unnamed = examples.resource(
        tokens.CLAIM,
        "models",
        {"spec": {"accessModes": MANY, "storageClassName": UNKNOWN}},
        spec=(EFS,),
    )
    assert passes(judge("STOR003", EFS, unnamed))
    assert left_open(judge("STOR003", claim(UNKNOWN))) == ["spec.storageClassName"]


# --- no class ---------------------------------------------------------------------------------------------------------


def test_s02_a_new_cluster_has_no_default_class() -> None:
    message = complaint(judge("STOR003", cluster(), EFS, claim(None)))
    assert message == "names no class, and nothing in the stack makes a default one; EKS does not since 1.30"
    assert complaint(judge("STOR003", cluster(None), claim(None))).startswith("names no class")
    assert complaint(judge("STOR003", cluster("1.30"), claim(None))).startswith("names no class")
    assert passes(judge("STOR003", cluster("1.29"), claim(None)))


@pytest.mark.parametrize(
    "default",
    [
        of_class(storage.EBS_DRIVER, default=True),
        examples.resource(
            "kubernetes:storage.k8s.io/v1:StorageClassPatch",
            "gp2",
            {"metadata": {"name": "gp2", "annotations": {storage.DEFAULT_CLASS_ANNOTATION: "true"}}},
        ),
        examples.release("ebs", "aws-ebs-csi-driver", "2.40.0", values={"defaultStorageClass": {"enabled": True}}),
        examples.resource(
            "aws:eks/addon:Addon",
            "ebs",
            {
                "addonName": "aws-ebs-csi-driver",
                "configurationValues": json.dumps({"defaultStorageClass": {"enabled": True}}),
            },
        ),
        examples.resource(tokens.CLUSTER_COMPONENT, "eks", {"version": "1.35", "storageClasses": "gp3"}),
        examples.resource(
            tokens.CLUSTER_COMPONENT, "eks", {"version": "1.35", "storageClasses": {"fast": {"default": True}}}
        ),
    ],
    ids=["a class", "a patch of gp2", "the driver's chart", "the driver's add-on", "the component", "one of several"],
)
def test_s02_a_default_class_may_come_from_many_hands(default: Resource) -> None:
    assert passes(judge("STOR003", cluster(), default, claim(None)))


def test_s02_an_add_on_without_a_default_class_makes_none() -> None:
    add_on = examples.resource(
        "aws:eks/addon:Addon", "ebs", {"addonName": "aws-ebs-csi-driver", "configurationValues": "not: json"}
    )
    assert complaint(judge("STOR003", cluster(), add_on, claim(None))).startswith("names no class")


def test_s02_whether_somebody_elses_cluster_has_a_default_class_is_left_open() -> None:
    assert left_open(judge("STOR003", claim(None))) == ["storageClassName"]
    assert left_open(judge("STOR003", cluster(UNKNOWN), claim(None))) == ["version"]


# --- sharing EBS ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_s01_ebs_is_one_nodes(mode: str) -> None:
    assert complaint(judge("STOR003", EBS, claim(modes=[mode]))) == (
        f"asks {mode} of EBS, whose file systems are one node's"
    )
    assert passes(judge("STOR003", EFS, claim(modes=[mode])))
    assert passes(judge("STOR003", EBS, claim(modes=[mode], volumeMode="Block")))
    assert "of EBS" in complaint(judge("STOR003", claim(storage.EKS_CLASS, modes=[mode])))
    assert left_open(judge("STOR003", claim("fast", modes=[mode]))) == ["storageClassName"]


def mounting(replicas: int | None, kind: str = "kubernetes:apps/v1:Deployment") -> Resource:
    pod = examples.on_cache()
    sized = changed(pod, "spec.replicas", replicas)
    return examples.resource(kind, sized.name, sized.props)


def test_s01_one_volume_on_ebs_is_not_for_several_replicas() -> None:
    assert complaint(judge("STOR003", EBS, claim(), mounting(2))) == (
        "is one EBS volume for 2 pods of llm: all but those on its node wait for ever"
    )
    assert passes(judge("STOR003", EBS, claim(), mounting(1)))
    assert passes(judge("STOR003", EBS, claim(), mounting(None)))
    assert passes(judge("STOR003", EFS, claim(modes=MANY), mounting(2)))
    every = complaint(judge("STOR003", EBS, claim(), mounting(None, "kubernetes:apps/v1:DaemonSet")))
    assert "for a pod on every node of llm" in every


def test_s01_pods_of_a_job_that_work_at_the_same_time_are_several() -> None:
    job = mounting(None, "kubernetes:batch/v1:Job")
    assert passes(judge("STOR003", EBS, claim(), job))
    assert passes(judge("STOR003", EBS, claim(), changed(job, "spec.parallelism", 1)))
    assert "for 4 pods of llm" in complaint(judge("STOR003", EBS, claim(), changed(job, "spec.parallelism", 4)))
    assert left_open(judge("STOR003", EBS, claim(), unknown(job, "spec.parallelism"))) == ["spec.parallelism"]


def test_s01_each_pod_of_a_set_gets_a_volume_of_its_own_by_template() -> None:
    props = {
        "metadata": {"name": "llm"},
        "spec": {
            "replicas": 3,
            "template": {"spec": {"containers": [examples.container()]}},
            "volumeClaimTemplates": [
                {"metadata": {"name": "cache"}, "spec": {"accessModes": ONCE, "storageClassName": "shared"}}
            ],
        },
    }
    whole = examples.resource(tokens.STATEFUL_SET, "llm", props)
    assert passes(judge("STOR003", EBS, whole))
    shared = changed(whole, "spec.volumeClaimTemplates.0.spec.accessModes", MANY)
    assert messages(judge("STOR003", EBS, shared)).keys() == {"llm"}


def test_claims_inside_pods_must_bind_too() -> None:
    template = {"spec": {"accessModes": ONCE, "storageClassName": "efs"}}
    pod = examples.deployment(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])
    message = complaint(judge("STOR003", pod, options={"clusterClasses": []}))
    assert message == "names the class efs, which is neither in the stack nor among the cluster's: none"
    several = complaint(judge("STOR003", pod, options={"clusterClasses": ["gp3", "gp2"]}))
    assert several.endswith("among the cluster's: gp2, gp3")


def test_a_claim_of_the_same_name_elsewhere_is_another() -> None:
    here = changed(claim(), "metadata", {"name": "models", "namespace": "a"})
    pod = changed(mounting(2), "metadata", {"name": "llm", "namespace": "b"})
    assert passes(judge("STOR003", EBS, here, pod))


# --- volumes made by hand ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theirs", "own"), [("", ""), (None, ""), ("manual", "manual")])
def test_s01_a_volume_and_its_claim_name_the_same_class(theirs: str | None, own: str) -> None:
    assert passes(judge("STOR003", volume(theirs), claim(own, volumeName="models")))


@pytest.mark.parametrize(
    ("theirs", "own", "said"),
    [
        ("", None, "is for the volume models and names no class, so that a default class is put in, if there is one"),
        ("manual", None, "is for the volume models and names no class"),
        ("manual", "", 'has the class "" and its volume models has "manual": they never bind'),
        (None, "shared", "they never bind"),
    ],
)
def test_s01_different_classes_never_bind(theirs: str | None, own: str | None, said: str) -> None:
    assert said in complaint(judge("STOR003", EFS, volume(theirs), claim(own, volumeName="models")))


def test_s01_a_volume_may_say_for_which_claim_it_is() -> None:
    kept = changed(volume(""), "spec.claimRef", {"name": "models", "namespace": "default"})
    assert passes(judge("STOR003", kept, claim("")))
    assert passes(judge("STOR003", changed(kept, "spec.storageClassName", "manual"), claim("manual")))
    finding = judge("STOR003", kept, claim(None)).findings[0]
    assert "names no class" in finding.message
    assert finding.fix == 'set storageClassName "" on the claim, as the volume has it'
    assert "they never bind" in complaint(judge("STOR003", EFS, kept, claim("shared")))
    elsewhere = changed(claim(""), "metadata", {"name": "models", "namespace": "ml"})
    assert passes(judge("STOR003", changed(kept, "spec.storageClassName", None), elsewhere))
    other = changed(kept, "spec.claimRef.name", "others")
    assert passes(judge("STOR003", EFS, other, claim("shared")))


def test_s01_a_claim_may_find_its_volume_by_the_class_alone() -> None:
    assert passes(judge("STOR003", volume("efs-sc"), claim("efs-sc"), options={"clusterClasses": []}))
    assert passes(judge("STOR003", volume(None), claim("")))
    assert left_open(judge("STOR003", claim(""))) == ["storageClassName"]


def test_a_volume_of_another_stack_is_not_judged() -> None:
    assert passes(judge("STOR003", claim("", volumeName="models")))


# --- One Zone ---------------------------------------------------------------------------------------------------------


def one_zone(zones: str) -> tuple[Resource, ...]:
    file_system, storage_class, own = examples.model_cache(availabilityZoneName="us-east-1a")
    subnets = tuple(examples.resource(tokens.SUBNET, zone, {"availabilityZone": f"us-east-1{zone}"}) for zone in zones)
    group = examples.node_group(None, "inference", {"subnetIds": subnets}, subnetIds=[UNKNOWN] * len(subnets))
    return (file_system, storage_class, own, *subnets, group, examples.on_cache())


def test_s01_a_one_zone_file_system_is_for_pools_of_that_zone() -> None:
    assert passes(judge("STOR003", *one_zone("a")))
    assert complaint(judge("STOR003", *one_zone("ab"))) == (
        "is on a One Zone file system in us-east-1a; nodes of inference may be in us-east-1b"
    )


def test_s01_of_several_pools_the_one_elsewhere_is_named() -> None:
    *others, group, pod = one_zone("ab")
    near = next(item for item in others if item.name == "a")
    first = examples.node_group(None, "near", {"subnetIds": (near,)}, subnetIds=[UNKNOWN])
    assert "nodes of inference may be in us-east-1b" in complaint(judge("STOR003", *others, first, group, pod))


def test_a_block_device_may_be_for_several_pods() -> None:
    assert passes(judge("STOR003", EBS, claim(volumeMode="Block"), mounting(3)))
    assert passes(judge("STOR003", EBS, claim(modes=MANY, volumeMode="Block"), mounting(3)))


def test_s01_only_pools_that_the_claims_pods_reach_are_asked() -> None:
    *storage_, pod = one_zone("ab")
    elsewhere = changed(pod, "spec.template.spec.nodeSelector", {"workload": "training"})
    assert passes(judge("STOR003", *storage_, elsewhere))
    assert "us-east-1b" in complaint(judge("STOR003", *storage_))


# --- other people's claims --------------------------------------------------------------------------------------------

BY_HAND = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: efs-sc}
provisioner: efs.csi.aws.com
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: efs-pv}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: efs-sc
  csi: {driver: efs.csi.aws.com, volumeHandle: fs-0123}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: efs-claim}
spec: {accessModes: [ReadWriteMany], storageClassName: efs-sc, resources: {requests: {storage: 5Gi}}}
"""

BUCKET = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: s3-pv}
spec: {accessModes: [ReadWriteMany], storageClassName: "", csi: {driver: s3.csi.aws.com, volumeHandle: models}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: s3-pvc}
spec: {accessModes: [ReadWriteMany], storageClassName: "", volumeName: s3-pv}
"""

DYNAMIC = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ebs-sc}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ebs-claim}
spec: {accessModes: [ReadWriteOnce], storageClassName: ebs-sc}
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers: [{name: app, image: "centos:8", volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: ebs-claim}}]
"""


@pytest.mark.parametrize("manifests", [BY_HAND, BUCKET, DYNAMIC], ids=["EFS by hand", "a bucket", "EBS for one pod"])
def test_claims_of_the_drivers_own_examples_pass(manifests: str) -> None:
    assert passes(judge("STOR003", *objects(manifests)))


def test_unknown_modes_are_left_open_and_do_not_silence_the_class() -> None:
    unclear = claim("efs", modes=[])
    unclear = changed(unclear, "spec.accessModes", UNKNOWN)
    assert left_open(judge("STOR003", EBS, changed(unclear, "spec.storageClassName", "shared"))) == ["spec.accessModes"]
    assert "names the class efs" in complaint(judge("STOR003", unclear, options={"clusterClasses": []}))


def test_a_stack_without_claims_is_not_concerned() -> None:
    assert not_concerned(judge("STOR003", EFS, examples.deployment()))
