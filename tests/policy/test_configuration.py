"""How a run is configured, and what it says when that makes no sense."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import fields

import jsonschema
import pytest

from eks_gpu_policies.configuration import (
    ENVIRONMENT_VARIABLE,
    NOT_EVALUATED_VARIABLE,
    PLATFORM_KEY,
    SCHEMA,
    ConfigurationError,
    Unanswered,
    configure,
    read_given,
)
from eks_gpu_policies.options import Options, Quotas
from eks_gpu_policies.rule import Environment, Level

WAIVER = {"rule": "NODE006", "resource": "x", "owner": "ml", "reason": "being qualified", "until": "2026-12-31"}


def platform(**settings: object) -> dict[str, str]:
    return {PLATFORM_KEY: json.dumps(settings)}


def test_nobody_says_anything() -> None:
    configuration = configure({}, {}, {})
    assert configuration.environment is Environment.PROD
    assert not configuration.options.environment_named
    assert configuration.options.monthly_budget_usd is None
    assert configuration.waivers == ()
    assert configuration.not_evaluated is Unanswered.COUNT
    assert not configuration.fail_on_not_evaluated


def test_the_pack_goes_before_the_variable_and_the_variable_before_the_stack() -> None:
    stack, variable, pack = platform(environment="dev"), {ENVIRONMENT_VARIABLE: "staging"}, {"environment": "prod"}
    assert configure({}, {}, stack).environment is Environment.DEV
    assert configure({}, variable, stack).environment is Environment.STAGING
    assert configure(pack, variable, stack).environment is Environment.PROD
    assert configure(pack, {}, {}).options.environment_named


def test_an_empty_variable_says_nothing() -> None:
    assert configure({}, {ENVIRONMENT_VARIABLE: ""}, platform(environment="dev")).environment is Environment.DEV


def test_the_budget_comes_from_the_pack_or_the_stack() -> None:
    stack = platform(budget={"monthly_usd": 500})
    assert configure({}, {}, stack).options.monthly_budget_usd == 500
    assert configure({"monthlyBudgetUsd": 700.5}, {}, stack).options.monthly_budget_usd == 700.5


def test_waivers_of_pack_and_stack_add_up() -> None:
    both = configure({"waivers": [WAIVER]}, {}, platform(waivers=[{**WAIVER, "resource": "y"}]))
    assert [waiver.resource for waiver in both.waivers] == ["x", "y"]


def test_the_list_of_what_is_open_is_asked_for_by_pack_or_variable() -> None:
    assert configure({"notEvaluated": "list"}, {}, {}).not_evaluated is Unanswered.LIST
    assert configure({}, {NOT_EVALUATED_VARIABLE: "list"}, {}).not_evaluated is Unanswered.LIST


def test_options_and_levels_are_handed_on() -> None:
    pack = {"approvedImages": ["ami-1"], "volumesEncryptedByAccount": True, "failOnNotEvaluated": True}
    configuration = configure(pack, {}, {}, {"NODE004": Level.ADVISORY})
    assert configuration.options.approved_images == {"ami-1"}
    assert configuration.options.volumes_encrypted_by_account
    assert configuration.fail_on_not_evaluated
    assert configuration.levels == {"NODE004": Level.ADVISORY}


@pytest.mark.parametrize(
    ("pack", "variables", "stack", "says"),
    [
        ({"environment": "prd"}, {}, {}, "environment is 'prd'; it must be one of dev, staging, prod"),
        ({}, {ENVIRONMENT_VARIABLE: "live"}, {}, "EKS_GPU_ENVIRONMENT is 'live'; it must be one of dev, staging, prod"),
        ({}, {}, platform(environment=[]), "eks-gpu:platform.environment is []; it must be one of"),
        ({"monthlyBudgetUsd": 0}, {}, {}, "monthlyBudgetUsd is 0; it must be a number of US dollars above 0"),
        ({}, {}, platform(budget={"monthly_usd": "9"}), "eks-gpu:platform.budget.monthly_usd is '9'; it must be"),
        ({"approvedImages": "ami-1"}, {}, {}, "approvedImages is 'ami-1'; it must be a list of texts"),
        ({"failOnNotEvaluated": "yes"}, {}, {}, "failOnNotEvaluated is 'yes'; it must be true or false"),
        ({"notEvaluated": "all"}, {}, {}, "notEvaluated is 'all'; it must be one of count, list"),
        ({}, {}, {PLATFORM_KEY: "["}, "eks-gpu:platform is not a mapping; it holds the settings of a stack file"),
        ({}, {}, platform(waivers=[{}]), "eks-gpu:platform.waivers[0].rule is missing"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place_and_value(
    pack: dict[str, object], variables: dict[str, str], stack: dict[str, str], says: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configure(pack, variables, stack)
    assert caught.value.problems[0].startswith(says)


@pytest.mark.parametrize(
    ("pack", "levels", "says"),
    [
        ({"enviroment": "dev"}, {}, "enviroment is no option of the policy eks-gpu (did you mean environment?)"),
        (
            {"monthlyBudgetUSD": 5},
            {},
            "monthlyBudgetUSD is no option of the policy eks-gpu (did you mean monthlyBudgetUsd?)",
        ),
        ({}, {"NODE400": Level.ADVISORY}, "NODE400 is no rule of this pack (did you mean NODE004?)"),
        ({}, {"x": Level.ADVISORY}, "x is no rule of this pack (there are NODE004, COST001)"),
    ],
)
def test_what_would_have_no_effect_is_refused(pack: dict[str, object], levels: dict[str, Level], says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configure(pack, {}, {}, levels, ["NODE004", "COST001"])
    assert caught.value.problems == (says,)


def test_a_level_for_all_rules_gives_way_to_those_of_single_rules() -> None:
    content = {"all": "advisory", "NODE004": {"enforcementLevel": "disabled"}, "eks-gpu": {"environment": "dev"}}
    given = read_given(content, "eks-gpu", ["NODE004", "COST001"])
    assert given.levels == {"NODE004": Level.DISABLED, "COST001": Level.ADVISORY}
    assert given.options == {"environment": "dev"}


def test_a_rule_has_no_options() -> None:
    content = {"NODE004": {"enforcementLevel": "advisory", "taint": "x"}, "all": {"strict": True}}
    with pytest.raises(ConfigurationError) as caught:
        read_given(content, "eks-gpu", ["NODE004"])
    assert caught.value.problems == (
        "taint is no option of NODE004: a rule has only a level, and options stand under eks-gpu",
        "strict is no option of all: a rule has only a level, and options stand under eks-gpu",
    )


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        configure({"environment": "x", "monthlyBudgetUsd": -1, "waivers": 3}, {}, {})
    assert len(caught.value.problems) == 3


def test_the_schema_is_a_schema_and_names_everything_that_is_read() -> None:
    jsonschema.Draft7Validator.check_schema({"type": "object", "properties": {k: dict(v) for k, v in SCHEMA.items()}})
    everything = {
        "environment": "dev",
        "monthlyBudgetUsd": 1,
        "approvedImages": ["a"],
        "volumesEncryptedByAccount": True,
        "requiredPoolLabels": ["team"],
        "clusterClasses": ["gp3"],
        "monitoringStack": "grafana.example",
        "hubMegabytesPerSecond": 40,
        "smallestShareMib": 2048,
        "vcpuQuotas": {"recorded": "2026-11-01", "vcpus": {"L-DB2E81BA": 768}},
        "waivers": [WAIVER],
        "notEvaluated": "list",
        "failOnNotEvaluated": True,
    }
    assert set(everything) == set(SCHEMA)
    jsonschema.validate(everything, {"type": "object", "properties": {k: dict(v) for k, v in SCHEMA.items()}})
    options, unsaid = configure(everything, {}, {}).options, configure({}, {}, {}).options
    said = {item.name for item in fields(Options) if getattr(options, item.name) != getattr(unsaid, item.name)}
    assert said == {item.name for item in fields(Options)} - {"today", "manifests_only"}


def test_the_labels_of_our_own_stacks_are_required_of_them_and_of_nobody_else() -> None:
    assert configure({}, {}, {}).options.required_pool_labels == frozenset()
    assert "gpu-type" in configure({}, {}, platform(environment="dev")).options.required_pool_labels
    none = configure({"requiredPoolLabels": []}, {}, platform(environment="dev"))
    assert none.options.required_pool_labels == frozenset()


def test_quotas_stand_in_the_stack_file_or_nearer_to_the_run() -> None:
    ours = platform(environment="dev", quotas={"recorded": "2026-11-01", "vcpus": {"L-DB2E81BA": 768}})
    assert configure({}, {}, ours).options.vcpu_quotas == Quotas(dt.date(2026, 11, 1), {"L-DB2E81BA": 768.0})
    nearer = {"vcpuQuotas": {"recorded": "2026-11-20", "vcpus": {"L-DB2E81BA": 64}}}
    assert configure(nearer, {}, ours).options.vcpu_quotas == Quotas(dt.date(2026, 11, 20), {"L-DB2E81BA": 64.0})


def test_a_mistake_in_the_stack_files_quotas_is_told_with_its_path() -> None:
    with pytest.raises(ConfigurationError, match=r"^eks-gpu:platform\.quotas is 768; it must be such as \{recorded"):
        configure({}, {}, platform(environment="dev", quotas=768))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("vcpuQuotas", {"recorded": "yesterday", "vcpus": {}}),
        ("vcpuQuotas", {"recorded": "2026-11-01", "vcpus": {"L-DB2E81BA": "many"}}),
        ("vcpuQuotas", 768),
        ("monitoringStack", ""),
        ("smallestShareMib", 0),
        ("hubMegabytesPerSecond", True),
        ("clusterClasses", "gp3"),
    ],
)
def test_an_option_of_the_wrong_form_is_told_with_what_it_must_be(option: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"{option} is .* it must be"):
        configure({option: value}, {}, {})
