"""What the sandbox's Kubernetes consists of: programs, their flags, and how each tells that it is ready."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.checkout import DIRECTORY_VARIABLE, ROOT, Checkout
from sandbox.kubernetes import audit, credentials, layout, ports
from sandbox.kubernetes.stages import MANAGED, MANAGED_ANNOTATION
from sandbox.ports import HOST

SERVICE_CIDR = "172.20.0.0/16"
"""Where EKS puts services if a VPC does not use these addresses itself."""

NODE_LEASE_SECONDS = 40
"""How long the sign of life of a pretended node lasts: what a kubelet writes. Without, nodes seem lost after 50 s."""

_TRUSTED_BY_NAME = "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"
_DROPPED_PREFIXES = ("AWS_", "ETCD_", "KUBE", "PULUMI_", "PYTHON")


ORDER = ("charts", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "node-side")
"""The names of all parts, in the order of `of`: whichever was started last, none is stopped before what needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One program that runs in the background."""

    name: str
    command: tuple[str, ...]
    health: tuple[str, ...]
    """The URLs that answer 200 when it is ready."""
    ports: tuple[str, ...]
    """Which of the reserved ports it listens at."""
    after: tuple[str, ...] = ()
    """What must be ready before it is started."""
    environment: Mapping[str, str] = field(default_factory=dict)


def of(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> tuple[Part, ...]:
    """Return all parts, in an order in which they can be started; in the reverse one they are stopped."""
    return (
        _charts(checkout, numbers),
        _etcd(checkout, numbers, binaries),
        _api_server(checkout, numbers, binaries),
        _controller_manager(checkout, numbers, binaries),
        _scheduler(checkout, numbers, binaries),
        _kwok(checkout, numbers, binaries),
        _node_side(checkout, numbers),
    )


def endpoint(numbers: Mapping[str, int]) -> str:
    """Return the URL of the API server."""
    return f"https://{HOST}:{numbers[ports.API_SERVER]}"


def environment(checkout: Checkout) -> Mapping[str, str]:
    """Return what every part is started with: nothing that was meant for other clusters, clouds or proxies."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_DROPPED_PREFIXES) and name.upper() not in _TRUSTED_BY_NAME
    }
    return {
        **kept,
        DIRECTORY_VARIABLE: str(checkout.directory),
        "PYTHONPATH": str(ROOT),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _etcd(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> Part:
    clients = f"https://{HOST}:{numbers[ports.ETCD]}"
    peers = f"https://{HOST}:{numbers[ports.ETCD_PEERS]}"
    authority = str(credentials.authority(checkout))
    certificate, key = credentials.file(checkout, "serving.crt"), credentials.file(checkout, "serving.key")
    command = (
        str(binaries / "etcd"),
        "--name=sandbox",
        f"--data-dir={layout.etcd_data(checkout)}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=sandbox={peers}",
        # Every secret is in it, and loopback is open to everybody on the machine.
        *("--client-cert-auth", f"--trusted-ca-file={authority}", f"--cert-file={certificate}", f"--key-file={key}"),
        *("--peer-client-cert-auth", f"--peer-trusted-ca-file={authority}"),
        *(f"--peer-cert-file={certificate}", f"--peer-key-file={key}"),
        # What is written survives the end of any process; only that of the machine would need the disk's word for it.
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--log-format=console",
        # A busy machine is no reason for a warning.
        *("--warning-apply-duration=5s", "--warning-unary-request-duration=5s"),
    )
    return Part(name="etcd", command=command, health=(f"{clients}/readyz",), ports=(ports.ETCD, ports.ETCD_PEERS))


def _api_server(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> Part:
    command = (
        str(binaries / "kube-apiserver"),
        *(f"--bind-address={HOST}", f"--secure-port={numbers[ports.API_SERVER]}"),
        # Found out from the default route, which a machine need not have; and never published, being loopback.
        *(f"--advertise-address={HOST}", "--endpoint-reconciler-type=none"),
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        f"--tls-cert-file={credentials.file(checkout, 'serving.crt')}",
        f"--tls-private-key-file={credentials.file(checkout, 'serving.key')}",
        f"--etcd-servers=https://{HOST}:{numbers[ports.ETCD]}",
        f"--etcd-cafile={credentials.authority(checkout)}",
        f"--etcd-certfile={credentials.file(checkout, 'etcd-client.crt')}",
        f"--etcd-keyfile={credentials.file(checkout, 'etcd-client.key')}",
        f"--token-auth-file={credentials.file(checkout, 'tokens.csv')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={credentials.file(checkout, 'service-account.pub')}",
        f"--service-account-signing-key-file={credentials.file(checkout, 'service-account.key')}",
        "--authorization-mode=Node,RBAC",
        # EKS has these two beside the default ones. The second lets a pod that asks for GPUs tolerate their taint.
        "--enable-admission-plugins=NodeRestriction,ExtendedResourceToleration",
        "--allow-privileged=true",
        f"--audit-policy-file={layout.audit_policy(checkout)}",
        f"--audit-log-path={layout.audit_log(checkout)}",
        *(f"--audit-log-maxsize={audit.MEGABYTES}", f"--audit-log-maxbackup={audit.FILES}"),
        "--profiling=false",
    )
    health = (f"{endpoint(numbers)}/readyz",)
    name = "kube-apiserver"
    return Part(name=name, command=command, health=health, ports=(ports.API_SERVER,), after=("etcd",))


def _controller_manager(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> Part:
    port = numbers[ports.CONTROLLER_MANAGER]
    command = (
        str(binaries / "kube-controller-manager"),
        *_serving(checkout, port),
        *_as(checkout, credentials.CONTROLLER_MANAGER),
        # As on EKS: each controller has an account of its own, so the audit log tells the garbage collector from a job.
        "--use-service-account-credentials",
        f"--service-account-private-key-file={credentials.file(checkout, 'service-account.key')}",
        f"--root-ca-file={credentials.authority(checkout)}",
        # With the default of 20 a second, the accounts of its controllers alone take it five seconds.
        *("--kube-api-qps=500", "--kube-api-burst=1000"),
    )
    # It says it is healthy before its controllers run. Without this account, which one of them makes, no pod is taken.
    account = f"{endpoint(numbers)}/api/v1/namespaces/default/serviceaccounts/default"
    name, health = "kube-controller-manager", (f"https://{HOST}:{port}/healthz", account)
    return Part(name=name, command=command, health=health, ports=(ports.CONTROLLER_MANAGER,), after=("kube-apiserver",))


def _scheduler(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> Part:
    port = numbers[ports.SCHEDULER]
    command = (
        str(binaries / "kube-scheduler"),
        *_serving(checkout, port),
        *_as(checkout, credentials.SCHEDULER),
        *("--kube-api-qps=500", "--kube-api-burst=1000"),
    )
    name, health = "kube-scheduler", (f"https://{HOST}:{port}/readyz",)
    return Part(name=name, command=command, health=health, ports=(ports.SCHEDULER,), after=("kube-apiserver",))


def _kwok(checkout: Checkout, numbers: Mapping[str, int], binaries: Path) -> Part:
    port = numbers[ports.KWOK]
    command = (
        str(binaries / "kwok"),
        f"--kubeconfig={layout.kubeconfig(checkout, credentials.KWOK)}",
        f"--config={layout.stages(checkout)}",
        f"--manage-nodes-with-annotation-selector={MANAGED_ANNOTATION}={MANAGED}",
        f"--node-lease-duration-seconds={NODE_LEASE_SECONDS}",
        f"--server-address={HOST}:{port}",
    )
    health = (f"http://{HOST}:{port}/healthz",)
    return Part(name="kwok", command=command, health=health, ports=(ports.KWOK,), after=("kube-apiserver",))


def _charts(checkout: Checkout, numbers: Mapping[str, int]) -> Part:
    """Return the mirror of charts: ``--directory`` is that of the sandbox, ``--port`` where it is a proxy."""
    port = numbers[ports.CHARTS]
    command = _python("sandbox.charts", checkout, port)
    return Part(name="charts", command=command, health=(f"http://{HOST}:{port}/healthz",), ports=(ports.CHARTS,))


def _node_side(checkout: Checkout, numbers: Mapping[str, int]) -> Part:
    """Return what stands for kubelets and the cloud: ``--port`` answers ``/healthz`` when it has begun to work.

    The ports for Karpenter's process, which it runs, are reserved under their names in `ports`; the process is to stay
    in the session of this part, so that it can be ended with it whatever happens.
    """
    port = numbers[ports.NODE_SIDE]
    command = _python("sandbox.kubernetes.node_side", checkout, port)
    owned = (ports.NODE_SIDE, ports.KARPENTER_METRICS, ports.KARPENTER_HEALTH)
    health = (f"http://{HOST}:{port}/healthz",)
    return Part(name="node-side", command=command, health=health, ports=owned, after=("kube-apiserver",))


def _python(module: str, checkout: Checkout, port: int) -> tuple[str, ...]:
    return (sys.executable, "-m", module, "--directory", str(checkout.directory), "--port", str(port))


def _serving(checkout: Checkout, port: int) -> tuple[str, ...]:
    return (
        *(f"--bind-address={HOST}", f"--secure-port={port}"),
        f"--tls-cert-file={credentials.file(checkout, 'serving.crt')}",
        f"--tls-private-key-file={credentials.file(checkout, 'serving.key')}",
        "--profiling=false",
    )


def _as(checkout: Checkout, user: str) -> tuple[str, ...]:
    kubeconfig = layout.kubeconfig(checkout, user)
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        # There is only one, and an election takes seconds.
        "--leader-elect=false",
    )
