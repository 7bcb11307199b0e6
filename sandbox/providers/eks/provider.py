"""Build the components `Cluster`, `ManagedNodeGroup`, `NodeGroupV2` and `Addon` for programs in any language."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import Any, Final

import pulumi
from pulumi.provider import CallResult, ConstructResult, Provider

from sandbox.providers.eks import addons, cluster, node_group, self_managed
from sandbox.providers.eks.kubeconfig import kubeconfig
from sandbox.providers.eks.options import judge
from sandbox.providers.eks.resources import Met
from sandbox.providers.sdk import Sdk
from sandbox.providers.stand_in import VERSION_VARIABLE

_KUBECONFIG: Final = "eks:index:Cluster/getKubeconfig"


class Eks(Provider):
    """The components, checked against the installed `pulumi_eks` before anything is made."""

    def __init__(self) -> None:
        """Take the version that the engine asks for, else that of the installed SDK."""
        self._sdk = Sdk("pulumi_eks")
        super().__init__(os.environ.get(VERSION_VARIABLE) or self._sdk.version)

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: Mapping[str, Any],
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Build one component; a type that is not built here is refused by name."""
        build = _COMPONENTS.get(resource_type)
        if build is None:
            known = ", ".join(_COMPONENTS)
            raise pulumi.InputPropertiesError(
                f'the stand-in provider eks has no component "{resource_type}"; it has {known}', []
            )
        judge(self._sdk, resource_type, inputs)
        made = build(name, inputs, options)
        return ConstructResult(made.urn, made.outputs)

    def call(self, token: str, args: Mapping[str, Any]) -> CallResult:
        """Answer `Cluster.get_kubeconfig`, the one method of the components."""
        if token != _KUBECONFIG:
            raise pulumi.InputPropertiesError(f'the stand-in provider eks has no method "{token}"', [])
        met = args["__self__"]
        if not isinstance(met, Met):
            raise TypeError("get_kubeconfig wants a cluster")
        fields = ("name", "arn", "endpoint", "certificateAuthority")
        control_plane = met.output("eksCluster")
        known = pulumi.Output.all(
            credentials={key: args.get(key) for key in ("roleArn", "profileName")},
            **{field: control_plane.apply(methodcaller("output", field)) for field in fields},
        )
        return CallResult({"result": known.apply(lambda found: json.dumps(kubeconfig(found, found["credentials"])))})


_COMPONENTS: Final[Mapping[str, Callable[..., Any]]] = {
    cluster.TOKEN: cluster.Cluster,
    node_group.TOKEN: node_group.ManagedNodeGroup,
    self_managed.TOKEN: self_managed.NodeGroupV2,
    addons.TOKEN: addons.Addon,
}
