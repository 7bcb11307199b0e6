"""Opens new nodes whose GPUs are proven, and gives back those whose GPUs are not.

Runs in the cluster as it stands here, with Python's standard library and nothing of this package. A new node starts
with a taint that keeps workloads off; a pod on it runs the checks, and is ready when all have passed.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import time
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOUR_SECONDS = 3600
PAUSE_SECONDS = 10
SETTLING_SECONDS = 180
"""Age up to which a new node's failures do not count. With an NVSwitch CUDA says "system not yet initialized" until
Fabric Manager has configured the GPUs, which may come after the node has joined; a check fails twice in seconds."""
REQUEST_SECONDS = 30

Object = Mapping[str, Any]


class Api(Protocol):
    """What is asked of the API server."""

    def call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer to one request; raise OSError if there is none, or it is an error."""


class Verdict(Enum):
    """What is to be done about a new node."""

    WAIT = "wait"
    OPEN = "open"
    REPLACE = "replace"


@dataclass(frozen=True)
class Gate:
    """What is watched, and how patiently."""

    taint: str
    """Key of the taint that keeps workloads off."""
    validated: str
    """Label that a node gets when it is opened."""
    pool: str
    """Label with the name of a node's pool."""
    namespace: str
    """Where the pods with the checks are."""
    pods: str
    """Selector of those pods."""
    limit_seconds: float
    """How long a node may take."""
    most_replacements: int
    """Of one pool within an hour."""


@dataclass
class Memory:
    """When nodes of each pool were given back, and which were complained about."""

    now: float = 0
    """Seconds since 1970, as of the last look."""
    replaced: dict[str, list[float]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)

    def may_replace(self, pool: str, most: int) -> bool:
        """Return whether one more node of the pool may be given back."""
        recent = [when for when in self.replaced.get(pool, ()) if self.now - when < HOUR_SECONDS]
        self.replaced[pool] = recent
        return len(recent) < most


def judge(node: Object, pods: Iterable[Object], now: float, limit_seconds: float) -> tuple[Verdict, str]:
    """Return what is to be done about a closed node, and why. ``pods`` are those with the checks on it."""
    age = now - datetime.fromisoformat(node["metadata"]["creationTimestamp"]).timestamp()
    for pod in pods:
        status = pod.get("status", {})
        if any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ())):
            return Verdict.OPEN, "its GPUs are proven"
        for check in status.get("initContainerStatuses", ()):
            if age > SETTLING_SECONDS and _failed_twice(check):
                return Verdict.REPLACE, f"{check['name']} failed: {_said(check)}"
    if age > limit_seconds:
        return Verdict.REPLACE, f"its GPUs were not proven within {limit_seconds / 60:g} minutes"
    return Verdict.WAIT, "its GPUs are not proven yet"


def _failed_twice(check: Object) -> bool:
    """Return whether a check failed again: the first time may be the start of the node."""
    state = check.get("state", {})
    failed = "waiting" in state or state.get("terminated", {}).get("exitCode", 0) != 0
    ended = check.get("lastState", {}).get("terminated") or state.get("terminated") or {}
    return bool(failed and check.get("restartCount", 0) >= 1 and ended.get("exitCode", 0) != 0)


def _said(check: Object) -> str:
    for state in (check.get("state", {}), check.get("lastState", {})):
        message = state.get("terminated", {}).get("message", "").strip()
        if message:
            return str(message.splitlines()[-1])
    return "it said nothing"


def step(api: Api, gate: Gate, memory: Memory, now: float) -> list[str]:
    """Look once at every closed node, act, and return a line for each that something was done about."""
    memory.now = now
    nodes = api.call("GET", f"/api/v1/nodes?labelSelector={gate.pool}")["items"]
    closed = [node for node in nodes if _is_closed(node, gate)]
    if not closed:
        return []
    pods = api.call("GET", f"/api/v1/namespaces/{gate.namespace}/pods?labelSelector={gate.pods}")["items"]
    lines = []
    for node in closed:
        try:
            lines += _act(api, gate, memory, node, [pod for pod in pods if _is_on(pod, node)])
        except OSError as error:
            # The others must not wait for a node whose change is refused.
            lines.append(f"{node['metadata']['name']}: is tried again, the API server refused: {error}")
    return lines


def _is_closed(node: Object, gate: Gate) -> bool:
    """Return whether a node waits for its proof. One that had it, and that somebody closed again, is not ours."""
    proven = gate.validated in node["metadata"].get("labels", {})
    return not proven and any(each["key"] == gate.taint for each in node["spec"].get("taints", ()))


def _is_on(pod: Object, node: Object) -> bool:
    """Return whether a pod is on this very node, and not left over from another that had the same name before."""
    about, born = pod["metadata"], node["metadata"]["creationTimestamp"]
    here = pod["spec"].get("nodeName") == node["metadata"]["name"]
    return here and not about.get("deletionTimestamp") and bool(about["creationTimestamp"] >= born)


def _act(api: Api, gate: Gate, memory: Memory, node: Object, pods: Iterable[Object]) -> list[str]:
    """Judge one node, act, and return what was done."""
    verdict, why = judge(node, pods, memory.now, gate.limit_seconds)
    if verdict is Verdict.OPEN:
        _open(api, gate, node)
        return [f"{node['metadata']['name']}: opened, {why}"]
    return _replace(api, gate, memory, node, why) if verdict is Verdict.REPLACE else []


def _open(api: Api, gate: Gate, node: Object) -> None:
    """Take the taint off, unless somebody changed the taints since they were read, and say that the node is proven."""
    taints = node["spec"]["taints"]
    changes = [
        {"op": "test", "path": "/spec/taints", "value": taints},
        {"op": "replace", "path": "/spec/taints", "value": [each for each in taints if each["key"] != gate.taint]},
        {"op": "add", "path": f"/metadata/labels/{gate.validated.replace('/', '~1')}", "value": "true"},
    ]
    api.call("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", changes)


def _replace(api: Api, gate: Gate, memory: Memory, node: Object, why: str) -> list[str]:
    """Delete the claim behind a node, so that Karpenter gives it back and buys another; not without end."""
    name, pool = node["metadata"]["name"], node["metadata"]["labels"].get(gate.pool, "")
    if node["metadata"].get("deletionTimestamp"):
        return []
    claims = [each["name"] for each in node["metadata"].get("ownerReferences", ()) if each["kind"] == "NodeClaim"]
    if not claims or not memory.may_replace(pool, gate.most_replacements):
        if name in memory.left:
            return []
        memory.left.add(name)
        because = "no claim owns it" if not claims else f"{gate.most_replacements} of {pool} went within the hour"
        return [f"{name}: left closed, {why}; {because}: look at it"]
    api.call("DELETE", f"/apis/karpenter.sh/v1/nodeclaims/{claims[0]}")
    memory.replaced[pool].append(memory.now)
    return [f"{name}: given back, {why}"]


class InCluster:
    """The API server, as a pod reaches it. The token is read anew each time, because it changes."""

    def __init__(self, url: str, account: Path = ACCOUNT) -> None:
        """Talk to ``url`` as the service account whose files are in ``account``."""
        self._url = url
        self._account = account
        authority = account / "ca.crt"
        self._context = ssl.create_default_context(cafile=str(authority)) if authority.exists() else None

    def call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the answer to one request."""
        token = (self._account / "token").read_text(encoding="utf-8").strip()
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = "application/json-patch+json"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - the API server's own address
            self._url + path, method=verb, data=data, headers=headers
        )
        with urllib.request.urlopen(  # noqa: S310 - the same
            request, timeout=REQUEST_SECONDS, context=self._context
        ) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


def gate_of(environment: Mapping[str, str]) -> Gate:
    """Return what the pod was told."""
    return Gate(
        taint=environment["TAINT"],
        validated=environment["VALIDATED"],
        pool=environment["POOL_LABEL"],
        namespace=environment["NAMESPACE"],
        pods=environment["PODS"],
        limit_seconds=float(environment["LIMIT_MINUTES"]) * 60,
        most_replacements=int(environment["MOST_REPLACEMENTS"]),
    )


def watch(api: Api, gate: Gate, memory: Memory, alive: Path) -> None:
    """Look once; say what was done, or what went wrong, and show by ``alive`` that it went well."""
    try:
        for line in step(api, gate, memory, datetime.now(timezone.utc).timestamp()):  # noqa: UP017 - any Python 3
            sys.stdout.write(line + "\n")
        alive.touch()
    except (OSError, HTTPException, ValueError) as error:
        sys.stdout.write(f"the API server did not answer as expected, and is asked again: {error}\n")
    sys.stdout.flush()


def main() -> None:
    """Watch for ever."""
    api, gate, memory = InCluster(os.environ["API_SERVER"]), gate_of(os.environ), Memory()
    while True:
        watch(api, gate, memory, Path(os.environ["ALIVE"]))
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
