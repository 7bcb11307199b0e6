"""A Helm release of ours that can be made to hang, and be cut off while it does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

from eks_gpu.facts import ami, labels, namespaces, taints, versions
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.gpu import device_plugin
from sandbox.commands.lifecycle import RECONCILE
from sandbox.kubernetes import nodes
from sandbox.kubernetes.api import Api, Manifest
from sandbox.kubernetes.node_groups import NodeGroupShape, Subnet
from sandbox.kubernetes.stages import FAIL_ANNOTATION
from tests.support.cluster import Cluster, eventually
from tests.support.cluster_bench import ClusterBench
from tests.support.engine import Result

RELEASE: Final = versions.NVIDIA_DEVICE_PLUGIN.name
NAMESPACE: Final = namespaces.NVIDIA

NODES: Final = 2
"""Helm calls a DaemonSet ready though as many of its pods are not as its update strategy allows: here one."""

HANGING: Final = {"podAnnotations": {FAIL_ANNOTATION: "true"}}
"""Values with which no pod of the release ever becomes ready."""

_PROGRAM: Final = f"""
import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts.gpu_software import RUNTIME_CLASS
from eks_gpu.facts.versions import NVIDIA_DEVICE_PLUGIN
from eks_gpu.foundation.helm_chart import HelmChart, HelmChartArgs

config = pulumi.Config()


def hurry(args):
    # A minute is a long time in a test; a release of ours waits for a quarter of an hour at least.
    if args.type_ == "kubernetes:helm.sh/v3:Release":
        return pulumi.ResourceTransformResult({{**args.props, "timeout": config.require_int("timeout")}}, args.opts)
    return None


pulumi.runtime.register_resource_transform(hurry)
runtime_class = k8s.node.v1.RuntimeClass("runtime-class", metadata={{"name": RUNTIME_CLASS}}, handler=RUNTIME_CLASS)
namespace = k8s.core.v1.Namespace("namespace", metadata={{"name": "{NAMESPACE}"}})
HelmChart(
    "plugin",
    HelmChartArgs(
        chart=NVIDIA_DEVICE_PLUGIN,
        namespace=namespace.metadata.name,
        release_name="{RELEASE}",
        values=config.require_object("values"),
    ),
    pulumi.ResourceOptions(depends_on=[runtime_class]),
)
"""

_FINALIZER: Final = "tests.example/hold"
_PROVIDER: Final = "pulumi-resource"
"""How `ps` calls a provider: names of programs are cut off there."""


class Releasing:
    """The release on a cluster with the nodes that its pods run on."""

    def __init__(self, bench: ClusterBench, kube: Api) -> None:
        """Let the nodes join."""
        self.bench, self._kube = bench, kube
        self._program = bench.program(_PROGRAM, name="releasing")
        _join(bench.cluster)

    def up(self, changes: Mapping[str, object] | None = None, *, timeout_seconds: int = 60) -> Result:
        """Build the stack with the component's own values, and those in ``changes`` over them."""
        return self.bench.up(self._program, config=self._config(changes or {}, timeout_seconds))

    def _config(self, changes: Mapping[str, object], timeout_seconds: int = 60) -> dict[str, object]:
        values = {**device_plugin.chart_values("sharing"), **changes}
        return {"releasing:values": json.dumps(values), "releasing:timeout": str(timeout_seconds)}

    def cut_off(self, status: str) -> Result:
        """Build it with values that make it hang, and kill the provider when it does, and is called ``status``."""

        def hangs() -> bool:
            made = self.daemon_set() is not None and self.annotations() == HANGING["podAnnotations"]
            return made and status in self.revisions().values()

        return _killed(partial(self.up, HANGING), hangs, f"the release, {status}")

    def cut_off_destroy(self) -> Result:
        """Destroy it, and kill the provider while its uninstallation waits for what it has told to go."""
        self._hold([_FINALIZER])
        try:
            destroy = partial(self.bench.destroy, self._program, config=self._config({}))
            return _killed(destroy, lambda: self.revisions() == {1: "uninstalling"}, "the uninstallation")
        finally:
            self._hold(None)

    def refresh(self) -> Result:
        """Read what there is, as the sandbox's `recover` does."""
        return self.bench.run("refresh", self._program, "dev", options=RECONCILE, config=self._config({}))

    def revisions(self) -> dict[int, str]:
        """Return what Helm says of each revision of the release."""
        found = self._kube.list("v1", "Secret", NAMESPACE, selector=f"owner=helm,name={RELEASE}")
        marks = [each["metadata"]["labels"] for each in found]
        return {int(mark["version"]): mark["status"] for mark in sorted(marks, key=lambda mark: int(mark["version"]))}

    def daemon_set(self) -> Manifest | None:
        """Return what the release is for."""
        return self._kube.get("apps/v1", "DaemonSet", RELEASE, NAMESPACE)

    def annotations(self) -> dict[str, str]:
        """Return the annotations of the pods that it wants."""
        daemon_set: Any = self.daemon_set()
        assert daemon_set is not None
        return dict(daemon_set["spec"]["template"]["metadata"].get("annotations") or {})

    def _hold(self, finalizers: list[str] | None) -> None:
        metadata = {"name": RELEASE, "namespace": NAMESPACE, "finalizers": finalizers}
        self._kube.patch({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata})

    def is_ready(self) -> bool:
        """Tell whether all its pods are ready."""
        daemon_set: Any = self.daemon_set() or {}
        return bool(daemon_set.get("status", {}).get("numberReady") == NODES)


def _killed(run: Callable[[], Result], moment: Callable[[], bool], what: str) -> Result:
    """Kill the provider of a run when the moment has come, and return what came of the run."""
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run)
        eventually(moment, what)
        (provider,) = _providers()
        os.kill(provider, signal.SIGKILL)
        return running.result()


def _join(cluster: Cluster) -> None:
    shape = NodeGroupShape(
        cluster="here",
        name="gpu",
        region="us-east-1",
        subnets=(Subnet("us-east-1a", "10.0.0.0/20"),),
        instance_types=("g5.xlarge",),
        size=NODES,
        ami_type=ami.ami_type(AmiFamily.AL2023, "amd64", nvidia=True).name,
        labels={labels.GPU_PRESENT: "true"},
        taints=(taints.GPU.eks(),),
    )
    nodes.apply(cluster.plane, shape)


def _providers() -> list[int]:
    """Return the providers that run below this process."""
    listed = subprocess.run(["/bin/ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    parents = {int(pid): int(parent) for pid, parent, _ in rows}

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    return [int(pid) for pid, _, name in rows if Path(name).name == _PROVIDER and is_ours(int(pid))]
