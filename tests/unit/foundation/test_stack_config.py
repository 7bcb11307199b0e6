from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar

import pulumi
import pytest

from eks_gpu.foundation import stack_config
from eks_gpu.recording import record
from eks_gpu.settings.platform import Platform
from eks_gpu.settings.problems import SettingsError
from eks_gpu.settings.secret import ConfigSecret

_Result = TypeVar("_Result")

HOOK = ConfigSecret.model_validate({"config_secret": "slack_webhook"})

GOOD: dict[str, Any] = {
    "environment": "dev",
    "owner": "ml-platform",
    "network": {"cidr": "10.10.0.0/16", "zones": ["us-east-1a", "us-east-1b"]},
    "cluster": {"version": "1.35"},
    "system_nodes": {"instance_types": ["m7i.large"]},
    "node_pools": {"g5": {"instance_types": ["g5.xlarge"], "max_gpus": 4}},
    "gpu_software": {"kind": "device_plugin"},
    "budget": {"monthly_usd": 6000.5},
}


def _run(function: Callable[[], _Result], config: dict[str, str]) -> _Result:
    results: list[_Result] = []
    record(lambda: results.append(function()), config=config)
    return results[0]


def _load(value: str | None) -> Platform:
    return _run(stack_config.load, {} if value is None else {"eks-gpu:platform": value})


def test_the_settings_are_read_as_the_engine_hands_them_over() -> None:
    platform = _load(json.dumps(GOOD))
    assert platform.owner == "ml-platform"
    assert platform.node_pools["g5"].max_gpus == 4
    assert platform.budget is not None
    assert platform.budget.monthly_usd == 6000.5


def test_whole_numbers_that_became_floats_on_the_way_are_whole() -> None:
    changed = json.dumps(GOOD).replace('"max_gpus": 4', '"max_gpus": 4.0')
    assert _load(changed).node_pools["g5"].max_gpus == 4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            None,
            (
                "the configuration of stack dev has no eks-gpu:platform; describe the platform under config: "
                "eks-gpu:platform: in its stack file"
            ),
        ),
        (
            json.dumps({**GOOD, "environment": "prd"}),
            'eks-gpu:platform of stack dev: environment: is "prd"; allowed are dev, staging, prod; did you mean prod?',
        ),
        (
            json.dumps({**GOOD, "environment": "prd", "cluster": {"version": 1.35}}),
            (
                "eks-gpu:platform of stack dev has 2 problems:\n"
                '  cluster.version: is 1.35, a number; write it in quotes: "1.35"\n'
                '  environment: is "prd"; allowed are dev, staging, prod; did you mean prod?'
            ),
        ),
    ],
)
def test_mistakes_get_the_same_report_and_the_engine_shows_no_traceback(value: str | None, message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        _load(value)
    assert isinstance(raised.value, pulumi.RunError)
    assert str(raised.value) == message


def test_a_text_in_place_of_the_settings_is_one_sentence() -> None:
    with pytest.raises(SettingsError, match=r"^eks-gpu:platform of stack dev: is a text; give a block with the keys"):
        _load("prod")


def test_a_secret_is_read_as_a_secret_output() -> None:
    secrets: list[bool] = []
    values: list[str] = []

    def program() -> None:
        output = stack_config.secret(HOOK)
        output.apply(values.append)
        is_secret: pulumi.Output[bool] = pulumi.Output.from_input(asyncio.ensure_future(output.is_secret()))
        is_secret.apply(secrets.append)

    record(program, config={"eks-gpu:slack_webhook": "hidden"}, secrets=frozenset({"eks-gpu:slack_webhook"}))
    assert values == ["hidden"]
    assert secrets == [True]


def test_a_secret_that_is_not_set_is_one_sentence_that_says_how_to_set_it() -> None:
    with pytest.raises(SettingsError) as raised:
        _run(lambda: stack_config.secret(HOOK), {})
    assert str(raised.value) == (
        "the settings refer to the secret slack_webhook, which is not set; set it with "
        "`pulumi config set --secret eks-gpu:slack_webhook`"
    )


def test_the_accounts_that_may_be_deployed_to_are_read() -> None:
    assert _run(stack_config.allowed_accounts, {"aws:allowedAccountIds": '["123456789012"]'}) == ("123456789012",)
    assert _run(stack_config.allowed_accounts, {}) == ()


def test_who_deploys_is_not_the_stacks_business_and_is_refused_rather_than_ignored() -> None:
    with pytest.raises(SettingsError) as raised:
        _run(stack_config.allowed_accounts, {"aws:profile": "prod", "aws:assumeRoles": "[]"})
    assert isinstance(raised.value, pulumi.RunError)
    assert str(raised.value) == (
        "the configuration of stack dev has aws:profile, aws:assumeRoles, which is not used; remove it and name the "
        "identity in the environment, such as AWS_PROFILE, because the aws command that gets tokens for the API server "
        "must be the same one"
    )
