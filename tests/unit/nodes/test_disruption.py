from __future__ import annotations

import re

import pytest

from eks_gpu.nodes.disruption import disruption
from eks_gpu.settings.gpu_pool import Purpose
from eks_gpu.settings.node_pool import NodePool

DURATION = re.compile(r"(?:\d+[smh])+|Never")


def _pool(purpose: Purpose, max_job_hours: int | None = None) -> NodePool:
    return NodePool(instance_types=("p4d.24xlarge",), max_gpus=8, purpose=purpose, max_job_hours=max_job_hours)


def test_n10_training_loses_only_empty_nodes() -> None:
    contract = disruption(_pool(Purpose.TRAINING))

    assert contract.spec() == {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": "15m",
        "budgets": [
            {"nodes": "100%", "reasons": ["Empty"]},
            {"nodes": "0", "reasons": ["Drifted", "Underutilized"]},
        ],
    }


def test_n10_training_nodes_never_expire_under_a_job() -> None:
    assert disruption(_pool(Purpose.TRAINING)).template()["expireAfter"] == "Never"


@pytest.mark.parametrize(("stated", "grace"), [(None, "72h"), (6, "6h"), (120, "120h")])
def test_n10_a_draining_node_waits_for_the_longest_job(stated: int | None, grace: str) -> None:
    assert disruption(_pool(Purpose.TRAINING, stated)).template()["terminationGracePeriod"] == grace


def test_n10_inference_is_renewed_one_node_at_a_time() -> None:
    spec = disruption(_pool(Purpose.INFERENCE)).spec()

    assert spec["consolidationPolicy"] == "WhenEmptyOrUnderutilized"
    assert spec["budgets"] == [
        {"nodes": "100%", "reasons": ["Empty"]},
        {"nodes": "1", "reasons": ["Drifted", "Underutilized"]},
    ]


def test_development_is_never_packed_tighter() -> None:
    assert disruption(_pool(Purpose.DEVELOPMENT)).consolidation_policy == "WhenEmpty"


@pytest.mark.parametrize("purpose", list(Purpose))
def test_n09_every_pool_ends_its_drain(purpose: Purpose) -> None:
    contract = disruption(_pool(purpose))

    assert contract.delete_timeout_minutes > contract.termination_grace_minutes > 0
    assert all(DURATION.fullmatch(duration) for duration in contract.template().values())
