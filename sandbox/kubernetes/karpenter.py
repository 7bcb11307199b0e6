"""Karpenter's process: the real one, deciding over a pretended cloud.

Karpenter's scheduling, consolidation and limits are its own code. Its cloud is kwok's, which makes a node where AWS
would start an instance: it does not prove launch templates, images, drift, interruptions, or that EC2 has capacity.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import instance_types, layout, parts, ports
from sandbox.kubernetes.instance_types import Market
from sandbox.ports import HOST
from sandbox.processes import GRACE_SECONDS
from sandbox.toolchain import builder
from sandbox.toolchain.tools import KUBERNETES

if TYPE_CHECKING:
    from sandbox.kubernetes.control_plane import ControlPlane

PROGRAM: Final = "karpenter-kwok"
START_SECONDS: Final = 60.0
"""How long it may take to be ready; it takes about two seconds."""

_SHORT_BATCHES: Final = {"BATCH_IDLE_DURATION": "200ms", "BATCH_MAX_DURATION": "2s"}
"""Pods of a test come all at once. On EKS Karpenter waits a second for more of them, and ten at most."""

TAKEN_FROM_THE_POD: Final = frozenset({"FEATURE_GATES", "LOG_LEVEL", "MIN_VALUES_POLICY", "PREFERENCE_POLICY"})
"""Settings of the chart that mean the same to every cloud. The others are about AWS, or about the container."""


@dataclass(frozen=True, slots=True)
class Karpenter:
    """A running process."""

    process: subprocess.Popen[bytes]
    checkout: Checkout

    @property
    def exit_status(self) -> int | None:
        """How it ended; None while it runs."""
        return self.process.poll()

    def stop(self) -> None:
        """End it as a kubelet does: first politely, then for certain."""
        for attempt in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                return
            self.process.send_signal(attempt)
            try:
                self.process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                continue


def start(checkout: Checkout, kubeconfig: Path, market: Market, settings: Mapping[str, str]) -> Karpenter:
    """Start it; ``settings`` are environment variables of the container that it stands for.

    Raises:
        SandboxError: it cannot be built.

    """
    types = layout.folder(checkout) / "instance-types.json"
    instance_types.write(types, market)
    environment = {
        **parts.environment(checkout),
        **{name: value for name, value in settings.items() if name in TAKEN_FROM_THE_POD},
        **_SHORT_BATCHES,
        "DISABLE_LEADER_ELECTION": "true",
        "HEALTH_PROBE_PORT": str(ports.of(checkout, ports.KARPENTER_HEALTH)),
        "INSTANCE_TYPES_FILE_PATH": str(types),
        "KUBECONFIG": str(kubeconfig),
        "METRICS_PORT": str(ports.of(checkout, ports.KARPENTER_METRICS)),
    }
    program = builder.ensure(KUBERNETES) / PROGRAM
    log = os.open(layout.log(checkout, "karpenter"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            [program], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=checkout.directory
        )
    finally:
        os.close(log)
    return Karpenter(process, checkout)


def answers(checkout: Checkout) -> bool:
    """Tell whether a Karpenter of this sandbox runs and is ready."""
    connection = http.client.HTTPConnection(HOST, ports.of(checkout, ports.KARPENTER_HEALTH), timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def run(
    plane: ControlPlane, *, instance_types: Market | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Karpenter]:
    """Run Karpenter without a Helm release, while the context lasts; its CRDs must be there.

    Raises:
        SandboxError: it ends by itself, or does not become ready; the message names its log.

    """
    checkout = Checkout(plane.kubeconfig.parent.parent)
    running = start(checkout, plane.kubeconfig, instance_types or Market(), settings or {})
    try:
        _wait(running)
        yield running
    finally:
        running.stop()


def _wait(running: Karpenter) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(running.checkout):
        if running.exit_status is not None or time.monotonic() > deadline:
            said = (
                f"ended with {running.exit_status}"
                if running.exit_status is not None
                else f"not ready after {START_SECONDS:.0f} s"
            )
            raise SandboxError(f"Karpenter did not start ({said}); see {layout.log(running.checkout, 'karpenter')}")
        time.sleep(0.05)
