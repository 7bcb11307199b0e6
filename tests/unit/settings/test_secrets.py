from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from eks_gpu.settings import stack_file
from eks_gpu.settings.block import Block
from eks_gpu.settings.explain import explain
from eks_gpu.settings.problems import InvalidSettingsError
from eks_gpu.settings.secret import ConfigSecret

WEBHOOK = "https://hooks.example.com/T0/B0/hunter2"


class _Slack(Block):
    """Where alerts go."""

    address: ConfigSecret
    """Address of the hook."""


def _messages(data: object) -> list[str]:
    with pytest.raises(ValidationError) as raised:
        _Slack.model_validate(data)
    return [str(problem) for problem in explain(raised.value, data, _Slack, {})]


def test_a_secret_is_a_reference() -> None:
    reference = _Slack.model_validate({"address": {"config_secret": "slack_webhook"}}).address
    assert reference.model_dump() == {"config_secret": "slack_webhook"}


def test_a_plain_secret_is_refused_and_not_repeated() -> None:
    (message,) = _messages({"address": WEBHOOK})
    assert message == (
        "address: must be {config_secret: name}; a secret never stands in a stack file, so set it with "
        "`pulumi config set --secret eks-gpu:name`"
    )


def test_a_secret_in_place_of_its_name_is_refused_and_not_repeated() -> None:
    (message,) = _messages({"address": {"config_secret": WEBHOOK}})
    assert message.startswith("address.config_secret: is a value that is not shown; must match ^[A-Za-z]")
    assert "hunter2" not in message


def test_the_text_of_pydantics_own_error_holds_no_value() -> None:
    with pytest.raises(ValidationError) as raised:
        _Slack.model_validate({"address": {"config_secret": WEBHOOK}})
    assert "hunter2" not in str(raised.value)


def test_a_secret_under_a_key_that_is_not_known_is_not_repeated(write: Callable[[str], Path], good: str) -> None:
    text = good.replace("    budget:", "    slack: hunter2\n    hf_token: hunter2\n    budget:").replace(
        "model_cache:\n      size_gib: 1200", "model_cache:\n      size_gib: 1200\n      token: hunter2"
    )
    with pytest.raises(InvalidSettingsError) as raised:
        stack_file.load(write(text))
    assert len(raised.value.problems) == 3
    assert "hunter2" not in str(raised.value)
