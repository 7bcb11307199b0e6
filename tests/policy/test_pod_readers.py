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


@pytest.mark.parametrize(
    ("token", "images", "kind"),
    [
        ("apps/v1:Deployment", ["quay.io/jupyter/base-notebook:2026-07-01"], WorkloadKind.DEVELOPMENT),
        ("apps/v1:StatefulSet", ["envoy:1", "codercom/code-server:4"], WorkloadKind.DEVELOPMENT),
        ("apps/v1:Deployment", ["vllm/vllm-openai:v0.11.0"], WorkloadKind.INFERENCE),
        ("apps/v1:Deployment", [UNKNOWN], WorkloadKind.INFERENCE),
        ("core/v1:Pod", ["jupyter:1"], WorkloadKind.OTHER),
    ],
)
def test_what_somebody_works_in_is_development(token: str, images: list[object], kind: WorkloadKind) -> None:
    boxes = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    spec = {"containers": boxes} if token.endswith("Pod") else {"template": {"spec": {"containers": boxes}}}
    (pod,) = Stack((examples.resource(f"kubernetes:{token}", "x", {"spec": spec}),)).pods
    assert pod.kind is kind


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
