"""A Pulumi program that installs the charts it is told to, one after the other."""

from __future__ import annotations

from dataclasses import replace

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import gpu_software
from eks_gpu.facts.versions import CHARTS
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs

config = pulumi.Config("charts")
before: list[pulumi.Resource] = []
if config.get_bool("runtime_class"):
    handler = gpu_software.RUNTIME_CLASS
    before.append(k8s.node.v1.RuntimeClass("runtime-class", metadata={"name": handler}, handler=handler))
before += [k8s.core.v1.Namespace(name, metadata={"name": name}) for name in config.require_object("namespaces")]
for release in config.require_object("releases"):
    chart = CHARTS[release["chart"]]
    arguments = HelmChartArgs(
        chart=replace(chart, version=release.get("version", chart.version)),
        namespace=release["namespace"],
        release_name=chart.name,
        values=release["values"],
        chart_source=release.get("source"),
        skip_crds=release.get("skip_crds", False),
    )
    before.append(HelmChart(chart.name, arguments, pulumi.ResourceOptions(depends_on=[*before])))
