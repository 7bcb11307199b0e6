"""STOR004: workloads come after their claims."""

from __future__ import annotations

import dataclasses

from eks_gpu.facts import labels, storage
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.options import Options
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment
from eks_gpu_policies.rules import BY_ID
from tests.support.judging import TODAY, changed, complaint, judge, left_open, messages, not_concerned, passes

FILE_SYSTEM, CLASS, CLAIM = examples.model_cache()
LATE = changed(CLASS, "volumeBindingMode", storage.WAIT_FOR_FIRST_CONSUMER)
SERVER = examples.on_cache()


def after(*resources: Resource, pod: Resource = SERVER) -> Resource:
    return examples.resource(pod.type, pod.name, pod.props, after=resources)


def skipped(claim: Resource = CLAIM) -> Resource:
    return changed(claim, "metadata.annotations", {labels.SKIP_AWAIT: "true"})


def test_s02_a_workload_that_waits_for_its_claim_passes() -> None:
    assert passes(judge("STOR004", CLASS, CLAIM, after(CLAIM)))


def test_s02_one_that_only_knows_its_name_fails() -> None:
    assert messages(judge("STOR004", CLASS, CLAIM, SERVER)) == {
        "llm": ["mounts the claim models without coming after it"]
    }


def test_s02_the_name_of_the_claim_is_a_dependency() -> None:
    pod = examples.resource(SERVER.type, SERVER.name, SERVER.props, spec=(CLAIM,))
    assert passes(judge("STOR004", CLASS, CLAIM, pod))


def test_s02_waiting_for_the_component_around_the_claim_is_waiting_for_the_claim() -> None:
    component = examples.resource("example:index:Cache", "cache", {})
    inside = dataclasses.replace(CLAIM, parent=component.urn)
    assert passes(judge("STOR004", CLASS, component, inside, after(component)))


def test_s02_waiting_for_the_class_is_not_enough() -> None:
    assert "without coming after it" in complaint(judge("STOR004", CLASS, CLAIM, after(CLASS)))


def test_s02_a_claim_that_waits_for_its_first_consumer_passes() -> None:
    assert passes(judge("STOR004", LATE, CLAIM, SERVER))
    assert passes(judge("STOR004", LATE, skipped(), SERVER))
    assert passes(judge("STOR004", changed(CLAIM, "spec.storageClassName", storage.EKS_CLASS), SERVER))


def test_s02_one_of_a_class_that_nobody_knows_may_wait_for_its_first_consumer() -> None:
    assert left_open(judge("STOR004", CLAIM, SERVER)) == ["spec.storageClassName"]
    assert passes(judge("STOR004", CLAIM, after(CLAIM)))


def test_s02_a_claim_that_binds_at_once_is_awaited() -> None:
    report = judge("STOR004", CLASS, skipped(), after(CLAIM))
    assert messages(report) == {
        "models": [
            f"is not awaited ({labels.SKIP_AWAIT}) although its class binds it at once: workloads start before it is"
        ]
    }
    assert "remove the annotation" in report.findings[0].fix


def test_s02_whether_an_unawaited_claim_of_an_unknown_class_binds_is_left_open() -> None:
    assert left_open(judge("STOR004", skipped(), after(CLAIM))) == ["spec.storageClassName"]


def test_s02_a_volume_that_is_named_is_bound_at_once() -> None:
    by_hand = changed(changed(skipped(), "spec.storageClassName", ""), "spec.volumeName", "models")
    assert "not awaited" in complaint(judge("STOR004", by_hand, after(CLAIM)))


def test_each_workload_is_named_once() -> None:
    two = changed(SERVER, "spec.template.spec.containers.0.name", "other")
    second = dataclasses.replace(two, urn=f"{two.urn}-2", name="second")
    report = judge("STOR004", CLASS, CLAIM, SERVER, second)
    assert messages(report).keys() == {"llm", "second"}


def test_objects_of_one_file_have_no_order_that_anybody_could_set() -> None:
    bundle = examples.resource("kubernetes:yaml/v2:ConfigFile", "app", {})
    claim, pod = (dataclasses.replace(item, parent=bundle.urn) for item in (CLAIM, SERVER))
    assert passes(judge("STOR004", CLASS, bundle, claim, pod))
    plain = examples.resource("example:index:App", "app", {})
    claim, pod = (dataclasses.replace(item, parent=plain.urn) for item in (CLAIM, SERVER))
    assert "without coming after it" in complaint(judge("STOR004", CLASS, plain, claim, pod))


def test_a_workload_outside_the_file_of_its_claim_has_an_order() -> None:
    bundle = examples.resource("kubernetes:yaml/v2:ConfigFile", "app", {})
    claim = dataclasses.replace(CLAIM, parent=bundle.urn)
    assert "without coming after it" in complaint(judge("STOR004", CLASS, bundle, claim, SERVER))
    pod = dataclasses.replace(SERVER, parent=bundle.urn)
    assert "without coming after it" in complaint(judge("STOR004", CLASS, bundle, CLAIM, pod))


def test_a_claim_whose_own_name_is_not_known_may_be_mounted_by_anybody() -> None:
    assert left_open(judge("STOR004", CLASS, changed(CLAIM, "metadata.name", UNKNOWN), SERVER)) == ["metadata.name"]


def test_plain_manifests_have_no_order() -> None:
    report = evaluate(
        (CLASS, CLAIM, SERVER),
        environment=Environment.PROD,
        rules=(BY_ID["STOR004"],),
        today=TODAY,
        options=Options(manifests_only=True),
    )
    assert not_concerned(report)


def test_a_claim_name_that_is_not_known_yet_comes_from_the_claim() -> None:
    unclear = changed(SERVER, "spec.template.spec.volumes.1.persistentVolumeClaim.claimName", UNKNOWN)
    assert passes(judge("STOR004", CLASS, CLAIM, examples.resource(unclear.type, "llm", unclear.props, spec=(CLAIM,))))
    place = "spec.template.spec.volumes[1].persistentVolumeClaim.claimName"
    assert left_open(judge("STOR004", CLASS, CLAIM, unclear)) == [place]


def test_claims_of_other_stacks_and_claims_that_nobody_mounts_are_not_concerned() -> None:
    assert not_concerned(judge("STOR004", CLASS, CLAIM))
    assert not_concerned(judge("STOR004", SERVER))
