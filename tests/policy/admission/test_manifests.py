from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from eks_gpu_policies.admission.manifests import EXEMPT_NAMESPACES, SAID, manifests
from eks_gpu_policies.admission.said import Said, text
from eks_gpu_policies.admission.unsaid import leaves, why_not
from eks_gpu_policies.rule import Environment, Level, Rule
from eks_gpu_policies.rules import BY_ID, RULES

_EXPRESSION_BYTES = 100_000
"""How many code points the API server's parser takes (cel-go v0.26, parser.expressionSizeCodePointLimit)."""


def bindings(environment: Environment, **options: Any) -> Mapping[str, Any]:  # noqa: ANN401 - options of `manifests`
    found = manifests(environment, **options)
    return {item["metadata"]["name"]: item["spec"] for item in found if item["kind"].endswith("Binding")}


def policies(environment: Environment = Environment.PROD, **options: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - same
    return [item for item in manifests(environment, **options) if not item["kind"].endswith("Binding")]


def test_what_is_mandatory_is_refused_and_what_is_advisory_warns() -> None:
    prod, dev = bindings(Environment.PROD), bindings(Environment.DEV)
    assert prod["eks-gpu-work006"]["validationActions"] == ["Deny", "Audit"]
    assert dev["eks-gpu-work006"]["validationActions"] == ["Warn", "Audit"]
    assert dev["eks-gpu-cost001"]["validationActions"] == ["Deny", "Audit"]
    assert prod["eks-gpu-work014"]["validationActions"] == ["Warn", "Audit"]


def test_advice_within_a_mandatory_rule_warns() -> None:
    assert bindings(Environment.PROD)["eks-gpu-work005-advice"]["validationActions"] == ["Warn", "Audit"]


def test_levels_may_be_overridden_and_a_rule_switched_off() -> None:
    found = bindings(Environment.PROD, levels={"WORK006": Level.ADVISORY, "WORK005": Level.DISABLED})
    assert found["eks-gpu-work006"]["validationActions"] == ["Warn", "Audit"]
    assert not {"eks-gpu-work005", "eks-gpu-work005-advice"} & found.keys()


def test_only_the_rules_that_are_wanted_are_there_each_with_its_binding() -> None:
    found = manifests(Environment.PROD, rules={"COST005"})
    assert [(item["kind"], item["metadata"]["name"]) for item in found] == [
        ("ValidatingAdmissionPolicy", "eks-gpu-cost005"),
        ("ValidatingAdmissionPolicyBinding", "eks-gpu-cost005"),
    ]


def test_exempt_namespaces_are_left_out_where_there_are_namespaces() -> None:
    found = bindings(Environment.PROD, exempt=("b", "a"))
    selector = found["eks-gpu-work006"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert selector == [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["a", "b"]}]
    assert "matchResources" not in found["eks-gpu-cost001"]
    assert "matchResources" not in bindings(Environment.PROD, exempt=())["eks-gpu-work006"]
    assert "kube-system" in EXEMPT_NAMESPACES


@pytest.mark.parametrize("said", SAID, ids=lambda said: said.name)
def test_a_policy_is_within_what_the_server_takes(said: Said) -> None:
    expressions = [expression for _, expression in (*said.conditions, *said.variables)]
    assert max(map(len, [*expressions, said.expression, said.message])) < _EXPRESSION_BYTES
    assert len(said.conditions) <= 64
    for name, _ in said.variables:
        assert name.isidentifier()


def test_a_policy_says_why_and_what_to_do_and_judges_what_is_new_or_changed() -> None:
    for policy in policies():
        rule = BY_ID[policy["spec"]["validations"][0]["message"].partition(":")[0]]
        assert rule.why in policy["metadata"]["annotations"]["kubernetes.io/description"]
        assert rule.fix in policy["metadata"]["annotations"]["kubernetes.io/description"]
        for constraint in policy["spec"]["matchConstraints"]["resourceRules"]:
            assert constraint["operations"] == ["CREATE", "UPDATE"]
            assert not any("/" in resource or "*" in resource for resource in constraint["resources"])


def test_names_are_unique() -> None:
    assert len({said.name for said in SAID}) == len(SAID)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_is_said_or_has_a_reason_why_not(rule: Rule[Any]) -> None:
    reason = why_not(rule)
    assert (reason is None) == any(said.rule == rule.id for said in SAID)
    assert reason != "nobody has written it yet", "say it in CEL, or say in unsaid.py what it takes besides the object"


def test_what_a_policy_leaves_to_its_rule_is_said() -> None:
    assert leaves(BY_ID["COST004"]) == "what the namespace's pods ask and no quota counts"
    assert leaves(BY_ID["COST005"]) == ""


def test_texts_are_written_as_cel_writes_them() -> None:
    assert text(r"it's \d") == r"'it\'s \\d'"
