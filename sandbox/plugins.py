"""Makes the stand-in providers known to the engine as installed plugins.

A provider found on PATH draws a warning each time; an executable in the plugin folder of ``PULUMI_HOME``, under the
version a program's SDK asks for, is simply an installed plugin.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox import kubernetes
from sandbox.checkout import ROOT, Checkout

VERSION_VARIABLE = "EKS_GPU_SANDBOX_PLUGIN_VERSION"
"""Tells a stand-in under which version the engine started it."""

_STUB = """\
#!/bin/sh
# The engine starts this file as a provider; it hands over to the stand-in{or_real}.
{real}# Safe path: a program's folder, where the engine may run this, must not shadow our modules.
export PYTHONPATH={root} PYTHONSAFEPATH=1 {variable}={version}
unset PYTHONHOME
exec {python} -m sandbox.providers.{provider} "$@"
"""

_REAL = """\
if [ -n "${{{variable}:-}}" ]; then
    # Go takes both from the environment: charts come from the mirror in the sandbox, under their public addresses.
    export HTTPS_PROXY="${proxy}" SSL_CERT_FILE="${authority}"
    exec "${variable}" "$@"
fi
"""


def install(checkout: Checkout, versions: Mapping[str, str]) -> None:
    """Install the stand-in of each provider under the version given for it; what is there already is left alone."""
    for provider, version in versions.items():
        folder = checkout.pulumi_home / "plugins" / f"resource-{provider}-v{version}"
        real = _real(provider)
        stub = _STUB.format(
            or_real=", or to the real one" if real else "",
            real=real,
            root=shlex.quote(str(ROOT)),
            variable=VERSION_VARIABLE,
            version=shlex.quote(version),
            python=shlex.quote(sys.executable),
            provider=provider,
        )
        _write(folder / f"pulumi-resource-{provider}", stub)


def _real(provider: str) -> str:
    """Return the lines by which the Kubernetes provider is the real one wherever there is a real cluster."""
    if provider != "kubernetes":
        return ""
    return _REAL.format(
        variable=kubernetes.VARIABLE, proxy=kubernetes.PROXY_VARIABLE, authority=kubernetes.AUTHORITY_VARIABLE
    )


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text)
    temporary.chmod(0o755)
    temporary.replace(path)
