"""The ports of the sandbox's Kubernetes: reserved at its first start, and kept, so that its address stays the same."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import layout
from sandbox.locks import exclusive
from sandbox.ports import free, holder, is_free

API_SERVER = "kube-apiserver"
ETCD = "etcd"
ETCD_PEERS = "etcd-peers"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
KWOK = "kwok"
CHARTS = "charts"
NODE_SIDE = "node-side"
KARPENTER_METRICS = "karpenter-metrics"
KARPENTER_HEALTH = "karpenter-health"

NAMES = (
    *(API_SERVER, ETCD, ETCD_PEERS, CONTROLLER_MANAGER, SCHEDULER, KWOK),
    *(CHARTS, NODE_SIDE, KARPENTER_METRICS, KARPENTER_HEALTH),
)
"""What has a port."""

_LETTING_GO_SECONDS = 2.0


def of(checkout: Checkout, name: str) -> int:
    """Return the port of one of `NAMES`; reserved now if it is not yet."""
    return reserve(checkout)[name]


def reserve(checkout: Checkout) -> Mapping[str, int]:
    """Return every port by its name, reserving those that are missing."""
    checkout.prepare()
    with exclusive(checkout.directory / "ports.lock"):
        known = _read(checkout)
        ports = dict(known)
        for name in NAMES:
            if name not in ports:
                ports[name] = free(taken=ports.values())
        if ports != known:
            _write(checkout, ports)
        return ports


def settle(checkout: Checkout, in_use: Collection[str]) -> Mapping[str, int]:
    """Return every port, after giving up those that a stranger has taken; ``in_use`` are those our own parts have.

    Raises:
        SandboxError: the API server's is taken, and the state of stacks says that the cluster is there.

    """
    ports = dict(reserve(checkout))
    lost = [name for name in NAMES if name not in in_use and not _is_left(ports[name])]
    if API_SERVER in lost and layout.etcd_data(checkout).exists():
        raise SandboxError(_taken(ports[API_SERVER]))
    if not lost:
        return ports
    with exclusive(checkout.directory / "ports.lock"):
        for name in lost:
            ports[name] = free(taken=ports.values())
        _write(checkout, ports)
    return ports


def _is_left(port: int) -> bool:
    """Tell whether a port is free; a process that was killed this moment gets the time to let go of it."""
    deadline = time.monotonic() + _LETTING_GO_SECONDS
    while not is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _taken(port: int) -> str:
    pid = holder(port)
    who = f"process {pid}" if pid else "another program"
    return (
        f"port {port} of this machine, at which the Kubernetes of this sandbox answers, is used by {who}; end that "
        "program and run again, or `make clean-sandbox` to forget everything and begin at another port"
    )


def _read(checkout: Checkout) -> Mapping[str, int]:
    try:
        known = json.loads(layout.ports(checkout).read_text())
        return {str(name): int(port) for name, port in known.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _write(checkout: Checkout, ports: Mapping[str, int]) -> None:
    layout.prepare(checkout)
    layout.write(layout.ports(checkout), json.dumps(ports, indent=1))
