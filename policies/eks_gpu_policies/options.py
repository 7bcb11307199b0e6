"""What a run is told besides the resources: facts about the organisation that no resource can tell."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quotas:
    """The account's EC2 quotas on running instances, as somebody wrote them down. They are counted in vCPU."""

    recorded: dt.date
    vcpus: Mapping[str, float]
    """Quota code (``L-DB2E81BA``) to how many vCPU may run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Facts that rules ask for. Every one may be left out; a rule then says what it could not judge."""

    environment_named: bool = False
    """Whether somebody said which environment this is. If nobody did, the levels of prod hold, but nothing is demanded
    that only a named environment can be expected to have, such as a budget."""
    monthly_budget_usd: float | None = None
    """The most the stack's GPU pools may cost in a month if they all ran at their limits."""
    approved_images: frozenset[str] = frozenset()
    """Image ids, aliases and release versions that have been qualified; empty when nobody keeps such a list."""
    volumes_encrypted_by_account: bool = False
    """Whether the AWS account encrypts every new EBS volume by itself."""
    required_pool_labels: frozenset[str] = frozenset()
    """Keys of labels that every GPU pool must carry; the one set of this project for stacks of its own."""
    cluster_classes: frozenset[str] | None = None
    """StorageClasses that are in the cluster besides those of the stack; None when nobody said."""
    monitoring_stack: str | None = None
    """Where the GPUs are watched, if not by this stack; None when nobody said."""
    hub_megabytes_per_second: float = 100
    """How fast models come from a hub on the internet. The default is a planning figure: public hubs promise none."""
    smallest_share_mib: int = 4096
    """The least memory of a share of a GPU. The default is judgement: CUDA's own context takes about 500 MiB of it, and
    the smallest language models in use need 2 to 3 GiB."""
    vcpu_quotas: Quotas | None = None
    """What may run in the account; None when nobody wrote it down."""
    today: dt.date = dt.date.min
    """The day of the run. Whoever evaluates sets it."""
    manifests_only: bool = False
    """Whether the resources come from Kubernetes manifests: no order is known, and other things may be in the cluster
    that nobody sees here."""
