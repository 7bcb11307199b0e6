"""What the recorder answers in the cloud's place: ids, ARNs, and a few provider functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eks_gpu.recording import manifests

ACCOUNT_ID = "123456789012"
"""The account that recorded ARNs name; AWS uses it in its own documentation."""

REGION = "us-east-1"
"""The region of a recording when the stack does not configure one."""

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""A provider function: arguments in, result out."""


def identity(token: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that a custom resource surely has: its inputs, and for AWS a name and an ARN.

    Everything else stays unknown, as at a first preview.
    """
    outputs = dict(inputs)
    if token.startswith("aws:"):
        service = token.split(":")[1].split("/", maxsplit=1)[0]
        outputs.setdefault("name", name)
        outputs.setdefault("arn", f"arn:aws:{service}:{REGION}:{ACCOUNT_ID}:{name}")
    if token.startswith("kubernetes:"):
        outputs["metadata"] = {"name": name, **(inputs.get("metadata") or {})}
    return outputs


def _region(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"id": REGION, "name": REGION, "region": REGION, "description": "US East (N. Virginia)"}


def _caller(_: Mapping[str, Any]) -> Mapping[str, Any]:
    arn = f"arn:aws:iam::{ACCOUNT_ID}:user/recorder"
    return {"id": ACCOUNT_ID, "accountId": ACCOUNT_ID, "arn": arn, "userId": "recorder"}


def _partition(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


def _zones(_: Mapping[str, Any]) -> Mapping[str, Any]:
    names = [f"{REGION}{letter}" for letter in "abc"]
    return {"id": REGION, "names": names, "zoneIds": [f"use1-az{n}" for n in (1, 2, 3)]}


def _cluster(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Describe a cluster that a program looks up. Its version is left out: the program states one, nobody knows."""
    name = args["name"]
    return {
        "id": name,
        "name": name,
        "arn": f"arn:aws:eks:{REGION}:{ACCOUNT_ID}:cluster/{name}",
        "endpoint": f"https://{name}.eks.invalid",
        "certificateAuthorities": [{"data": ""}],
        "vpcConfig": {"vpcId": f"vpc-of-{name}", "clusterSecurityGroupId": f"sg-of-{name}", "subnetIds": []},
    }


ANSWERS: Mapping[str, Answer] = {
    "aws:eks/getCluster:getCluster": _cluster,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    manifests.DECODE: manifests.decode,
}
"""Provider functions by token. Any other gives an empty result and is named in ``Recording.unanswered``."""
