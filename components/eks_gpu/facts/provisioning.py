"""What Karpenter knows of resources that EC2 does not list: by overlays and by dynamic resource allocation."""

from __future__ import annotations

SOURCE = (
    "aws/karpenter-provider-aws v1.14.1 charts/karpenter/values.yaml (settings.featureGates.nodeOverlay, off by "
    "default) and karpenter.sh_nodeoverlays CRD; v1.15 website, tasks/dra.md and release notes (settings.enableDRA)"
)
CHECKED = "2026-11-21"

NODE_OVERLAY_GATE = ("settings", "featureGates", "nodeOverlay")
"""Where the chart's values switch NodeOverlays on."""

ENABLE_DRA = ("settings", "enableDRA")
"""Where the chart's values let Karpenter buy nodes for claims of devices."""
FIRST_WITH_DRA = (1, 15)
"""The first minor version that can; before it, claims are ignored."""
