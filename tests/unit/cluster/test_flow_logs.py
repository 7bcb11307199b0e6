from __future__ import annotations

import json

import pulumi
import pytest

from eks_gpu.cluster.flow_logs import FlowLogs, FlowLogsArgs
from eks_gpu.cluster.network import connect
from eks_gpu.recording import Recording, record
from eks_gpu.settings.network import FlowLogs as Settings
from eks_gpu.settings.network import NewNetwork

FLOW_LOG = "aws:ec2/flowLog:FlowLog"


def _record(*, outputs: bool = False) -> Recording:
    def identity(value: str) -> pulumi.Input[str]:
        return pulumi.Output.from_input(value) if outputs else value

    def program() -> None:
        args = FlowLogsArgs(settings=Settings(), vpc_id=identity("vpc-1"), account_id=identity("123456789012"))
        FlowLogs("flow-logs", args)

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_all_connections_of_the_vpc_are_recorded_for_a_stated_time(*, outputs: bool) -> None:
    recording = _record(outputs=outputs)

    records = recording.one(FLOW_LOG)
    assert (records["vpcId"], records["trafficType"]) == ("vpc-1", "ALL")
    assert recording.one("aws:cloudwatch/logGroup:LogGroup")["retentionInDays"] == 30


def test_the_writer_writes_to_one_group_on_behalf_of_one_account() -> None:
    recording = _record()

    group = recording.one("aws:cloudwatch/logGroup:LogGroup")
    write, find = json.loads(recording.one("aws:iam/rolePolicy:RolePolicy")["policy"])["Statement"]
    (written_to,) = write["Resource"]
    assert written_to.endswith(f":{group.name}:*")
    assert find["Action"] == ["logs:DescribeLogGroups"]
    (trusted,) = json.loads(recording.one("aws:iam/role:Role")["assumeRolePolicy"])["Statement"]
    assert trusted["Principal"] == {"Service": "vpc-flow-logs.amazonaws.com"}
    assert trusted["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}


def test_records_come_after_the_right_to_write_them() -> None:
    recording = _record()
    assert recording.reaches(recording.one(FLOW_LOG), recording.one("aws:iam/rolePolicy:RolePolicy"))


@pytest.mark.parametrize(("block", "made"), [(None, 0), (Settings(retention_days=90), 1)])
def test_a_network_has_them_only_where_the_block_is_there(block: Settings | None, made: int) -> None:
    settings = NewNetwork(zones=("us-east-1a", "us-east-1b"), flow_logs=block)
    assert len(record(lambda: connect("network", settings)).of_type(FLOW_LOG)) == made


def test_what_is_missing_is_named() -> None:
    args = FlowLogsArgs(settings=Settings(), vpc_id="", account_id="")
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        record(lambda: FlowLogs("flow-logs", args))
    assert [error["property_path"] for error in refused.value.errors or ()] == ["vpc_id", "account_id"]
