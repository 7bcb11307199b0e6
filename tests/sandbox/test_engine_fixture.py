from __future__ import annotations

import pytest

from tests.support.engine import Bench

pytestmark = pytest.mark.engine

SETTINGS = {"aws:region": "us-east-1", "app:seconds": 300}

TWO_QUEUES = """
import pulumi
import pulumi_aws as aws

first = aws.sqs.Queue("first", message_retention_seconds=pulumi.Config("app").require_int("seconds"))
aws.sqs.Queue("second", tags={"beside": first.name})
"""


def test_a_preview_shows_each_resource_with_its_inputs_and_no_plugin_warning(engine: Bench) -> None:
    program = engine.program(TWO_QUEUES)

    result = engine.preview(program, config=SETTINGS)

    assert result.returncode == 0, result.output
    assert result.operations("aws:sqs/queue:Queue") == ["create", "create"]
    assert result.step("first").inputs["messageRetentionSeconds"] == 300
    assert "warning" not in result.output
    assert "$PATH" not in result.output


def test_what_was_deployed_is_in_the_state_and_can_be_destroyed(engine: Bench) -> None:
    program = engine.program(TWO_QUEUES)

    first = engine.up(program, config=SETTINGS)
    state = engine.export(program)
    gone = engine.destroy(program, config=SETTINGS)

    assert first.returncode == 0, first.output
    assert first.changes["create"] == 3
    kept = [resource["type"] for resource in state["deployment"]["resources"]]
    assert kept.count("aws:sqs/queue:Queue") == 2
    assert gone.changes == {"delete": 3}
