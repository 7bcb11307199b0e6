from __future__ import annotations

import pytest

from sandbox import aws as sandbox_aws
from sandbox.errors import SandboxError
from sandbox.providers.aws.api import DIRECTORY_VARIABLE, ENDPOINT_VARIABLE, Api, ApiError
from sandbox.providers.stand_in import StandInError

REGION = "us-east-1"


def test_a_refusal_tells_its_code_and_whether_the_resource_is_gone(api: Api) -> None:
    with pytest.raises(ApiError) as missing:
        api.call("iam", "get_role", RoleName="nobody")
    with pytest.raises(ApiError) as wrong:
        api.call("ec2", "create_vpc", CidrBlock="10.0.0.0/99")

    assert (missing.value.code, missing.value.gone) == ("NoSuchEntity", True)
    assert not wrong.value.gone
    assert str(wrong.value).startswith("ec2 create_vpc: ")


def test_a_call_that_moto_does_not_know_is_told_in_one_sentence(api: Api) -> None:
    with pytest.raises(ApiError, match=r"^ec2 describe_placement_groups: moto does not know this call"):
        api.call("ec2", "describe_placement_groups")


def test_the_url_of_the_environment_is_used_outside_a_sandbox(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)
    monkeypatch.setenv(ENDPOINT_VARIABLE, endpoint)

    assert "QueueUrls" not in Api(REGION).call("sqs", "list_queues")


def test_a_sandbox_s_aws_is_started_when_it_is_first_asked(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def start() -> str:
        asked.append("started")
        return endpoint

    monkeypatch.setenv(DIRECTORY_VARIABLE, "/nowhere")
    monkeypatch.setenv(ENDPOINT_VARIABLE, "http://127.0.0.1:9")
    monkeypatch.setattr(sandbox_aws, "endpoint", start)

    api = Api(REGION)
    assert asked == []
    api.call("sqs", "list_queues")

    assert asked == ["started"]


def test_a_sandbox_whose_aws_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise SandboxError("the AWS stand-in (moto) did not start; its log is here")

    monkeypatch.setenv(DIRECTORY_VARIABLE, "/nowhere")
    monkeypatch.setattr(sandbox_aws, "endpoint", fail)

    with pytest.raises(StandInError, match="its log is here"):
        Api(REGION).call("sqs", "list_queues")
