"""The one way a Helm chart is installed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts.versions import Chart
from eks_gpu.foundation.arguments import Problem, missing, refuse

INSTALL_TIMEOUT_SECONDS: Final = 1800
"""How long Helm waits for the chart's own objects: a GPU node needs minutes to boot, and gigabytes of images follow."""

SHORTEST_TIMEOUT_SECONDS: Final = 900
"""Less would give up, and roll back, while a healthy GPU node is still coming up."""

REVISIONS_KEPT: Final = 5
"""Revisions that Helm keeps to roll back to. Each is a Secret in the cluster, so not Helm's default of all of them."""

_EXACT_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?")
_RELEASE_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,51}[a-z0-9])?")
_OCI: Final = "oci://"


@dataclass(frozen=True, kw_only=True)
class HelmChartArgs:
    """What is installed, where, and with which values."""

    chart: Chart
    """Chart, repository and exact version, from ``facts.versions``."""

    namespace: pulumi.Input[str]
    """Namespace that exists already. The chart never creates it: Helm would leave it behind and give it no labels."""

    release_name: str
    """Name of the Helm release. People and runbooks find it by that name, so it is fixed: at most 53 characters."""

    values: Mapping[str, Any]
    """Values over the chart's defaults, from a pure function. May hold Outputs; a list replaces the chart's list."""

    chart_source: str | None = None
    """Mirror that holds the chart, in place of its public repository: ``https://`` repository or ``oci://`` prefix."""

    skip_crds: bool = False
    """Leave the chart's CRDs out, because a chart of their own owns them."""

    disable_openapi_validation: bool = False
    """Do not validate against the API server's schema. Only for charts whose own hook upgrades their CRDs."""

    timeout_seconds: int = INSTALL_TIMEOUT_SECONDS
    """Limit of each Helm operation, at least 900."""


class HelmChart(k8s.helm.v3.Release):
    """A Helm release that is exact, atomic and patient.

    ``helm.v3.Release`` and not ``helm.v4.Chart``, because only a real release runs the hooks by which charts
    upgrade their CRDs. A failed installation is uninstalled and a failed upgrade rolled back, so that the next
    ``up`` finds something it can work with. What remains is the client that dies in between: the release is then
    pending for ever, and every ``up`` is refused. Then ``helm uninstall`` what was being installed or uninstalled, or
    ``helm rollback`` what was being upgraded, and ``pulumi refresh`` (docs/operations.md, "After a crash").

    Helm waits until all is ready, but calls a DaemonSet so while as many of its pods are not as its update strategy
    lets be unavailable: one by default, and so all of them where there is one node.

    The name of the release is fixed, hence delete-before-replace: made the other way round, two operators would run.
    """

    def __init__(self, name: str, args: HelmChartArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Install the chart under the logical name ``name``.

        Raises ``pulumi.InputPropertiesError`` that names every bad argument.
        """
        refuse(_problems(args), component=name)
        super().__init__(
            name,
            name=args.release_name,
            namespace=args.namespace,
            version=args.chart.version,
            values=dict(args.values),
            skip_crds=args.skip_crds,
            disable_openapi_validation=args.disable_openapi_validation,
            timeout=args.timeout_seconds,
            atomic=True,
            cleanup_on_fail=True,
            create_namespace=False,
            max_history=REVISIONS_KEPT,
            **chart_location(args.chart, args.chart_source),
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True)),
        )


def chart_location(chart: Chart, chart_source: str | None = None) -> dict[str, Any]:
    """Return ``chart`` and ``repository_opts`` of a release: the public repository, or ``chart_source`` in its place.

    An ``oci://`` location is a part of the chart's name and has no repository.
    """
    repository = (chart_source or chart.repository).rstrip("/")
    if repository.startswith(_OCI):
        return {"chart": f"{repository}/{chart.name}"}
    return {"chart": chart.name, "repository_opts": k8s.helm.v3.RepositoryOptsArgs(repo=repository)}


def _problems(args: HelmChartArgs) -> Iterator[Problem]:
    yield from missing(args, "namespace")
    if not _EXACT_VERSION.fullmatch(args.chart.version):
        yield Problem(
            "chart", f"version {args.chart.version!r} of {args.chart.name} is not exact; name one version such as 1.2.3"
        )
    if not _RELEASE_NAME.fullmatch(args.release_name):
        yield Problem(
            "release_name",
            f"{args.release_name!r} is no name of a Helm release; use up to 53 lowercase letters, digits and hyphens",
        )
    if args.timeout_seconds < SHORTEST_TIMEOUT_SECONDS:
        yield Problem(
            "timeout_seconds",
            f"{args.timeout_seconds} is too short; give at least {SHORTEST_TIMEOUT_SECONDS}, because GPU nodes and "
            "their images take minutes to arrive",
        )
    if args.chart_source is not None and not args.chart_source.startswith(("https://", _OCI)):
        yield Problem(
            "chart_source",
            f"{args.chart_source!r} is no place for charts; give an https:// repository or an oci:// prefix",
        )
