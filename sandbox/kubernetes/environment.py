"""How a Pulumi program and its providers reach the sandbox's Kubernetes, with nothing in the program changed.

A program's kubeconfig asks the ``aws`` command for a token, and its charts have public addresses. So an ``aws`` that
knows the sandbox's token comes first on PATH, and the Kubernetes provider alone is given the chart mirror as its proxy.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from sandbox.charts import address
from sandbox.checkout import Checkout
from sandbox.kubernetes import AUTHORITY_VARIABLE, PROXY_VARIABLE, VARIABLE, layout
from sandbox.kubernetes.control_plane import ControlPlane
from sandbox.toolchain import builder
from sandbox.toolchain.tools import PULUMI_KUBERNETES

_EXEC_API = "client.authentication.k8s.io/v1beta1"
"""The one that ``aws eks get-token`` of AWS CLI 2 speaks (checked 2026-11-21)."""

_AWS = """\
#!/bin/sh
# Stand-in for one command of AWS's, `aws eks get-token`: it prints the token of the sandbox's Kubernetes.
# Every other command goes to the next `aws` on PATH, which speaks to the sandbox's AWS.
case " $* " in
*" eks get-token "*)
    echo {credential}
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
    credential = {"kind": "ExecCredential", "apiVersion": _EXEC_API, "spec": {}, "status": {"token": plane.token}}
    text = _AWS.format(credential=shlex.quote(json.dumps(credential)), folder=shlex.quote(str(folder)))
    layout.write(folder / "aws", text)
    (folder / "aws").chmod(0o700)
