"""WORK009: training saves often, durably, and resumes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eks_gpu.facts import declarations, labels, resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Level
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

JOB = examples.training_job()
BOX = "spec.template.spec.containers.0"
COMMAND = f"{BOX}.command"
SHM = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}
DATA = {"name": "data", "persistentVolumeClaim": {"claimName": "fsx"}}


def told(*words: str, **volume: object) -> Resource:
    """Return the job with another command."""
    return changed(examples.training_job(**volume), COMMAND, list(words))


def worker(*command: str, mounts: bool = True, volume: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return a pod template as people write one for a trainer."""
    places = [{"name": "data", "mountPath": "/data"}] if mounts else []
    box = {
        "name": "pytorch",
        "image": "registry.example.com/team/llama:2",
        "command": list(command) or ["torchrun", "train.py"],
        "resources": {"limits": {resources.GPU: 8}},
        "volumeMounts": places,
    }
    return {"template": {"spec": {"containers": [box], "volumes": [volume or DATA, SHM]}}}


def pytorch_job(**roles: dict[str, object]) -> Resource:
    spec = {"pytorchReplicaSpecs": roles}
    return examples.resource("kubernetes:kubeflow.org/v1:PyTorchJob", "llama", {"spec": spec})


def test_w06_a_job_that_saves_to_a_claim_every_half_hour_and_resumes_passes() -> None:
    assert passes(judge("WORK009", JOB))


def test_w06_a_job_that_saves_to_its_own_disk_loses_everything_and_it_is_said_what_that_costs() -> None:
    pool = examples.training_pool()
    message = complaint(judge("WORK009", pool, examples.training_job(emptyDir={})))
    assert message.startswith(
        "saves to /checkpoints (checkpoint-dir), which is the volume checkpoints (emptyDir) and is gone with the pod"
    )
    assert "an interruption costs up to 72 h of work on one pod at $21.96/h together: $1,581" in message


# --- where -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "volume",
    [
        {"emptyDir": {}},
        {"emptyDir": {"medium": "Memory"}},
        {"hostPath": {"path": "/mnt/k8s-disks/0"}},
        {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"configMap": {"name": "x"}},
        {"csi": {"driver": "secrets-store.csi.k8s.io"}},
        {"persistentVolumeClaim": {"claimName": "models", "readOnly": True}},
    ],
)
def test_w06_volumes_that_go_with_pod_or_node_or_cannot_be_written_fail(volume: dict[str, object]) -> None:
    assert "saves nowhere that outlives its node" in complaint(judge("WORK009", told("torchrun", "train.py", **volume)))


@pytest.mark.parametrize(
    "volume",
    [
        {"csi": {"driver": "fsx.csi.aws.com"}},
        {"nfs": {"server": "fs.example.com", "path": "/"}},
        {"persistentVolumeClaim": {"claimName": "checkpoints", "readOnly": False}},
    ],
)
def test_w06_volumes_that_outlive_the_node_pass(volume: dict[str, object]) -> None:
    assert passes(judge("WORK009", examples.training_job(**volume)))


@pytest.mark.parametrize(
    "words",
    [
        ("torchrun", "train.py", "--checkpoint-dir", "s3://bucket/run-1"),
        ("torchrun", "train.py", "--output=s3://bucket/run-1"),
        ("bash", "-c", "torchrun train.py --save-to gs://bucket/run-1 && echo done"),
        ("python", "train.py", "++trainer.default_root_dir=s3://bucket/run"),
    ],
)
def test_w06_an_object_store_in_the_arguments_passes(words: tuple[str, ...]) -> None:
    assert passes(judge("WORK009", told(*words, emptyDir={})))


def test_w06_an_object_store_in_the_environment_passes() -> None:
    job = changed(told("torchrun", "train.py", emptyDir={}), f"{BOX}.env", [{"name": "BUCKET", "value": "s3://b/run"}])
    assert passes(judge("WORK009", job))


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("train.py", "--ckpt_dir=/scratch/run"), "/scratch/run"),
        (("train.py", "--checkpoint-path", "/checkpoints-old"), "/checkpoints-old"),
        (("bash", "-c", "torchrun train.py --save_checkpoint_dir '/tmp/x y'"), "/tmp/x y"),  # noqa: S108
        (("train.py", "++exp_manager.checkpoint_dir=/workspace"), "/workspace"),
    ],
)
def test_w06_a_checkpoint_path_outside_of_the_claim_fails(words: tuple[str, ...], path: str) -> None:
    message = complaint(judge("WORK009", told(*words)))
    assert message.startswith(f"saves to {path} (")
    assert "the container's own file system" in message


@pytest.mark.parametrize(
    "words",
    [
        ("train.py", "--ckpt-dir=/checkpoints/run-1"),
        ("train.py", "--resume-from-checkpoint", "/models/base", "--gradient-checkpointing"),
        ("train.py", "--pretrained-checkpoint=/models/base.nemo", "--checkpoint-interval", "500"),
        ("train.py", "--checkpoint-dir", "$(CKPT)"),
        ("train.py", "--checkpoint-dir", "$UNHEARD_OF/run"),
        ("train.py", "--checkpoint-dir", "runs/checkpoints"),
    ],
)
def test_w06_paths_inside_and_names_that_mean_something_else_pass(words: tuple[str, ...]) -> None:
    job = changed(told(*words), f"{BOX}.env", [{"name": "CKPT", "value": "/checkpoints/run"}])
    assert passes(judge("WORK009", job))


def test_w06_a_variable_is_followed_and_a_scratch_volume_inside_the_claim_is_seen() -> None:
    job = changed(told("train.py"), f"{BOX}.env", [{"name": "CHECKPOINT_DIR", "value": "/checkpoints/scratch/run"}])
    assert passes(judge("WORK009", job))
    mounts = [
        {"name": "checkpoints", "mountPath": "/checkpoints"},
        {"name": "shm", "mountPath": "/checkpoints/scratch"},
    ]
    assert "the volume shm (emptyDir)" in complaint(judge("WORK009", changed(job, f"{BOX}.volumeMounts", mounts)))


def test_w06_a_mount_may_be_spelled_with_a_slash_at_its_end() -> None:
    job = told("train.py", "--ckpt-dir=/checkpoints/run")
    assert passes(judge("WORK009", changed(job, f"{BOX}.volumeMounts.1.mountPath", "/checkpoints/")))


def test_w06_what_cannot_be_written_is_no_place_to_save_to() -> None:
    job = changed(told("train.py", "--ckpt-dir=/checkpoints/run"), f"{BOX}.volumeMounts.1.readOnly", value=True)
    assert "which is the read-only volume checkpoints (persistentVolumeClaim)" in complaint(judge("WORK009", job))


@pytest.mark.parametrize(("kind", "durable"), [("StatefulSet", True), ("Deployment", False)])
def test_w06_the_claims_of_a_stateful_set_stand_outside_of_its_pods(kind: str, *, durable: bool) -> None:
    job = changed(told("train.py", "--ckpt-dir=/checkpoints/run"), "spec.template.spec.volumes", [SHM])
    job = changed(job, "spec.template.metadata.labels", {labels.WORKLOAD: labels.WORKLOADS[1]})
    report = judge("WORK009", examples.resource(f"kubernetes:apps/v1:{kind}", "train", job.props))
    assert passes(report) if durable else "the volume checkpoints (unknown)" in complaint(report)


@pytest.mark.parametrize("spelled", ["$(SCRATCH)", "${SCRATCH}", "$SCRATCH"])
def test_w06_a_variable_that_leads_out_of_the_claim_is_followed(spelled: str) -> None:
    variable = {"name": "SCRATCH", "value": "/scratch"}
    job = changed(told("train.py", "--ckpt-dir", f"{spelled}/run"), f"{BOX}.env", [variable])
    assert "saves to /scratch/run (ckpt-dir)" in complaint(judge("WORK009", job))


def test_w06_a_declared_path_goes_before_what_the_arguments_say() -> None:
    declared = {declarations.CHECKPOINT_PATH: "s3://bucket/run"}
    assert passes(judge("WORK009", examples.training_job("finetune", declared, emptyDir={})))
    outside = examples.training_job("finetune", {declarations.CHECKPOINT_PATH: "/scratch"})
    assert f"saves to /scratch ({declarations.CHECKPOINT_PATH})" in complaint(judge("WORK009", outside))


def test_w06_saving_at_sigterm_alone_fails() -> None:
    hook = {"preStop": {"exec": {"command": ["python", "save.py"]}}}
    job = changed(told("torchrun", "train.py", emptyDir={}), f"{BOX}.lifecycle", hook)
    assert "saves nowhere" in complaint(judge("WORK009", job))
    declared = examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: "0"})
    assert "saves only when told to go, or never" in complaint(judge("WORK009", declared))


# --- how often, how many, and then -----------------------------------------------------------------------------------


def test_w06_an_hour_between_checkpoints_passes_and_more_fails_with_what_it_costs() -> None:
    assert passes(judge("WORK009", examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: "60"})))
    assert passes(judge("WORK009", examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: "0.5"})))
    slow = examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: "240"})
    message = complaint(judge("WORK009", examples.training_pool(), changed(slow, "spec.parallelism", 4)))
    assert message.startswith("saves every 240 minutes instead of every 60 at most")
    assert "4 h of work on 4 pods at $87.83/h together: $351" in message


@pytest.mark.parametrize(("kept", "right"), [("3", True), ("2", False)])
def test_w06_three_checkpoints_are_kept(kept: str, right: bool) -> None:
    report = judge("WORK009", examples.training_job("finetune", {declarations.CHECKPOINTS_KEPT: kept}))
    assert passes(report) if right else "keeps 2 checkpoints instead of 3" in complaint(report)


def test_w06_a_job_that_begins_from_scratch_fails() -> None:
    for said in ("false", "perhaps"):
        job = examples.training_job("finetune", {declarations.RESUMES: said})
        assert "does not resume" in complaint(judge("WORK009", job))
    undeclared = examples.training_job("finetune", {declarations.RESUMES: ""})
    refusing = changed(undeclared, COMMAND, ["train.py", "++exp_manager.resume_if_exists=False"])
    assert "does not resume" in complaint(judge("WORK009", refusing))
    assert passes(judge("WORK009", changed(undeclared, COMMAND, ["train.py", "--resume"])))
    for flag in ("--no-resume", "--no_auto_resume", "--disable-resume"):
        assert "does not resume" in complaint(judge("WORK009", changed(undeclared, COMMAND, ["train.py", flag])))


def test_what_nobody_declares_is_left_open() -> None:
    silent = {declarations.CHECKPOINT_MINUTES: "", declarations.RESUMES: "", declarations.CHECKPOINTS_KEPT: ""}
    job = examples.training_job("finetune", silent)
    assert left_open(judge("WORK009", job)) == [declarations.CHECKPOINT_MINUTES, declarations.RESUMES]


def test_the_owners_annotations_count_as_well() -> None:
    job = examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: ""})
    own = {"name": "finetune", "annotations": {declarations.CHECKPOINT_MINUTES: "120"}}
    assert "saves every 120 minutes" in complaint(judge("WORK009", changed(job, "metadata", own)))


# --- whole workloads -------------------------------------------------------------------------------------------------


def test_w06_a_claim_on_one_of_the_roles_serves_the_workload() -> None:
    """Rank 0 saves, and only the master mounts the volume."""
    job = pytorch_job(Master=worker(), Worker=worker(mounts=False, volume=SHM))
    assert set(left_open(judge("WORK009", job))) == {declarations.CHECKPOINT_MINUTES, declarations.RESUMES}


def test_w06_a_workload_without_any_storage_fails_once() -> None:
    bare = worker(mounts=False, volume={"name": "scratch", "emptyDir": {}})
    job = pytorch_job(Master=bare, Worker={**bare, "replicas": 3})
    assert messages(judge("WORK009", job)) == {
        "llama": [
            (
                "saves nowhere that outlives its node: no container mounts a writable claim, and neither arguments nor "
                "environment name an object store; an interruption costs up to 72 h of work"
            )
        ]
    }


def test_w06_an_mpi_launcher_says_where_the_workers_save() -> None:
    launcher = {"containers": [{"name": "mpi", "image": "x:1", "command": ["mpirun", "train.py", "--out", "s3://b/r"]}]}
    bare = worker(mounts=False, volume={"name": "scratch", "emptyDir": {}})
    roles = {"Launcher": {"template": {"spec": launcher}}, "Worker": bare}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "bert", {"spec": {"mpiReplicaSpecs": roles}})
    assert set(left_open(judge("WORK009", job))) == {declarations.CHECKPOINT_MINUTES, declarations.RESUMES}


def test_w06_workloads_and_templates_of_other_kinds_are_judged_one_by_one() -> None:
    bare = examples.training_job("a", emptyDir={}), examples.training_job("b", emptyDir={})
    assert messages(judge("WORK009", *bare)).keys() == {"a", "b"}
    template = {**bare[0].props["spec"]["template"], "metadata": {"labels": {labels.WORKLOAD: "training"}}}  # type: ignore[index]  # an example's own shape
    steps = {"first": {"template": template}, "second": {"template": template}}
    pipeline = examples.resource("kubernetes:example.com/v1:Pipeline", "both", {"spec": steps})
    assert len(judge("WORK009", pipeline).findings) == 2


def test_a_launcher_that_tries_the_network_makes_its_workers_a_test() -> None:
    launcher = {"containers": [{"name": "mpi", "image": "x:1", "command": ["mpirun", "all_reduce_perf", "-b", "8"]}]}
    roles = {"Launcher": {"template": {"spec": launcher}}, "Worker": worker("/usr/sbin/sshd", "-De")}
    job = examples.resource("kubernetes:kubeflow.org/v2beta1:MPIJob", "net", {"spec": {"mpiReplicaSpecs": roles}})
    assert not_concerned(judge("WORK009", job))


def test_what_a_pod_is_for_may_have_to_be_left_open() -> None:
    place = "spec.template.metadata.labels"
    assert left_open(judge("WORK009", changed(JOB, place, UNKNOWN))) == [place]


def test_a_runtime_elsewhere_leaves_it_open() -> None:
    trainer = {"image": "x:1", "command": ["train.py"], "resourcesPerNode": {"limits": {resources.GPU: 8}}}
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    job = examples.resource("kubernetes:trainer.kubeflow.org/v1alpha1:TrainJob", "llama", {"spec": spec})
    assert left_open(judge("WORK009", job))


# --- who is meant ----------------------------------------------------------------------------------------------------


def test_a_job_that_does_not_say_what_it_does_gets_advice() -> None:
    job = told("python", "run.py", emptyDir={})
    job = changed(changed(job, f"{BOX}.image", "registry.example.com/batch:1"), "metadata.name", "nightly")
    (finding,) = judge("WORK009", examples.resource(job.type, "nightly", job.props)).findings
    assert finding.level is Level.ADVISORY
    assert ", if it trains;" in finding.message


@pytest.mark.parametrize(
    ("image", "command"),
    [
        ("public.ecr.aws/hpc-cloud/nccl-tests:2.16", ["mpirun", "all_reduce_perf", "-b", "8", "-e", "2G"]),
        ("nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0", []),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", ["nvidia-smi"]),
        ("gcr.io/kubeflow-examples/pytorch-mnist:1", ["python", "mnist.py"]),
    ],
)
@pytest.mark.parametrize("kind", ["kubernetes:kubeflow.org/v2beta1:MPIJob", "kubernetes:batch/v1:Job"])
def test_tests_and_tutorials_are_exempt(kind: str, image: str, command: list[str]) -> None:
    box = {"name": "worker", "image": image, "command": command, "resources": {"limits": {resources.GPU: 8}}}
    role = {"template": {"spec": {"containers": [box]}}}
    props = {"mpiReplicaSpecs": {"Worker": role}} if kind.endswith("MPIJob") else role
    assert not_concerned(judge("WORK009", examples.resource(kind, "check", {"spec": props})))


@pytest.mark.parametrize(("seconds", "concerned"), [(3600, False), (3601, True)])
def test_jobs_of_an_hour_at_most_are_exempt(seconds: int, concerned: bool) -> None:
    job = changed(examples.training_job(emptyDir={}), "spec.activeDeadlineSeconds", seconds)
    assert not_concerned(judge("WORK009", job)) is not concerned
    short = pytorch_job(Worker=worker(mounts=False))
    short = changed(short, "spec.runPolicy", {"activeDeadlineSeconds": seconds})
    assert not_concerned(judge("WORK009", short)) is not concerned


def test_servers_and_jobs_without_gpus_are_not_concerned() -> None:
    assert not_concerned(judge("WORK009", examples.deployment()))
    assert not_concerned(judge("WORK009", changed(JOB, f"{BOX}.resources", {})))


# --- what is not known -----------------------------------------------------------------------------------------------


def test_arguments_that_are_not_known_yet_leave_it_open() -> None:
    job = told("torchrun", "train.py", "--save-to", "x", emptyDir={})
    assert f"{COMMAND.replace('.0', '[0]')}[3]" in left_open(judge("WORK009", changed(job, f"{COMMAND}.3", UNKNOWN)))


@pytest.mark.parametrize(
    "variable",
    [
        {"name": "OUTPUT_BUCKET", "value": UNKNOWN},
        {"name": "CHECKPOINT_URI", "valueFrom": {"configMapKeyRef": {"name": "run", "key": "uri"}}},
    ],
)
def test_a_store_that_is_named_elsewhere_leaves_it_open(variable: dict[str, object]) -> None:
    job = changed(told("torchrun", "train.py", emptyDir={}), f"{BOX}.env", [variable])
    assert left_open(judge("WORK009", job)) != []


def test_what_is_known_counts_beside_an_argument_that_is_not() -> None:
    job = told("torchrun", "train.py", "--data", "x", "--checkpoint-dir", "/scratch")
    report = judge("WORK009", changed(job, f"{COMMAND}.3", UNKNOWN))
    assert "saves to /scratch" in complaint(report)
    assert [item.path for item in report.not_evaluated] == [f"{COMMAND.replace('.0', '[0]')}[3]"]


def test_a_job_that_is_labelled_trains_whatever_it_is_called() -> None:
    job = changed(told("python", "run.py", emptyDir={}), f"{BOX}.image", "registry.example.com/batch:1")
    job = changed(job, "spec.template.metadata.labels", {labels.WORKLOAD: "training"})
    (finding,) = judge("WORK009", examples.resource(job.type, "nightly", job.props)).findings
    assert finding.level is Level.MANDATORY


def test_w06_what_is_lost_is_priced_by_the_gpus_that_are_asked_for() -> None:
    pool, bare = examples.training_pool(), examples.training_job(emptyDir={})
    by_request = changed(bare, f"{BOX}.resources", {"requests": {resources.GPU: "8"}})
    assert "on one pod at $21.96/h together" in complaint(judge("WORK009", pool, by_request))
    boxes = bare.props["spec"]["template"]["spec"]["containers"]  # type: ignore[index]  # an example's own shape
    beside = changed(bare, "spec.template.spec.containers", [*boxes, {"name": "logs", "image": "x:1"}])
    assert "on one pod at $21.96/h together" in complaint(judge("WORK009", pool, beside))
    small = changed(examples.training_job("small", emptyDir={}), f"{BOX}.resources", {"limits": {resources.GPU: "1"}})
    on_both = messages(judge("WORK009", pool, examples.node_pool(types=("g5.2xlarge",)), bare, small))
    assert "at $21.96/h together" in on_both["finetune"][0]
    assert "at $1.21/h together" in on_both["small"][0]
    priceless = changed(pool, "spec.template.spec.requirements.0.values", ["p5e.48xlarge"])
    assert complaint(judge("WORK009", priceless, bare)).endswith("an interruption costs up to 72 h of work")


def test_an_image_that_is_not_known_yet_does_not_hide_that_it_trains() -> None:
    job = told("torchrun", "run.py", emptyDir={})
    job = changed(changed(job, f"{BOX}.image", UNKNOWN), "metadata.name", "nightly")
    (finding,) = judge("WORK009", examples.resource(job.type, "nightly", job.props)).findings
    assert finding.level is Level.MANDATORY


def test_a_clause_known_to_fail_fails_beside_an_unknown_one() -> None:
    job = examples.training_job("finetune", {declarations.CHECKPOINT_MINUTES: "90"})
    report = judge("WORK009", changed(job, f"{BOX}.volumeMounts", UNKNOWN))
    assert "saves every 90 minutes" in complaint(report)
    assert report.not_evaluated
