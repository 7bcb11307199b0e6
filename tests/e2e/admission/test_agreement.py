"""What an admission policy says of an object is what its rule says, before the API server that holds it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.admission.manifests import SAID, binding, manifests, policy
from eks_gpu_policies.admission.said import Said
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID
from tests.e2e.custom_resources.judge import Judge
from tests.support.admission_cases import Case, completed, from_rules, obeys
from tests.support.admission_edges import edges
from tests.support.cluster import eventually
from tests.support.manifests import Manifest

_MARK: Final = "eks-gpu.example/judged-by"
"""The label by which a test chooses the one policy that judges an object."""

EDGES: Final = tuple(edges())
CASES: Final = (*EDGES, *from_rules())
_EACH: Final = pytest.mark.parametrize("said", SAID, ids=lambda said: said.name)


@pytest.fixture(scope="module")
def held(judge: Judge) -> Iterator[Judge]:
    """Give the tests a server that holds every policy, each on the objects that are marked with its name."""
    for said in SAID:
        judge.api.apply(policy(said, BY_ID[said.rule]))
        bound = binding(said, Level.MANDATORY, ())
        bound["spec"]["matchResources"] = {"objectSelector": {"matchLabels": {_MARK: said.name}}}
        judge.api.apply(bound)
    for said in SAID:
        wrong = next(case for case in CASES if case.concerns(said) and not obeys(said, case))
        eventually(partial(_refuses, judge, said, wrong), f"{said.name} being held")
    yield judge
    for said in SAID:
        for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
            judge.api.delete("admissionregistration.k8s.io/v1", kind, said.name)


def _marked(case: Case, said: Said) -> Manifest:
    manifest = copy.deepcopy(case.manifest)
    manifest["metadata"].setdefault("labels", {})[_MARK] = said.name
    return _placed(manifest)


def _placed(manifest: Manifest) -> Manifest:
    if manifest["kind"] not in {"StorageClass", "NodePool", "EC2NodeClass"}:
        manifest["metadata"]["namespace"] = "default"
    return manifest


def _refuses(judge: Judge, said: Said, case: Case) -> bool:
    return f"ValidatingAdmissionPolicy '{said.name}'" in judge.refusal(_marked(case, said))


def test_the_server_takes_every_edge_without_a_policy(judge: Judge) -> None:
    said = ((case.name, judge.refusal(_placed(copy.deepcopy(case.manifest)))) for case in EDGES)
    assert [f"{name}: {why}" for name, why in said if why] == []


@_EACH
def test_rule_and_server_give_the_same_verdict(held: Judge, said: Said) -> None:
    concerned = [case for case in CASES if case.concerns(said)]
    verdicts = {case.name: obeys(said, case) for case in concerned}
    answers = {case.name: held.refusal(_marked(case, said)) for case in concerned}
    own = f"ValidatingAdmissionPolicy '{said.name}'"
    # What the server has something against by itself is judged by nobody: examples of other rules may be that wrong.
    taken = [name for name, answer in answers.items() if not answer or own in answer]
    assert set(verdicts.values()) == {True, False}, "both verdicts are put to the proof"
    assert [name for name in verdicts if name not in taken and name in {case.name for case in EDGES}] == []
    assert {name: answers[name] for name in taken if verdicts[name] != (not answers[name])} == {}
    assert [answer for answer in answers.values() if "expression" in answer and "error" in answer] == []


@_EACH
def test_a_refusal_names_the_rule_and_what_is_wrong(held: Judge, said: Said) -> None:
    wrong = next(case for case in EDGES if case.concerns(said) and not obeys(said, case))
    answer = held.refusal(_marked(wrong, said))
    assert f"denied request: {said.rule} {BY_ID[said.rule].title}: " in answer


@_EACH
def test_the_server_finds_nothing_wrong_with_the_types_in_a_policy(held: Judge, said: Said) -> None:
    def status() -> Any:  # noqa: ANN401 - JSON
        found = held.api.get("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", said.name) or {}
        seen: Any = found.get("status", {})
        return seen if seen.get("observedGeneration") else None

    assert eventually(status, f"{said.name} being looked at").get("typeChecking", {}) == {}


@pytest.mark.parametrize(
    "amounts",
    [
        {"limits": {"nvidia.com/gpu": "0.5"}},
        {"requests": {"nvidia.com/gpu": "1"}},
        {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "2"}},
    ],
)
def test_work003_the_server_refuses_by_itself_in_pods_and_in_templates(judge: Judge, amounts: Manifest) -> None:
    found = examples.deployment(examples.container(resources=amounts, volumeMounts=None), volumes=[])
    deployment = completed({**found.props, "apiVersion": "apps/v1", "kind": "Deployment"})
    template = deployment["spec"]["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": template["spec"]}
    for each in (deployment, pod):
        assert "Invalid value" in judge.refusal(_placed(each)) or "Required value" in judge.refusal(_placed(each))


def _bare(name: str) -> Manifest:
    found = examples.deployment(examples.container(startupProbe=None), name=name)
    return _placed(completed(copy.deepcopy({**found.props, "apiVersion": "apps/v1", "kind": "Deployment"})))


def test_what_runs_already_is_left_alone_until_it_is_changed(held: Judge) -> None:
    running = _bare("running")
    held.api.create(running)
    running["metadata"]["labels"] = {_MARK: "eks-gpu-work006"}
    held.api.apply(running)

    running["metadata"]["annotations"] = {"example.com/touched": "yes"}
    assert held.refusal(running) == ""
    running["spec"]["replicas"] = 3
    assert "WORK006" in held.refusal(running)
    held.api.delete("apps/v1", "Deployment", "running", "default")


def test_what_a_judged_owner_makes_is_not_judged_again(held: Judge) -> None:
    said = next(item for item in SAID if item.name == "eks-gpu-work013")
    pod = next(case for case in EDGES if case.name == "the image server:latest")
    made = _marked(pod, said)
    assert "WORK013" in held.refusal(made)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "0a", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    assert held.refusal(made) == ""
    made["metadata"]["ownerReferences"] = [{**owner, "apiVersion": "ray.io/v1", "kind": "RayCluster"}]
    assert "WORK013" in held.refusal(made)


def _under_another_name(manifest: Manifest) -> Manifest:
    """Return a policy, or its binding, beside that of the same name which other tests hold."""
    manifest["metadata"]["name"] = f"exported-{manifest['metadata']['name']}"
    if "policyName" in manifest["spec"]:
        manifest["spec"]["policyName"] = manifest["metadata"]["name"]
    return manifest


def test_as_exported_what_is_mandatory_is_refused_outside_exempt_namespaces(judge: Judge) -> None:
    exported = [_under_another_name(each) for each in manifests(Environment.PROD, rules={"WORK006", "WORK014"})]
    for each in exported:
        judge.api.apply(each)
    server = _bare("server")
    eventually(lambda: "WORK006" in judge.refusal(server), "the exported policies being held")

    assert judge.refusal({**server, "metadata": {"name": "server", "namespace": "kube-system"}}) == ""
    advised = next(case for case in EDGES if case.name.startswith("the image nvcr.io/nvidia/tritonserver:25.08-py3"))
    assert judge.refusal(_placed(copy.deepcopy(advised.manifest))) == "", "advice refuses nothing"
    for each in exported:
        judge.api.delete(each["apiVersion"], each["kind"], each["metadata"]["name"])
    eventually(lambda: judge.refusal(server) == "", "the exported policies being forgotten")
