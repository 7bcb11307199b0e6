"""The Kubernetes of a sandbox: one real control plane per checkout, on this machine only.

It is started when a command needs it and runs until it is stopped. Its objects survive that, and so does its address,
which the state of stacks knows; `wipe` forgets both.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox import kubernetes
from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import audit, credentials, failures, layout, parts, ports, records, stages, starting
from sandbox.locks import exclusive
from sandbox.toolchain import builder
from sandbox.toolchain.go_module import GoModule
from sandbox.toolchain.tools import KUBERNETES

LEAST_FREE_BYTES = 200_000_000
"""With less on the disk it is not started: etcd alone lays out 64 MB ahead, and a full disk can damage it."""

_KWOK = GoModule("sigs.k8s.io/kwok", "kwok")

_ESSENTIAL = (ports.ETCD, ports.API_SERVER)


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """How clients reach it."""

    endpoint: str
    """``https://127.0.0.1:<port>``"""
    certificate_authority: str
    """Base64 of PEM, as EKS gives it."""
    token: str
    """Of an administrator; random, of this sandbox."""
    kubeconfig: Path
    """For kubectl and client libraries; only its owner can read it."""


def start(checkout: Checkout) -> ControlPlane:
    """Start every part that does not run, and wait until all are ready; build the programs first if need be.

    Raises:
        SandboxError: something cannot be built or started; the message names the part and its log.

    """
    measure(checkout)
    return _plane(_absolute(checkout))


def measure(checkout: Checkout) -> Mapping[str, float]:
    """Do what `start` does, and return after how many seconds each part was ready.

    Raises:
        SandboxError: as `start`.

    """
    binaries = builder.ensure(KUBERNETES)
    checkout = _absolute(checkout)
    checkout.prepare()
    with exclusive(_lock(checkout), _waiting):
        _require_space(checkout)
        layout.prepare(checkout)
        if not layout.etcd_data(checkout).exists():
            # What was asked of the one before is kept until now, for whoever wants to know how it ended.
            audit.forget(checkout)
        numbers = ports.settle(checkout, _ports_in_use(checkout))
        credentials.prepare(checkout, parts.endpoint(numbers))
        layout.write(layout.audit_policy(checkout), audit.POLICY)
        _write_stages(checkout)
        return starting.bring_up(checkout, parts.of(checkout, numbers, binaries))


def running(checkout: Checkout) -> ControlPlane | None:
    """Return it if objects can be reached; other parts may have ended, which `start` would put right."""
    checkout = _absolute(checkout)
    found = {record.name for record in records.read_all(checkout) if record.alive}
    return _plane(checkout) if found.issuperset(_ESSENTIAL) else None


def check(checkout: Checkout) -> None:
    """Say whether a part that was started has ended by itself: perhaps that is why something else went wrong.

    Raises:
        SandboxError: one has; the message names it, its log, and the reason where that can be told.

    """
    checkout = _absolute(checkout)
    for record in reversed(records.read_all(checkout)):
        if not record.alive:
            raise failures.ended(checkout, record, failures.exit_status(record.pid))


def stop(checkout: Checkout) -> bool:
    """Stop every part, the last started first; tell whether there was one. Objects stay on the disk."""
    checkout = _absolute(checkout)
    if not layout.folder(checkout).exists():
        return False
    with exclusive(_lock(checkout), _waiting):
        return _stop(checkout)


def wipe(checkout: Checkout) -> None:
    """Stop it, and forget its objects, its secrets and its address."""
    checkout = _absolute(checkout)
    if not layout.folder(checkout).exists():
        return
    with exclusive(_lock(checkout), _waiting):
        _stop(checkout)
        shutil.rmtree(layout.folder(checkout))


def in_use() -> ControlPlane | None:
    """Return the control plane that this run works with: for the stand-in providers; None if it works with none."""
    return running(Checkout.current()) if os.environ.get(kubernetes.VARIABLE) else None


def _plane(checkout: Checkout) -> ControlPlane:
    return ControlPlane(
        endpoint=parts.endpoint(ports.reserve(checkout)),
        certificate_authority=credentials.authority_in_base64(checkout),
        token=credentials.token(checkout),
        kubeconfig=layout.kubeconfig(checkout),
    )


def _stop(checkout: Checkout) -> bool:
    known = records.read_all(checkout)
    alive = any(record.alive for record in known)
    for record in known:
        records.finish(checkout, record)
    return alive


def _ports_in_use(checkout: Checkout) -> set[str]:
    """Return the names of the ports that our own parts listen at."""
    alive = {record.name for record in records.read_all(checkout) if record.alive}
    return {
        port
        for part in parts.of(checkout, ports.reserve(checkout), Path())
        if part.name in alive
        for port in part.ports
    }


def _write_stages(checkout: Checkout) -> None:
    """Write kwok's configuration, unless it is made from the same already: no Go has to be run for a second start."""
    source = Path(stages.__file__).read_bytes()
    mark = f"# made from {hashlib.sha256(source).hexdigest()[:16]} and kwok {_KWOK.version}\n"
    path = layout.stages(checkout)
    if not path.is_file() or not path.read_text().startswith(mark):
        layout.write(path, mark + stages.document(_KWOK.fetch()))


def _require_space(checkout: Checkout) -> None:
    free = failures.free_bytes(checkout)
    if free < LEAST_FREE_BYTES:
        raise SandboxError(
            f"the disk that holds {checkout.directory} has {free // 1_000_000} MB left, and Kubernetes needs "
            f"{LEAST_FREE_BYTES // 1_000_000} MB; free some space, and run again"
        )


def _absolute(checkout: Checkout) -> Checkout:
    # Parts are told paths, and do not stand in the folder of the command that started them.
    return Checkout(checkout.directory.absolute())


def _lock(checkout: Checkout) -> Path:
    # Not in the folder that is wiped: somebody may be waiting for it.
    return checkout.directory / "kubernetes.lock"


def _waiting() -> None:
    print("waiting: another command starts or stops the Kubernetes of this sandbox", flush=True)
