"""What a run is told besides the resources: facts about the organisation that no resource can tell."""

from __future__ import annotations

from dataclasses import dataclass


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
