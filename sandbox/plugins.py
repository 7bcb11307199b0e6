"""Makes the stand-in providers known to the engine as installed plugins.

A provider found on PATH draws a warning each time; an executable in the plugin folder of ``PULUMI_HOME``, under the
version a program's SDK asks for, is simply an installed plugin.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.checkout import ROOT, Checkout

VERSION_VARIABLE = "EKS_GPU_SANDBOX_PLUGIN_VERSION"
"""Tells a stand-in under which version the engine started it."""

_STUB = """\
#!/bin/sh
# The engine starts this file as a provider; it hands over to the stand-in.
# Safe path: a program's folder, where the engine may run this, must not shadow our modules.
export PYTHONPATH={root} PYTHONSAFEPATH=1 {variable}={version}
unset PYTHONHOME
exec {python} -m sandbox.providers.{provider} "$@"
"""


def install(checkout: Checkout, versions: Mapping[str, str]) -> None:
    """Install the stand-in of each provider under the version given for it; what is there already is left alone."""
    for provider, version in versions.items():
        folder = checkout.pulumi_home / "plugins" / f"resource-{provider}-v{version}"
        stub = _STUB.format(
            root=shlex.quote(str(ROOT)),
            variable=VERSION_VARIABLE,
            version=shlex.quote(version),
            python=shlex.quote(sys.executable),
            provider=provider,
        )
        _write(folder / f"pulumi-resource-{provider}", stub)


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text)
    temporary.chmod(0o755)
    temporary.replace(path)
