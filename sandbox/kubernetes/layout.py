"""Where the Kubernetes of a sandbox keeps its things: in one folder, which only its owner may look into."""

from __future__ import annotations

import os
from pathlib import Path

from sandbox.checkout import Checkout


def folder(checkout: Checkout) -> Path:
    """Return the folder of everything that is forgotten together."""
    return checkout.directory / "kubernetes"


def etcd_data(checkout: Checkout) -> Path:
    """Return where etcd keeps every object."""
    return folder(checkout) / "etcd"


def credentials(checkout: Checkout) -> Path:
    """Return the folder of certificates, keys and tokens."""
    return folder(checkout) / "credentials"


def kubeconfig(checkout: Checkout, user: str = "") -> Path:
    """Return the kubeconfig of one of the parts, by default that of the owner."""
    return credentials(checkout) / f"{user}.kubeconfig" if user else folder(checkout) / "kubeconfig"


def records(checkout: Checkout) -> Path:
    """Return the folder that says which processes there are."""
    return folder(checkout) / "run"


def ports(checkout: Checkout) -> Path:
    """Return the file of reserved ports."""
    return folder(checkout) / "ports.json"


def audit_policy(checkout: Checkout) -> Path:
    """Return the file that says which requests the API server writes down."""
    return folder(checkout) / "audit-policy.yaml"


def stages(checkout: Checkout) -> Path:
    """Return the file that tells kwok what happens to nodes and pods."""
    return folder(checkout) / "stages.yaml"


def log(checkout: Checkout, part: str) -> Path:
    """Return what a part has to say."""
    return checkout.logs / f"{part}.log"


def audit_log(checkout: Checkout) -> Path:
    """Return where requests are written down; older ones are beside it (``audit-<time>.log``)."""
    return checkout.logs / "audit.log"


def prepare(checkout: Checkout) -> None:
    """Create the folders."""
    checkout.prepare()
    for path in (folder(checkout), records(checkout)):
        path.mkdir(mode=0o700, exist_ok=True)


def write(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all; what is as it should be is not touched."""
    if path.is_file() and path.read_text() == text:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
    temporary.replace(path)
