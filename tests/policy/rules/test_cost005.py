"""COST005: no LimitRange hands out GPUs."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, not_concerned, passes


def limit_range(*limits: object) -> Resource:
    return examples.resource(tokens.LIMIT_RANGE, "limits", {"spec": {"limits": list(limits)}})


def said(kind: str, field: str, amount: object = "8", key: str = resources.GPU) -> str:
    return complaint(judge("COST005", limit_range({"type": kind, field: {"cpu": "2", key: amount}})))


def test_w13_a_largest_number_of_gpus_becomes_every_containers_default() -> None:
    assert said("Container", "max") == (
        "sets max of nvidia.com/gpu to 8 for each container: every container that says nothing gets 8, a CPU pod's "
        "too, because Kubernetes makes it the default"
    )


@pytest.mark.parametrize("field", ["default", "defaultRequest"])
def test_w13_a_default_hands_out_gpus(field: str) -> None:
    assert "gets 1, a CPU pod's too" in said("Container", field, 1)


def test_w13_a_least_number_is_a_request_without_a_limit() -> None:
    assert "requests them without a limit, and its pod is refused" in said("Container", "min", "1")


def test_w13_zero_opens_tainted_nodes() -> None:
    assert "lets its pod onto tainted GPU nodes" in said("Container", "default", "0")


@pytest.mark.parametrize("field", ["min", "max"])
def test_w13_a_bound_for_each_pod_refuses_cpu_pods(field: str) -> None:
    assert "such as a CPU pod or a sidecar, is refused" in said("Pod", field)


def test_w13_slices_and_shares_are_gpus_too() -> None:
    assert "nvidia.com/mig-1g.5gb" in said("Container", "max", "8", resources.mig("1g.5gb"))
    assert "nvidia.com/gpu.shared" in said("Container", "max", "8", resources.GPU_SHARED)


def test_limits_on_cpu_and_memory_pass() -> None:
    container = {"type": "Container", "default": {"cpu": "500m"}, "max": {"memory": "1Gi"}, "min": {"cpu": "100m"}}
    assert passes(judge("COST005", limit_range(container, {"type": "Pod", "max": {"cpu": "8"}})))


def test_limits_on_claims_pass() -> None:
    assert passes(judge("COST005", limit_range({"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}})))


def test_unset_passes_and_unknown_is_left_open() -> None:
    assert passes(judge("COST005", limit_range()))
    assert left_open(judge("COST005", limit_range({"type": "Container", "max": UNKNOWN}))) == ["spec.limits[0].max"]


def test_a_clause_known_to_fail_fails_beside_an_unknown_one() -> None:
    report = judge("COST005", limit_range(UNKNOWN, {"type": "Pod", "max": {resources.GPU: "2"}}))
    assert "sets max" in complaint(report)
    assert len(report.not_evaluated) == 1


def test_other_objects_are_not_concerned() -> None:
    assert not_concerned(judge("COST005", examples.deployment()))
