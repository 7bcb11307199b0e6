"""The events by which EC2 announces that an instance will go, and that Karpenter wants to hear of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SOURCE = (
    "aws/karpenter-provider-aws website/content/en/v1.14/getting-started/getting-started-with-karpenter/"
    "cloudformation.yaml (rules and queue); the capacity reservation warning came with 1.10"
)
CHECKED = "2026-11-21"


@dataclass(frozen=True, slots=True)
class Event:
    """A kind of event on the account's default EventBridge bus."""

    source: str
    detail_type: str

    def pattern(self) -> dict[str, list[str]]:
        """Return the EventBridge pattern that matches exactly these events."""
        return {"source": [self.source], "detail-type": [self.detail_type]}


EVENTS: Mapping[str, Event] = MappingProxyType(
    {
        "scheduled-change": Event("aws.health", "AWS Health Event"),
        "spot-interruption": Event("aws.ec2", "EC2 Spot Instance Interruption Warning"),
        "rebalance": Event("aws.ec2", "EC2 Instance Rebalance Recommendation"),
        "state-change": Event("aws.ec2", "EC2 Instance State-change Notification"),
        "reservation-interruption": Event("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
    }
)
"""Every event that must reach Karpenter's queue, by a word that names its rule."""

RETENTION_SECONDS = 300
"""How long an event is worth keeping: the instance is gone after two minutes."""

SENDERS: tuple[str, ...] = ("events.amazonaws.com", "sqs.amazonaws.com")
"""AWS services that may put events into the queue."""

LONGEST_RULE_NAME = 64
"""Characters that the name of an EventBridge rule may have (EventBridge API reference, ``PutRule``)."""
