"""Flow logs: records of which connections a VPC accepted and refused.

Builds
    LogGroup          keeps the records for a stated time
    Role, RolePolicy  by which the VPC service writes to that group and to no other
    FlowLog           the records

Needs
    A VPC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import iam
from eks_gpu.foundation.arguments import missing, refuse
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.policy_document import allow, document, trust
from eks_gpu.settings.network import FlowLogs as FlowLogsSettings

_AGGREGATION_SECONDS: Final = 600
"""One record a connection and ten minutes: training moves much data over few connections, so this stays small."""


@dataclass(frozen=True, kw_only=True)
class FlowLogsArgs:
    """What flow logs are made of."""

    settings: FlowLogsSettings
    """How long records are kept."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""

    account_id: pulumi.Input[str]
    """Account that owns the VPC: only on its behalf may the VPC service assume the role."""


class FlowLogs(Component):
    """Records of a VPC's connections."""

    log_group_name: pulumi.Output[str]
    """Where the records are."""

    def __init__(self, name: str, args: FlowLogsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define where records go, who may write them there, then the records."""
        refuse(missing(args, "vpc_id", "account_id"), component=name)
        super().__init__(name, opts)
        group = aws.cloudwatch.LogGroup(
            self.child_name("group"), retention_in_days=args.settings.retention_days, opts=self.child_opts()
        )
        role, policy = self._writer(args, group)
        aws.ec2.FlowLog(
            self.child_name("records"),
            vpc_id=args.vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            max_aggregation_interval=_AGGREGATION_SECONDS,
            opts=self.child_opts(depends_on=[policy]),
        )
        self.log_group_name = group.name
        self.register_outputs({"log_group_name": self.log_group_name})

    def _writer(self, args: FlowLogsArgs, group: aws.cloudwatch.LogGroup) -> tuple[aws.iam.Role, aws.iam.RolePolicy]:
        on_behalf = {"StringEquals": {"aws:SourceAccount": args.account_id}}
        role = aws.iam.Role(
            self.child_name("role"),
            assume_role_policy=pulumi.Output.json_dumps(trust(iam.FLOW_LOGS, condition=on_behalf)),
            opts=self.child_opts(),
        )
        policy = aws.iam.RolePolicy(
            self.child_name("policy"),
            role=role.name,
            policy=pulumi.Output.json_dumps(writing_to(group.arn)),
            opts=self.child_opts(),
        )
        return role, policy


def writing_to(group_arn: pulumi.Input[str]) -> dict[str, object]:
    """Return the policy of writing to one log group. Finding it by name is an action that knows no resource."""
    write = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
    return document(
        allow("WriteRecords", write, [pulumi.Output.concat(group_arn, ":*")]),
        allow("FindTheGroup", ["logs:DescribeLogGroups"], ["*"]),
    )
