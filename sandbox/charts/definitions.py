"""The custom resource definitions that the charts bring: the real ones, from the Go modules that publish them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import versions
from sandbox.toolchain.go_module import GoModule

KARPENTER: Final = GoModule("github.com/aws/karpenter-provider-aws", "karpenter")
PROMETHEUS_OPERATOR: Final = GoModule("github.com/prometheus-operator/prometheus-operator", "prometheus_operator")
NODE_FEATURE_DISCOVERY: Final = GoModule("sigs.k8s.io/node-feature-discovery", "node_feature_discovery")


@dataclass(frozen=True, slots=True)
class Definitions:
    """A folder of a Go module whose YAML files become files of a chart."""

    module: GoModule
    source: str
    """The folder in the module."""
    target: str
    """The folder in the chart; it decides what Helm does. ``crds``: made once, and never changed or removed."""
    is_app: bool = False
    """Whether the module is also the chart's application, so that its version is the chart's ``appVersion``."""

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield path in the chart, and content."""
        for file in sorted((self.module.fetch() / self.source).glob("*.yaml")):
            yield f"{self.target}/{file.name}", file.read_bytes()


_KARPENTER_DEFINITIONS: Final = "pkg/apis/crds"

DEFINITIONS: Mapping[str, Definitions] = MappingProxyType(
    {
        versions.KARPENTER.name: Definitions(KARPENTER, _KARPENTER_DEFINITIONS, "crds"),
        # As templates, so that the release owns them: an upgrade changes them, and an uninstall removes them.
        versions.KARPENTER_CRD.name: Definitions(KARPENTER, _KARPENTER_DEFINITIONS, "templates"),
        # The ClusterPolicy's is not in any module that can be had, so the stand-in has one of its own.
        versions.GPU_OPERATOR.name: Definitions(
            NODE_FEATURE_DISCOVERY, "deployment/helm/node-feature-discovery/crds", "crds"
        ),
        # In a chart within the chart, as in the real one: a release records its chart whole, but not the charts within,
        # and with these definitions it would not fit into a Secret.
        versions.KUBE_PROMETHEUS_STACK.name: Definitions(
            PROMETHEUS_OPERATOR, "example/prometheus-operator-crd", "charts/crds/crds", is_app=True
        ),
    }
)
"""By chart; a chart that is not here has none."""
