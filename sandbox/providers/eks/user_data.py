"""What nodes are told when they start: a text of the stand-in's own. It says so, and holds what the real one would."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi
import yaml

from sandbox.providers.eks.images import AL2, BOTTLEROCKET, operating_system
from sandbox.providers.eks.surroundings import Surroundings

CUSTOM: Final = ("bootstrapExtraArgs", "bottlerocketSettings", "kubeletExtraArgs", "nodeadmExtraOptions")
"""The options that need user data of their own."""
_TOLD: Final = (*CUSTOM, "labels", "nodeUserData")
_NODE_CONFIG: Final = "application/node.eks.aws"
_SHELL: Final = 'text/x-shellscript; charset="us-ascii"'
_BOUNDARY: Final = "==SANDBOX=="
_HEADER: Final = "# made by the sandbox in the place of the eks provider"


def user_data(options: Mapping[str, Any], taints: object, around: Surroundings) -> pulumi.Output[str]:
    """Return the user data in base64: the text given instead, or one of the stand-in's own.

    `taints` are as the kubelet writes them: a list of `key=value:effect`.
    """
    given = options.get("userData") or options.get("nodeUserDataOverride")
    if given is not None:
        return pulumi.Output.from_input(given).apply(_encoded)
    cluster = {
        "name": around.cluster_name,
        "apiServerEndpoint": around.control_plane("endpoint"),
        "certificateAuthority": around.control_plane("certificateAuthority").apply(lambda found: found["data"]),
        "cidr": around.control_plane("kubernetesNetworkConfig").apply(_service_range),
    }
    told = {name: options.get(name) for name in _TOLD} | {"taints": taints}
    known = pulumi.Output.all(operating_system(options), cluster, told)
    return known.apply(lambda found: _encoded(text(*found)))


def text(system: str, cluster: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Return the user data of a node with this operating system that joins `cluster`; `told` are its options."""
    if system == BOTTLEROCKET:
        settings = {"kubernetes": _bottlerocket(cluster, told)}
        return f"{_HEADER}\n# settings, as JSON\n{json.dumps([settings, told.get('bottlerocketSettings') or {}])}\n"
    if system == AL2:
        flags = " ".join(_flags(told))
        extra = told.get("bootstrapExtraArgs") or ""
        join = f"/etc/eks/bootstrap.sh '{cluster['name']}' --kubelet-extra-args '{flags}' {extra}".rstrip()
        return f"#!/bin/bash\n{_HEADER}\n{join}\n{told.get('nodeUserData') or ''}\n"
    parts = [(_NODE_CONFIG, _node_config({"cluster": dict(cluster)}))]
    if _flags(told):
        parts.append((_NODE_CONFIG, _node_config({"kubelet": {"flags": _flags(told)}})))
    parts += [(each["contentType"], each["content"]) for each in told.get("nodeadmExtraOptions") or []]
    if told.get("nodeUserData"):
        parts.append((_SHELL, told["nodeUserData"]))
    body = "".join(f"--{_BOUNDARY}\nContent-Type: {kind}\n\n{content}\n" for kind, content in parts)
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n{body}--{_BOUNDARY}--\n'


def _service_range(config: Mapping[str, Any] | None) -> str | None:
    config = config or {}
    return config.get("serviceIpv6Cidr") if config.get("ipFamily") == "ipv6" else config.get("serviceIpv4Cidr")


def _node_config(spec: Mapping[str, Any]) -> str:
    config = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
    return f"{_HEADER}\n---\n{yaml.safe_dump(config, sort_keys=False)}"


def _bottlerocket(cluster: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    joins = {"cluster-name": cluster["name"], "api-server": cluster["apiServerEndpoint"]}
    return {**joins, "node-labels": told.get("labels") or {}, "node-taints": told.get("taints") or []}


def _flags(told: Mapping[str, Any]) -> list[str]:
    labels = ",".join(f"{key}={value}" for key, value in (told.get("labels") or {}).items())
    taints = ",".join(told.get("taints") or [])
    flags = [str(told.get("kubeletExtraArgs") or "")]
    flags += [f"--node-labels={labels}" if labels else "", f"--register-with-taints={taints}" if taints else ""]
    return [flag for flag in flags if flag]


def _encoded(content: str) -> str:
    return base64.b64encode(content.encode()).decode()
