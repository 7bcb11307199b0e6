"""Pod templates where other people keep them."""

from __future__ import annotations

import pytest

from eks_gpu.facts import resources
from eks_gpu.planning.pod_template import WorkloadKind
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack
from tests.support.judging import complaint, judge, left_open, not_concerned

HALF = {"image": "x:1", "resources": {"limits": {resources.GPU: "0.5"}}}


def workflow(spec: object, kind: str = "Workflow") -> Resource:
    return examples.resource(f"kubernetes:argoproj.io/v1alpha1:{kind}", "nightly", {"spec": spec})


@pytest.mark.parametrize("step", ["container", "script"])
@pytest.mark.parametrize("kind", ["Workflow", "CronWorkflow"])
def test_work003_a_step_of_a_workflow_is_a_pod(step: str, kind: str) -> None:
    spec: dict[str, object] = {"templates": [{"name": "train", step: HALF}, {"name": "all", "steps": []}]}
    spec = spec if kind == "Workflow" else {"workflowSpec": spec}
    assert complaint(judge("WORK003", workflow(spec, kind))) == (
        f"container {step} asks nvidia.com/gpu as '0.5', which is no whole number"
    )


def test_work003_a_workflow_of_which_nothing_is_known_is_left_open() -> None:
    assert left_open(judge("WORK003", workflow({"templates": UNKNOWN}))) == ["spec.templates"]
    assert left_open(judge("WORK003", workflow(UNKNOWN))) == ["spec"]
    assert not_concerned(judge("WORK003", workflow({"templates": [{"name": "all", "dag": {}}]})))


def test_a_rollout_serves_as_a_deployment_does() -> None:
    (pod,) = Stack((workflow(examples.deployment().props["spec"], "Rollout"),)).pods
    assert pod.kind is WorkloadKind.INFERENCE
