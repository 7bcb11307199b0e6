"""EC2's quotas on running GPU instances: counted in vCPU, apart for families and for on demand and spot."""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = (
    'EC2 user guide, "Amazon EC2 instance type quotas" (table of vCPU quotas with their codes, on demand and spot; '
    'new accounts have 0 of all of these); EC2 user guide, "Spot Instance quotas"'
)
CHECKED = "2026-11-21"


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota of an account in a region."""

    code: str
    name: str
    families: tuple[str, ...]
    """What the families that it counts begin with: ``p4`` stands for p4d and p4de."""
    spot: bool


G_ON_DEMAND = Quota("L-DB2E81BA", "Running On-Demand G and VT instances", ("g", "vt"), spot=False)
P_ON_DEMAND = Quota("L-417A185B", "Running On-Demand P instances", ("p",), spot=False)
G_SPOT = Quota("L-3819A6DF", "All G and VT Spot Instance Requests", ("g", "vt"), spot=True)
P4_SPOT = Quota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", ("p2", "p3", "p4"), spot=True)
P5_SPOT = Quota("L-C4BD4855", "All P5 Spot Instance Requests", ("p5",), spot=True)

QUOTAS: tuple[Quota, ...] = (G_ON_DEMAND, P_ON_DEMAND, G_SPOT, P4_SPOT, P5_SPOT)
"""Those of the catalogue's families. Which one counts p6 on spot no document that was read says."""


def quota_of(family: str, *, spot: bool) -> Quota | None:
    """Return the quota that counts an instance family (``g6e``); None where it is not known."""
    return next((quota for quota in QUOTAS if quota.spot is spot and family.startswith(quota.families)), None)
