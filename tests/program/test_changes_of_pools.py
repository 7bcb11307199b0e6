"""What changing a setting of a group or pool does: updated in place, rolled, replaced, or nothing at all."""

from __future__ import annotations

import pytest

from eks_gpu.settings.gpu_pool import GpuPool
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool
from tests.program.test_pools_program import GROUP, POOL, PROGRAM, changed, settings_of
from tests.support.engine import Bench

pytestmark = pytest.mark.engine

CREATES = "create"
"""Something comes beside what is there."""

UPDATES = "update"
"""Changed in place: no node goes."""

REPLACES = "replace"
"""A new one is made, and the old one goes."""

Row = tuple[dict[str, object], dict[str, str]]
"""What is changed, and what that does to which of the children, by their suffix."""

ONE_ZONE: dict[str, object] = {"instance_types": ["g5.12xlarge"], "zones": ["us-east-1a"]}
BLOCK: dict[str, object] = {"capacity_block_id": "cr-0a1b2c3d4e5f60718"}
MIRROR: dict[str, object] = {"registry": "docker.io", "endpoints": ["https://mirror.example.com"]}
SHARED: dict[str, object] = {"time_slicing": {"replicas": 2}}

ROLLS: dict[str, str] = {"launch-template": UPDATES, "node-group": UPDATES}
"""The new version of the template rolls the nodes of a group, one at a time."""

GROUPS_BEFORE: dict[str, dict[str, object]] = {
    "adapters": ONE_ZONE,
    "close": ONE_ZONE,
    "reserved": ONE_ZONE,
}
"""Groups that are not like the others before the change, by name."""

CHANGES_OF_A_GROUP: dict[str, Row] = {
    "count": ({"count": 3}, {"node-group": UPDATES}),
    "purpose": ({"purpose": "development"}, {"node-group": UPDATES}),
    "repair": ({"node_repair": {"enabled": False}}, {"node-group": UPDATES}),
    "shares": ({"sharing": SHARED}, {"node-group": UPDATES}),
    "resumes": ({"resumable": True}, {}),
    "disk": ({"root_volume": {"size_gib": 200}}, ROLLS),
    "mirrors": ({"image": {"registry_mirrors": [MIRROR]}}, ROLLS),
    "close": ({"placement_group": True}, {**ROLLS, "placement-group": CREATES}),
    "adapters": (
        {"efa": True},
        {
            **ROLLS,
            "placement-group": CREATES,
            "efa": CREATES,
            "efa-security-group": CREATES,
            "efa-from-itself": CREATES,
            "efa-to-itself": CREATES,
        },
    ),
    "family": ({"image": {"family": "bottlerocket"}}, {"launch-template": UPDATES, "node-group": REPLACES}),
    "types": ({"instance_types": ["g5.4xlarge"]}, {"node-group": REPLACES}),
    "capacity": ({"capacity": "spot"}, {"node-group": REPLACES}),
    "zones": ({"zones": ["us-east-1a"]}, {"node-group": REPLACES}),
    "reserved": (
        {"capacity": "reserved", "reservation": BLOCK},
        {"launch-template": UPDATES, "node-group": REPLACES},
    ),
}

POOLS_BEFORE: dict[str, dict[str, object]] = {
    "p-adapters": {**ONE_ZONE, "max_gpus": 8},
    "p-close": {**ONE_ZONE, "max_gpus": 8},
    "p-hours": {"purpose": "training"},
}
"""The same for pools."""

CHANGES_OF_A_POOL: dict[str, Row] = {
    "p-limit": ({"max_gpus": 16}, {"node-pool": UPDATES}),
    "p-capacity": ({"capacity": ["spot", "on-demand"]}, {"node-pool": UPDATES}),
    "p-purpose": ({"purpose": "development"}, {"node-pool": UPDATES}),
    "p-hours": ({"max_job_hours": 24}, {"node-pool": UPDATES}),
    "p-dedicated": ({"dedicated": True}, {"node-pool": UPDATES}),
    "p-types": ({"instance_types": ["g5.xlarge", "g5.2xlarge"]}, {"node-pool": UPDATES}),
    "p-need": ({"instance_types": {"gpus": 1, "gpu": "a10g"}}, {"node-pool": UPDATES}),
    "p-proved": ({"validate_new_nodes": True}, {"node-pool": UPDATES}),
    "p-shares": ({"sharing": SHARED}, {"node-pool": UPDATES}),
    "p-resumes": ({"resumable": True}, {}),
    "p-warm": ({"warm_nodes": 1}, {"warm-priority": CREATES, "warm": CREATES}),
    "p-disk": ({"root_volume": {"size_gib": 200}}, {"node-class": UPDATES}),
    "p-mirrors": ({"image": {"registry_mirrors": [MIRROR]}}, {"node-class": UPDATES}),
    "p-family": ({"image": {"family": "bottlerocket"}}, {"node-class": UPDATES, "node-pool": UPDATES}),
    "p-zones": ({"zones": ["us-east-1a"]}, {"node-class": UPDATES, "node-pool": UPDATES}),
    "p-close": ({"placement_group": True}, {"node-class": UPDATES, "placement-group": CREATES}),
    "p-adapters": (
        {"efa": True},
        {
            "node-class": UPDATES,
            # Its nodes bear a label, by which the plugin for the adapters finds them.
            "node-pool": UPDATES,
            "placement-group": CREATES,
            "efa": CREATES,
            "efa-security-group": CREATES,
            "efa-from-itself": CREATES,
            "efa-to-itself": CREATES,
        },
    ),
    "p-reserved": (
        {"capacity": ["reserved", "on-demand"], "reservation": BLOCK},
        {"node-class": UPDATES, "node-pool": UPDATES},
    ),
}
"""The same for pools. Karpenter replaces nodes that no longer fit, within the pool's disruption budgets."""

RENAMES = {"previously"}
"""Settings whose change is a test of its own: nothing at all happens to anything."""


@pytest.mark.parametrize(
    ("block", "table"), [(NodeGroup, CHANGES_OF_A_GROUP), (NodePool, CHANGES_OF_A_POOL)], ids=["group", "pool"]
)
def test_every_setting_has_a_row_in_the_table(block: type[GpuPool], table: dict[str, Row]) -> None:
    changed_somewhere = {setting for change, _ in table.values() for setting in change}
    assert changed_somewhere == set(block.model_fields) - RENAMES


def test_a_changed_setting_updates_rolls_or_replaces_as_the_tables_say(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="nodes")
    groups = {name: {**GROUP, **GROUPS_BEFORE.get(name, {})} for name in CHANGES_OF_A_GROUP}
    pools = {name: {**POOL, **POOLS_BEFORE.get(name, {})} for name in CHANGES_OF_A_POOL}
    changed(engine.up(program, config=settings_of(groups, pools)))

    after = settings_of(
        {name: {**groups[name], **change} for name, (change, _) in CHANGES_OF_A_GROUP.items()},
        {name: {**pools[name], **change} for name, (change, _) in CHANGES_OF_A_POOL.items()},
    )
    assert changed(engine.preview(program, config=after)) == {
        f"{name}-{child}": operation
        for name, (_, expected) in (CHANGES_OF_A_GROUP | CHANGES_OF_A_POOL).items()
        for child, operation in expected.items()
    }
