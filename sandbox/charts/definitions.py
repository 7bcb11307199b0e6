"""The custom resource definitions that the charts bring: the real ones, from the Go modules that publish them.

Only their descriptions are left out, which judge nothing. With those of the prometheus-operator, four megabytes, the
API server needs three times as long and 150 MB more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import yaml

from eks_gpu.facts import versions
from sandbox.toolchain.go_module import GoModule

KARPENTER: Final = GoModule("github.com/aws/karpenter-provider-aws", "karpenter")
PROMETHEUS_OPERATOR: Final = GoModule("github.com/prometheus-operator/prometheus-operator", "prometheus_operator")
NODE_FEATURE_DISCOVERY: Final = GoModule("sigs.k8s.io/node-feature-discovery", "node_feature_discovery")


class _Loader(yaml.CSafeLoader):
    """Reads ``=`` as a text, as YAML 1.2 and Kubernetes do; for YAML 1.1 it is something else."""


_Loader.add_constructor("tag:yaml.org,2002:value", lambda _loader, node: node.value)


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
            documents = yaml.load_all(file.read_bytes(), _Loader)
            plain = [_without_descriptions(each) for each in documents if each]
            yield f"{self.target}/{file.name}", yaml.dump_all(plain, Dumper=yaml.CSafeDumper, encoding="utf-8")


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


def _without_descriptions(node: Any, *, named: bool = False) -> Any:  # noqa: ANN401 - YAML may hold anything
    """Return a part of a definition without its descriptions; ``named``: it maps names, which may be that word too."""
    match node:
        case dict():
            kept = (key for key in node if named or key != "description")
            return {key: _without_descriptions(node[key], named=key == "properties" and not named) for key in kept}
        case list():
            return [_without_descriptions(each) for each in node]
        case _:
            return node
