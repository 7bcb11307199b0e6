"""The queue through which Karpenter hears that an instance will go, early enough to drain it.

Builds
    Queue                   encrypted, short-lived
    QueuePolicy             who may send, and only over TLS
    EventRule, EventTarget  one for each kind of event
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import interruptions
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.policy_document import deny, document


class InterruptionQueue(Component):
    """The queue through which Karpenter hears that an instance will go."""

    queue_name: pulumi.Output[str]
    """Name of the queue, as Karpenter's chart takes it."""

    queue_arn: pulumi.Output[str]
    """ARN of the queue, for the policy of its reader."""

    ready: tuple[pulumi.Resource, ...]
    """The policy and every target: until then events are lost."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the queue, who may send to it, then the events that do."""
        super().__init__(name, opts)
        queue = self._queue()
        policy = self._policy(queue)
        targets = tuple(self._target(key, event, queue) for key, event in interruptions.EVENTS.items())
        self.queue_name = queue.name
        self.queue_arn = queue.arn
        self.ready = (policy, *targets)
        self.register_outputs({"queue_name": self.queue_name, "queue_arn": self.queue_arn})

    def _queue(self) -> aws.sqs.Queue:
        return aws.sqs.Queue(
            self.child_name("queue"),
            message_retention_seconds=interruptions.RETENTION_SECONDS,
            sqs_managed_sse_enabled=True,
            opts=self.child_opts(),
        )

    def _policy(self, queue: aws.sqs.Queue) -> aws.sqs.QueuePolicy:
        return aws.sqs.QueuePolicy(
            self.child_name("policy"),
            queue_url=queue.url,
            policy=pulumi.Output.json_dumps(queue.arn.apply(queue_policy)),
            opts=self.child_opts(),
        )

    def _target(self, key: str, event: interruptions.Event, queue: aws.sqs.Queue) -> aws.cloudwatch.EventTarget:
        rule = aws.cloudwatch.EventRule(
            self.child_name(key),
            description=f"tells Karpenter of: {event.detail_type}",
            event_pattern=pulumi.Output.json_dumps(event.pattern()),
            opts=self.child_opts(),
        )
        return aws.cloudwatch.EventTarget(
            self.child_name(f"{key}-target"), rule=rule.name, arn=queue.arn, opts=self.child_opts()
        )


def queue_policy(queue_arn: str) -> dict[str, object]:
    """Return the policy of the queue: AWS's event services may send, and nobody does anything without TLS."""
    send: dict[str, object] = {
        "Sid": "SendEvents",
        "Effect": "Allow",
        "Principal": {"Service": list(interruptions.SENDERS)},
        "Action": ["sqs:SendMessage"],
        "Resource": [queue_arn],
    }
    insecure = deny("RefuseWithoutTls", ["sqs:*"], [queue_arn], condition={"Bool": {"aws:SecureTransport": "false"}})
    return document(send, {**insecure, "Principal": "*"})
