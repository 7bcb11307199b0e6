"""Queues, EventBridge rules and their targets, and log groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import as_list, removed
from sandbox.providers.aws.names import name_on_create
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_QUEUE_ATTRIBUTES: Final = {
    "contentBasedDeduplication": "ContentBasedDeduplication",
    "delaySeconds": "DelaySeconds",
    "fifoQueue": "FifoQueue",
    "kmsDataKeyReusePeriodSeconds": "KmsDataKeyReusePeriodSeconds",
    "kmsMasterKeyId": "KmsMasterKeyId",
    "maxMessageSize": "MaximumMessageSize",
    "messageRetentionSeconds": "MessageRetentionPeriod",
    "policy": "Policy",
    "receiveWaitTimeSeconds": "ReceiveMessageWaitTimeSeconds",
    "redrivePolicy": "RedrivePolicy",
    "sqsManagedSseEnabled": "SqsManagedSseEnabled",
    "visibilityTimeoutSeconds": "VisibilityTimeout",
}


def _attributes(inputs: Properties) -> dict[str, str]:
    given = {name: inputs[key] for key, name in _QUEUE_ATTRIBUTES.items() if inputs.get(key) is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


def _create_queue(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    tags = inputs.get("tags") or None
    url = api.call("sqs", "create_queue", QueueName=name, Attributes=_attributes(inputs), tags=tags)["QueueUrl"]
    return Made(url, {"url": url, "name": name, "arn": arn("sqs", name, api.region)})


def _read_queue(api: Api, existing: Stored) -> Properties | None:
    found_ = found(api, "sqs", "get_queue_attributes", "Attributes", QueueUrl=existing.id, AttributeNames=["QueueArn"])
    return None if found_ is None else {"arn": found_["QueueArn"]}


def _update_queue(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    fixed = {"FifoQueue"}
    changed = {key: value for key, value in _attributes(new).items() if key not in fixed}
    if changed:
        api.call("sqs", "set_queue_attributes", QueueUrl=existing.id, Attributes=changed)
    gone = removed(old, new)
    if gone:
        api.call("sqs", "untag_queue", QueueUrl=existing.id, TagKeys=gone)
    if new.get("tags"):
        api.call("sqs", "tag_queue", QueueUrl=existing.id, Tags=new["tags"])
    return {}


def _delete_queue(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call("sqs", "delete_queue", QueueUrl=existing.id)


def _set_policy(api: Api, url: str, policy: str) -> None:
    api.call("sqs", "set_queue_attributes", QueueUrl=url, Attributes={"Policy": policy})


def _create_queue_policy(api: Api, inputs: Properties) -> Made:
    _set_policy(api, inputs["queueUrl"], inputs["policy"])
    return Made(inputs["queueUrl"])


def _read_queue_policy(api: Api, existing: Stored) -> Properties | None:
    attributes = found(
        api, "sqs", "get_queue_attributes", "Attributes", QueueUrl=existing.id, AttributeNames=["Policy"]
    )
    return {} if (attributes or {}).get("Policy") else None


def _update_queue_policy(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del old
    _set_policy(api, existing.id, new["policy"])
    return {}


def _delete_queue_policy(api: Api, existing: Stored) -> None:
    with missing_ok():
        _set_policy(api, existing.id, "")


def _put_rule(api: Api, inputs: Properties) -> Properties:
    name = name_on_create(inputs)
    disabled = inputs.get("isEnabled") is False
    made = api.call(
        "events",
        "put_rule",
        Name=name,
        EventPattern=inputs.get("eventPattern"),
        ScheduleExpression=inputs.get("scheduleExpression"),
        State=inputs.get("state") or ("DISABLED" if disabled else "ENABLED"),
        Description=inputs.get("description"),
        RoleArn=inputs.get("roleArn"),
        EventBusName=inputs.get("eventBusName"),
        Tags=as_list(inputs.get("tags")) or None,
    )
    return {"name": name, "arn": made["RuleArn"]}


def _create_rule(api: Api, inputs: Properties) -> Made:
    outputs = _put_rule(api, inputs)
    return Made(outputs["name"], outputs)


def _read_rule(api: Api, existing: Stored) -> Properties | None:
    bus = existing.state.get("eventBusName")
    name = found(api, "events", "describe_rule", "Arn", Name=existing.id, EventBusName=bus)
    return None if name is None else {}


def _update_rule(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    outputs = _put_rule(api, {**new, "name": existing.id})
    gone = removed(old, new)
    if gone:
        api.call("events", "untag_resource", ResourceARN=existing.state["arn"], TagKeys=gone)
    return outputs


def _delete_rule(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call("events", "delete_rule", Name=existing.id, EventBusName=existing.state.get("eventBusName"))


def _target(inputs: Properties) -> dict[str, Any]:
    names = {"arn": "Arn", "input": "Input", "inputPath": "InputPath", "roleArn": "RoleArn"}
    return {"Id": inputs["targetId"]} | {names[key]: inputs[key] for key in names if inputs.get(key) is not None}


def target_id(inputs: Mapping[str, Any]) -> str:
    """Return the id of a target: AWS needs one, and the real provider makes one up when the program gives none."""
    return inputs.get("targetId") or f"sandbox-{inputs['arn'].rsplit(':', 1)[-1]}"


def _create_target(api: Api, inputs: Properties) -> Made:
    asked = {**inputs, "targetId": target_id(inputs)}
    api.call(
        "events", "put_targets", Rule=asked["rule"], EventBusName=asked.get("eventBusName"), Targets=[_target(asked)]
    )
    return Made(f"{asked['rule']}-{asked['targetId']}", {"targetId": asked["targetId"]})


def _read_target(api: Api, existing: Stored) -> Properties | None:
    rule, bus = existing.state["rule"], existing.state.get("eventBusName")
    if found(api, "events", "describe_rule", "Arn", Name=rule, EventBusName=bus) is None:
        return None
    targets = api.call("events", "list_targets_by_rule", Rule=rule, EventBusName=bus)["Targets"]
    return {} if any(target["Id"] == existing.state["targetId"] for target in targets) else None


def _update_target(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del old
    asked = {**new, "targetId": existing.state["targetId"]}
    api.call(
        "events", "put_targets", Rule=asked["rule"], EventBusName=asked.get("eventBusName"), Targets=[_target(asked)]
    )
    return {}


def _delete_target(api: Api, existing: Stored) -> None:
    state = existing.state
    with missing_ok():
        ids, bus = [state["targetId"]], state.get("eventBusName")
        api.call("events", "remove_targets", Rule=state["rule"], EventBusName=bus, Ids=ids)


def _create_log_group(api: Api, inputs: Properties) -> Made:
    name = name_on_create(inputs)
    tags = inputs.get("tags") or None
    api.call("logs", "create_log_group", logGroupName=name, kmsKeyId=inputs.get("kmsKeyId"), tags=tags)
    _keep_logs(api, name, inputs)
    return Made(name, {"name": name, "arn": arn("logs", f"log-group:{name}", api.region)})


def _keep_logs(api: Api, name: str, inputs: Properties) -> None:
    days = inputs.get("retentionInDays")
    if days:
        api.call("logs", "put_retention_policy", logGroupName=name, retentionInDays=days)
    else:
        api.call("logs", "delete_retention_policy", logGroupName=name)


def _read_log_group(api: Api, existing: Stored) -> Properties | None:
    groups = api.call("logs", "describe_log_groups", logGroupNamePrefix=existing.id)["logGroups"]
    return {} if any(group["logGroupName"] == existing.id for group in groups) else None


def _update_log_group(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    _keep_logs(api, existing.id, new)
    gone = removed(old, new)
    if gone:
        api.call("logs", "untag_log_group", logGroupName=existing.id, tags=gone)
    if new.get("tags"):
        api.call("logs", "tag_log_group", logGroupName=existing.id, tags=new["tags"])
    return {}


def _delete_log_group(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call("logs", "delete_log_group", logGroupName=existing.id)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:sqs/queue:Queue": Kept(_create_queue, _read_queue, _delete_queue, _update_queue),
    "aws:sqs/queuePolicy:QueuePolicy": Kept(
        _create_queue_policy, _read_queue_policy, _delete_queue_policy, _update_queue_policy
    ),
    "aws:cloudwatch/eventRule:EventRule": Kept(_create_rule, _read_rule, _delete_rule, _update_rule),
    "aws:cloudwatch/eventTarget:EventTarget": Kept(_create_target, _read_target, _delete_target, _update_target),
    "aws:cloudwatch/logGroup:LogGroup": Kept(_create_log_group, _read_log_group, _delete_log_group, _update_log_group),
}
