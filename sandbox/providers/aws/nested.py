"""What AWS adds inside a property that the program gave, such as the VPC's id in a cluster's `vpcConfig`.

A generated SDK does not tell these from inputs that were left out, so that they are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sandbox.providers.wire import UNKNOWN, Properties

_ADDED: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "aws:eks/cluster:Cluster": {
        "accessConfig": ("authenticationMode",),
        "kubernetesNetworkConfig": ("ipFamily", "serviceIpv4Cidr"),
        "vpcConfig": ("clusterSecurityGroupId", "vpcId"),
    },
}


def with_unknowns(token: str, outputs: Properties) -> Properties:
    """Return the outputs of a preview, unknown where AWS will add something."""
    return _filled(token, outputs, {})


def with_known(token: str, outputs: Properties, state: Properties) -> Properties:
    """Return `outputs` with what AWS had added to the resource before, as `state` holds it."""
    return _filled(token, outputs, state)


def _filled(token: str, outputs: Properties, state: Properties) -> Properties:
    filled = dict(outputs)
    for name, added in _ADDED.get(token, {}).items():
        given, before = outputs.get(name), state.get(name) or {}
        if isinstance(given, dict):
            filled[name] = {**{each: before.get(each, UNKNOWN) for each in added}, **given}
    return filled
