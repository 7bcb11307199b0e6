"""How a Pulumi program and its providers reach the sandbox's Kubernetes, with nothing in the program changed.

A program's kubeconfig asks the ``aws`` command for a token, and its charts have public addresses. So an ``aws`` that
knows the sandbox's token comes first on PATH, and the Kubernetes provider alone is given the chart mirror as its proxy.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from sandbox.charts import address
from sandbox.checkout import Checkout
from sandbox.kubernetes import AUTHORITY_VARIABLE, PROXY_VARIABLE, VARIABLE
from sandbox.kubernetes.control_plane import ControlPlane
from sandbox.toolchain import builder
from sandbox.toolchain.tools import PULUMI_KUBERNETES

_AWS = """\
#!/bin/sh
# Stand-in for one command of AWS's, `aws eks get-token`: it prints the token of the sandbox's Kubernetes.
# Every other command goes to the next `aws` on PATH, which speaks to the sandbox's AWS.
case " $* " in
*" eks get-token "*)
    token=$(cat {token}) || exit 255
    printf '{{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1",'
    printf ' "spec": {{}}, "status": {{"token": "%s"}}}}\\n' "$token"
    exit 0
    ;;
esac
own={folder}
rest=
IFS=:
for entry in $PATH; do
    [ "$entry" = "$own" ] || rest=${{rest:+$rest:}}$entry
done
PATH=$rest
command -v aws >/dev/null || {{
    echo "aws: the sandbox answers \\`aws eks get-token\\` only; for anything else install the AWS command line" >&2
    exit 127
}}
exec aws "$@"
"""


def variables(checkout: Checkout, plane: ControlPlane, path: str) -> Mapping[str, str]:
    """Return the variables that let a program run against ``plane``; ``path`` is the PATH they add to.

    Raises:
        SandboxError: the provider is not built, and cannot be.

    """
    folder = checkout.directory / "bin"
    _write_aws(folder, plane)
    helm = checkout.directory / "helm"
    return {
        VARIABLE: str(builder.ensure(PULUMI_KUBERNETES) / "pulumi-resource-kubernetes"),
        PROXY_VARIABLE: address.proxy_url(checkout),
        AUTHORITY_VARIABLE: str(address.ca_file(checkout)),
        "PATH": os.pathsep.join((str(folder), path)),
        "KUBECONFIG": str(plane.kubeconfig),
        # Helm keeps indexes of repositories by their names: the user's own must not meet the stand-ins.
        "HELM_CACHE_HOME": str(helm / "cache"),
        "HELM_CONFIG_HOME": str(helm / "config"),
        "HELM_DATA_HOME": str(helm / "data"),
    }


def _write_aws(folder: Path, plane: ControlPlane) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    token = plane.kubeconfig.with_name("token")
    if not token.is_file() or token.read_text() != plane.token:
        _write(token, plane.token, 0o600)
    text = _AWS.format(token=shlex.quote(str(token)), folder=shlex.quote(str(folder)))
    _write(folder / "aws", text, 0o700)


def _write(path: Path, text: str, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
    temporary.replace(path)
