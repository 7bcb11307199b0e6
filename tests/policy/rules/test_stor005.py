"""STOR005: a cache reads fast and stays hot."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import declarations
from eks_gpu.facts.images import GB
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes

MODEL = ["--model", "meta-llama/Llama-3.1-70B-Instruct"]
PROBE = {"initialDelaySeconds": 15, "periodSeconds": 10, "failureThreshold": 60}


def server(**settings: object) -> Resource:
    return examples.on_cache({"args": MODEL, "startupProbe": PROBE, **settings})


def test_s03_elastic_throughput_and_no_tiers_pass() -> None:
    assert passes(judge("STOR005", *examples.model_cache(), server()))


def test_s03_a_bursting_file_system_takes_hours() -> None:
    cache = examples.model_cache(throughputMode="bursting")
    assert complaint(judge("STOR005", *cache, server())) == (
        "is bursting: 6.4 MiB/s for the 140 GB of a model, 5.8 h to read it once the credits are gone; "
        "llm reads from it"
    )


def test_s03_the_largest_model_on_it_is_told() -> None:
    cache = examples.model_cache(throughputMode="bursting")
    small = dataclasses.replace(server(args=["--model", "Qwen/Qwen3-8B"]), urn="urn:other", name="small")
    assert "for the 140 GB of a model" in complaint(judge("STOR005", *cache, small, server()))


def test_s03_one_that_says_nothing_bursts() -> None:
    message = complaint(judge("STOR005", *examples.model_cache(throughputMode=None), server(args=["serve.py"])))
    assert message.startswith(
        "has no throughputMode, which means bursting: 50 KiB/s for each GiB that it stores, 5.8 h"
    )


def test_s03_a_declared_size_counts() -> None:
    pod = changed(server(), "spec.template.metadata.annotations", {declarations.MODEL_BYTES: str(280 * GB)})
    assert "12.7 MiB/s for the 280 GB" in complaint(
        judge("STOR005", *examples.model_cache(throughputMode="bursting"), pod)
    )


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"transitionToIa": "AFTER_7_DAYS"}, "moves files to Infrequent Access after 7 days"),
        ({"transitionToArchive": "AFTER_90_DAYS"}, "moves files to Archive after 90 days"),
    ],
)
def test_s03_a_cache_that_cools_down_fails(policy: dict[str, str], said: str) -> None:
    message = complaint(judge("STOR005", *examples.model_cache(lifecyclePolicies=[policy]), server()))
    assert message.startswith(said)


def test_s03_a_cache_tiered_at_seven_days_as_a_starter_kit_has_it() -> None:
    tiered = examples.model_cache(
        lifecyclePolicies=[{"transitionToIa": "AFTER_7_DAYS"}, {"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"}]
    )
    report = judge("STOR005", *tiered, server())
    assert "after 7 days" in complaint(report)
    assert report.findings[0].fix.startswith("remove transitionToIa")


def test_s03_coming_back_from_a_colder_class_is_no_tier() -> None:
    back = examples.model_cache(lifecyclePolicies=[{"transitionToPrimaryStorageClass": "AFTER_1_ACCESS"}])
    assert passes(judge("STOR005", *back, server()))


def provisioned(mib: object) -> tuple[Resource, ...]:
    return examples.model_cache(throughputMode="provisioned", provisionedThroughputInMibps=mib)


def test_s03_what_is_provisioned_must_be_enough_for_the_probe() -> None:
    assert passes(judge("STOR005", *provisioned(500), server()))
    assert complaint(judge("STOR005", *provisioned(100), server())) == (
        "is provisioned with 100 MiB/s: the 140 GB of llm take 0.4 h, and its startup probe waits 605 s"
    )
    patient = server(startupProbe={**PROBE, "failureThreshold": 300})
    assert passes(judge("STOR005", *provisioned(100), patient))


def test_s03_exactly_enough_is_enough() -> None:
    """100 MiB/s read 20,000 MiB in 200 s: twice that and a minute are 460 s, which is 10 + 10 x 45."""
    pod = changed(server(), "spec.template.metadata.annotations", {declarations.MODEL_BYTES: "20000Mi"})
    exact = {"initialDelaySeconds": 10, "periodSeconds": 10, "failureThreshold": 46}
    assert passes(judge("STOR005", *provisioned(100), changed(pod, PROBE_PATH, exact)))
    shorter = changed(pod, PROBE_PATH, {**exact, "initialDelaySeconds": 9})
    assert "waits 459 s" in complaint(judge("STOR005", *provisioned(100), shorter))


def test_s03_what_would_be_enough_is_said_where_a_client_can_read_so_fast() -> None:
    (finding,) = judge("STOR005", *provisioned(100), server()).findings
    assert finding.fix == "set throughputMode elastic, as ModelCache does, or provision 490 MiB/s at least"
    assert passes(judge("STOR005", *provisioned(490), server()))
    (hurried,) = judge("STOR005", *provisioned(100), changed(server(), f"{PROBE_PATH}.failureThreshold", 30)).findings
    assert hurried.fix == "set throughputMode elastic, as ModelCache does"
    for hasty in ({"failureThreshold": 3}, {"initialDelaySeconds": 10, "periodSeconds": 10, "failureThreshold": 6}):
        pod = changed(server(), PROBE_PATH, hasty)
        (finding,) = judge("STOR005", *provisioned(100), pod).findings
        assert finding.fix == "set throughputMode elastic, as ModelCache does"


def test_s03_without_a_size_what_is_provisioned_cannot_be_judged() -> None:
    assert left_open(judge("STOR005", *provisioned(100), server(args=["serve.py"]))) == [declarations.MODEL_BYTES]
    assert passes(judge("STOR005", *provisioned(100), changed(server(), PROBE_PATH, None)))


PROBE_PATH = "spec.template.spec.containers.0.startupProbe"


def test_unknown_values_are_left_open_and_do_not_silence_the_other_clause() -> None:
    assert left_open(judge("STOR005", *examples.model_cache(throughputMode=UNKNOWN), server())) == ["throughputMode"]
    assert left_open(judge("STOR005", *provisioned(UNKNOWN), server())) == ["provisionedThroughputInMibps"]
    both = examples.model_cache(throughputMode=UNKNOWN, lifecyclePolicies=[{"transitionToIa": "AFTER_7_DAYS"}])
    assert "after 7 days" in complaint(judge("STOR005", *both, server()))
    unclear = examples.model_cache(throughputMode="bursting", lifecyclePolicies=UNKNOWN)
    assert "is bursting" in complaint(judge("STOR005", *unclear, server()))


def test_s03_training_data_on_a_bursting_file_system_is_as_slow() -> None:
    job = dataclasses.replace(server(), type="kubernetes:batch/v1:Job")
    assert "is bursting" in complaint(judge("STOR005", *examples.model_cache(throughputMode="bursting"), job))
    assert passes(judge("STOR005", *provisioned(100), job))


def test_a_file_system_is_found_behind_volumes_access_points_and_without_a_claim() -> None:
    slow = examples.resource(tokens.FILE_SYSTEM, "models", {"throughputMode": "bursting"})
    point = examples.resource(tokens.ACCESS_POINT, "point", {}, fileSystemId=(slow,))
    spec = {"storageClassName": "efs", "csi": {"driver": "efs.csi.aws.com", "volumeHandle": UNKNOWN}}
    volume = examples.resource(tokens.VOLUME, "pv", {"metadata": {"name": "pv"}, "spec": spec}, spec=(point,))
    claim = examples.resource(
        tokens.CLAIM, "models", {"metadata": {"name": "models"}, "spec": {"storageClassName": "efs"}}
    )
    assert "is bursting" in complaint(judge("STOR005", slow, point, volume, claim, server()))
    inline = changed(
        server(), "spec.template.spec.volumes.1", {"name": "models", "nfs": {"server": UNKNOWN, "path": "/"}}
    )
    direct = examples.resource(inline.type, inline.name, inline.props, spec=(slow,))
    assert "is bursting" in complaint(judge("STOR005", slow, direct))


def test_a_gpu_pod_that_may_mount_it_leaves_it_open() -> None:
    cache = examples.model_cache(throughputMode="bursting")
    place = "spec.template.spec.volumes[1].persistentVolumeClaim.claimName"
    unclear = changed(server(), "spec.template.spec.volumes.1.persistentVolumeClaim.claimName", UNKNOWN)
    assert left_open(judge("STOR005", *cache, unclear)) == [place]
    web = changed(unclear, "spec.template.spec.containers.0.resources", {})
    assert not_concerned(judge("STOR005", *cache, web))


def test_file_systems_that_no_gpu_pod_mounts_are_not_concerned() -> None:
    cache = examples.model_cache(throughputMode="bursting")
    assert not_concerned(judge("STOR005", *cache))
    web = server(resources={"limits": {"cpu": "1"}})
    assert not_concerned(judge("STOR005", *cache, web))
