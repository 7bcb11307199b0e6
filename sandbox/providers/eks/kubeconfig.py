"""The kubeconfig of a cluster, whose user gets its token from the AWS command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def kubeconfig(cluster: Mapping[str, Any], credentials: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the kubeconfig of `cluster` (name, arn, endpoint, certificateAuthority) for the given credentials.

    `credentials` may hold `roleArn` and `profileName`, as `providerCredentialOpts` does.
    """
    credentials = credentials or {}
    region = str(cluster["arn"]).split(":")[3]
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", cluster["name"], "--output", "json"]
    if credentials.get("roleArn"):
        arguments += ["--role", credentials["roleArn"]]
    environment = [{"name": "KUBERNETES_EXEC_INFO", "value": '{"apiVersion": "client.authentication.k8s.io/v1beta1"}'}]
    if credentials.get("profileName"):
        environment.append({"name": "AWS_PROFILE", "value": credentials["profileName"]})
    exec_ = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": arguments,
        "env": environment,
    }
    authority = cluster["certificateAuthority"]["data"]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "aws",
        "clusters": [
            {"name": "kubernetes", "cluster": {"server": cluster["endpoint"], "certificate-authority-data": authority}}
        ],
        "contexts": [{"name": "aws", "context": {"cluster": "kubernetes", "user": "aws"}}],
        "users": [{"name": "aws", "user": {"exec": exec_}}],
    }
