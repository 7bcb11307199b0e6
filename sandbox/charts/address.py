"""Where the chart mirror of a sandbox is, and what its clients trust it by."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.ports import HOST

HEALTH_PATH: Final = "/healthz"
"""Answers plain HTTP with 200 as soon as every chart can be had."""


def folder(checkout: Checkout) -> Path:
    """Return where the mirror keeps its certificates, its port and the charts it has packed."""
    return checkout.directory / "charts"


def ca_file(checkout: Checkout) -> Path:
    """Return the file with the authority that signed the mirror's certificate (``SSL_CERT_FILE`` of its clients)."""
    return folder(checkout) / "ca.pem"


def proxy_url(checkout: Checkout) -> str:
    """Return the mirror's URL (``HTTPS_PROXY`` of its clients).

    Raises:
        SandboxError: the mirror was never started.

    """
    try:
        return url(int(_port_file(checkout).read_text()))
    except (OSError, ValueError):
        raise SandboxError(
            "the chart mirror of this sandbox was never started; start the sandbox's Kubernetes first"
        ) from None


def url(port: int) -> str:
    """Return the URL of a mirror on ``port``."""
    return f"http://{HOST}:{port}"


def health_url(port: int) -> str:
    """Return what answers 200 when a mirror on ``port`` is ready."""
    return url(port) + HEALTH_PATH


def record(checkout: Checkout, port: int) -> None:
    """Write down the mirror's port."""
    temporary = _port_file(checkout).with_suffix(".part")
    temporary.write_text(f"{port}\n")
    temporary.replace(_port_file(checkout))


def _port_file(checkout: Checkout) -> Path:
    return folder(checkout) / "port"
