from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOOD = """\
config:
  aws:region: us-east-1
  eks-gpu:platform:
    environment: prod
    owner: ml-platform
    network:
      cidr: 10.40.0.0/16
      zones: [us-east-1a, us-east-1b, us-east-1c]
      nat: per-zone
    cluster:
      version: "1.35"
    system_nodes:
      instance_types: [m7i.xlarge]
      size: {min: 2, max: 4}
    node_groups:
      inference:
        instance_types: [g5.2xlarge]
        count: 2
    node_pools:
      g5:
        instance_types: [g5.xlarge, g5.2xlarge]
        capacity: [spot, on-demand]
        max_gpus: 8
      p4d:
        instance_types: [p4d.24xlarge]
        max_gpus: 16
        purpose: training
        zones: [us-east-1a]
    gpu_software:
      kind: operator
    model_cache:
      size_gib: 1200
    monitoring:
      prometheus: bundled
    budget:
      monthly_usd: 60000
    waivers:
      - rule: NODE006
        resource: inference
        owner: ml-platform
        reason: the image is being qualified
        until: "2026-12-31"
"""
"""A stack file without a mistake. Its lines are counted in the tests' messages."""


@pytest.fixture
def good() -> str:
    return GOOD


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write a stack file and return its path, short enough to be repeated in a message."""
    monkeypatch.chdir(tmp_path)

    def _write(text: str, stack: str = "prod") -> Path:
        path = Path("stacks") / f"Pulumi.{stack}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write
