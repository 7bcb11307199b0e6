"""Certificates, keys, tokens and kubeconfigs: random, of this sandbox alone, readable by its owner alone."""

from __future__ import annotations

import base64
import json
import secrets
import shutil
import tempfile
from pathlib import Path

from sandbox.checkout import Checkout
from sandbox.kubernetes import layout
from sandbox.kubernetes.certificates import Authority, Pair, signing_key
from sandbox.ports import HOST

OWNER = "owner"
"""Whoever works with the sandbox: the tests, and a program, for which EKS would have put its role in this place."""
NODE_SIDE = "node-side"
KWOK = "kwok"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"

_ADMINISTRATORS = "system:masters"
_USERS = {
    OWNER: ("eks-gpu-sandbox", _ADMINISTRATORS),
    # Their own names, so that the audit log tells who did what.
    NODE_SIDE: ("eks-gpu-sandbox:node-side", _ADMINISTRATORS),
    KWOK: ("eks-gpu-sandbox:kwok", _ADMINISTRATORS),
    # Kubernetes has a role for each of these two, which it binds to the name.
    CONTROLLER_MANAGER: ("system:kube-controller-manager", ""),
    SCHEDULER: ("system:kube-scheduler", ""),
}
"""Everyone who has a token: user name and group."""

CONTEXT = "sandbox"
_AUTHORITY = "ca.crt"
_TOKENS = "tokens.csv"


def authority(checkout: Checkout) -> Path:
    """Return the certificate that clients trust."""
    return layout.credentials(checkout) / _AUTHORITY


def authority_in_base64(checkout: Checkout) -> str:
    """Return it as EKS tells the authority of a cluster."""
    return base64.b64encode(authority(checkout).read_bytes()).decode()


def file(checkout: Checkout, name: str) -> str:
    """Return the path of one of the files that `prepare` makes, for a command line."""
    return str(layout.credentials(checkout) / name)


def token(checkout: Checkout, user: str = OWNER) -> str:
    """Return a user's token."""
    name, _group = _USERS[user]
    for line in (layout.credentials(checkout) / _TOKENS).read_text().splitlines():
        found, known, _rest = line.split(",", 2)
        if known == name:
            return found
    raise KeyError(user)


def prepare(checkout: Checkout, endpoint: str) -> None:
    """Make what is missing: all secrets at once, and a kubeconfig per user which names ``endpoint``."""
    folder = layout.credentials(checkout)
    if not folder.exists():
        # Whole or not at all: half of them would not fit the other half.
        fresh = Path(tempfile.mkdtemp(prefix=".credentials-", dir=folder.parent))
        try:
            _make(fresh)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    for user in _USERS:
        path = layout.kubeconfig(checkout, "" if user == OWNER else user)
        layout.write(path, _kubeconfig(checkout, endpoint, user))


def _make(folder: Path) -> None:
    signer = Authority("eks-gpu sandbox")
    layout.write(folder / _AUTHORITY, signer.certificate)
    _write_pair(folder, "serving", signer.issue("eks-gpu sandbox", (HOST, "localhost", "kubernetes.default.svc")))
    _write_pair(folder, "etcd-client", signer.issue(OWNER))
    accounts = signing_key()
    layout.write(folder / "service-account.key", accounts.key)
    layout.write(folder / "service-account.pub", accounts.certificate)
    lines = (
        ",".join((secrets.token_urlsafe(32), name, name, *([group] if group else ())))
        for name, group in _USERS.values()
    )
    layout.write(folder / _TOKENS, "".join(f"{line}\n" for line in lines))


def _write_pair(folder: Path, name: str, pair: Pair) -> None:
    layout.write(folder / f"{name}.crt", pair.certificate)
    layout.write(folder / f"{name}.key", pair.key)


def _kubeconfig(checkout: Checkout, endpoint: str, user: str) -> str:
    cluster = {"server": endpoint, "certificate-authority-data": authority_in_base64(checkout)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token(checkout, user)}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
    }
    # JSON is YAML, too.
    return f"{json.dumps(content, indent=1)}\n"
