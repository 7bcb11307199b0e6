"""The whole local stack, lived through once: up, up again, refresh, more work than it asked for, down.

What is not of the local stack alone is used for the others as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eks_gpu.facts import labels, taints
from sandbox.checkout import DIRECTORY_VARIABLE, ROOT, Checkout
from sandbox.kubernetes import audit, control_plane
from sandbox.kubernetes.audit import AuditEvent
from sandbox.kubernetes.rest import Kind, Object, Rest

WITHOUT_PREVIEW = ("--", "--skip-preview")
SERVERS = Kind("apps/v1", "deployments")
SEEN = {
    "CustomResourceDefinition": Kind("apiextensions.k8s.io/v1", "customresourcedefinitions"),
    "DaemonSet": Kind("apps/v1", "daemonsets"),
    "Deployment": SERVERS,
    "Job": Kind("batch/v1", "jobs"),
    "EC2NodeClass": Kind("karpenter.k8s.aws/v1", "ec2nodeclasses"),
    "Node": Kind("v1", "nodes"),
    "NodeClaim": Kind("karpenter.sh/v1", "nodeclaims"),
    "NodePool": Kind("karpenter.sh/v1", "nodepools"),
    "PersistentVolumeClaim": Kind("v1", "persistentvolumeclaims"),
    "Pod": Kind("v1", "pods"),
    "StatefulSet": Kind("apps/v1", "statefulsets"),
}
SCALED_TO = 2
"""Servers that somebody asks for by hand: one more than the managed node has room for, so that Karpenter buys."""
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Said:
    """What came of one command of the sandbox."""

    code: int
    output: str
    seconds: float


@dataclass(frozen=True)
class Life:
    """What was seen of the stack."""

    up: Said
    again: Said
    refresh: Said
    down: Said
    built: dict[str, list[Object]]
    """What was in the cluster after the second ``up``, by kind."""
    grown: dict[str, list[Object]]
    """What was in it when ``down`` began."""
    events: list[AuditEvent]
    """Every change that the API server was asked for."""

    def named(self, kind: str, name: str) -> Object:
        """Return one object as it was after ``up``."""
        found = [each for each in self.built[kind] if each["metadata"]["name"] == name]
        assert len(found) == 1, f"{kind} {name}: there are {[each['metadata']['name'] for each in self.built[kind]]}"
        return found[0]


def command(checkout: Checkout, *arguments: str) -> Said:
    """Run one command of the sandbox, as a user would."""
    environment = {**os.environ, DIRECTORY_VARIABLE: str(checkout.directory)}
    started = time.monotonic()
    answer = subprocess.run(
        [sys.executable, "-m", "sandbox", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Said(answer.returncode, answer.stdout, time.monotonic() - started)


def config_file(checkout: Checkout, stack: str) -> Path:
    """Return the copy of a stack's file that the engine works with."""
    return checkout.config / "eks-gpu" / f"Pulumi.{stack}.yaml"


def engine_command(checkout: Checkout, verb: str, *options: str, stack: str = "local") -> Said:
    """Run the engine on a stack as it stands."""
    config = str(config_file(checkout, stack))
    chosen = ("--stack", f"organization/eks-gpu/{stack}", "--config-file", config, "--non-interactive")
    return command(checkout, "exec", "--kubernetes", "--", "pulumi", verb, *chosen, *options)


def look(rest: Rest) -> dict[str, list[Object]]:
    """Return everything of the kinds that matter here."""
    return {kind: rest.list(where)["items"] for kind, where in SEEN.items()}


def live(checkout: Checkout) -> Life:
    """Live through it; fails at once if the stack does not come up."""
    up = command(checkout, "up", "local", *WITHOUT_PREVIEW)
    assert up.code == 0, up.output
    plane = control_plane.running(checkout)
    assert plane is not None
    rest = Rest.of(plane)
    built = look(rest)
    again = command(checkout, "up", "local", *WITHOUT_PREVIEW, "--expect-no-changes")
    refresh = engine_command(checkout, "refresh", "--yes", "--skip-preview", "--expect-no-changes")
    _scale(rest)
    grown = look(rest)
    down = command(checkout, "down", "local", *WITHOUT_PREVIEW)
    return Life(up, again, refresh, down, built, grown, audit.events(checkout))


def _scale(rest: Rest) -> None:
    """Ask for more servers than there is room for, and wait until they run on nodes that Karpenter bought."""
    server = _server(rest)
    rest.patch(SERVERS, server["metadata"]["name"], {"spec": {"replicas": SCALED_TO}}, server["metadata"]["namespace"])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if _server(rest).get("status", {}).get("readyReplicas") == SCALED_TO:
            return
        time.sleep(0.5)


def _server(rest: Rest) -> Object:
    return next(each for each in rest.list(SERVERS)["items"] if each["metadata"]["name"] == "vllm")


def bought(objects: dict[str, list[Object]]) -> list[Object]:
    """Return the nodes that Karpenter bought."""
    return [node for node in objects["Node"] if labels.KARPENTER_NODEPOOL in node["metadata"]["labels"]]


def names(objects: Sequence[Object]) -> list[str]:
    """Return the names, sorted."""
    return sorted(each["metadata"]["name"] for each in objects)


def waiting(objects: dict[str, list[Object]]) -> list[str]:
    """Return the Deployments and StatefulSets that are not ready, with what their status says."""
    return [
        f"{each['metadata']['name']}: {each.get('status')}"
        for each in (*objects["Deployment"], *objects["StatefulSet"])
        if each.get("status", {}).get("readyReplicas", 0) != each["spec"]["replicas"]
    ]


def has_gpu_taint(node: Object) -> bool:
    """Tell whether a node keeps off what asked for no GPU."""
    return any(taint["key"] == taints.GPU.key for taint in node["spec"].get("taints", ()))


def is_ready(pod: Object) -> bool:
    """Tell whether a pod is ready."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
