"""The add-ons that a cluster component brings (kube-proxy, CoreDNS, the VPC CNI), and the component of any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi

from sandbox.providers.eks.options import is_auto
from sandbox.providers.eks.resources import Child
from sandbox.providers.eks.surroundings import surroundings

ADD_ON: Final = "aws:eks/addon:Addon"
TOKEN: Final = "eks:index:Addon"  # noqa: S105 - a type token
NEWEST: Final = "v0.0.0-eksbuild.1"
"""Made up, in the usual form: where no version is given the real component looks up the newest one, so that its add-on
has an exact version too, another on another day."""


class VpcCniAddon(pulumi.ComponentResource):
    """The component around the VPC CNI's add-on."""

    def __init__(
        self, name: str, options: Mapping[str, Any], cluster: Child, tags: object, opts: pulumi.ResourceOptions
    ) -> None:
        """Make the add-on of the same name."""
        super().__init__("eks:index:VpcCniAddon", name, {}, opts)
        given = {**options, "version": options.get("addonVersion")}
        extra = {"serviceAccountRoleArn": options.get("serviceAccountRoleArn")}
        child = pulumi.ResourceOptions(parent=self)
        self.addon = Child(ADD_ON, name, {**_properties("vpc-cni", given, cluster, tags), **extra}, child)
        self.register_outputs({"addon": self.addon})


class Addon(pulumi.ComponentResource):
    """One add-on of a cluster, as given.

    Read from pulumi-eks nodejs/eks/addon.ts (@0454f934). The real component puts itself below its cluster; this one
    stays where the program puts it, because a cluster that is not known yet can be nobody's parent.
    """

    def __init__(self, name: str, options: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Make the add-on `name` from options that `options.judge` has passed."""
        super().__init__(TOKEN, name, dict(options), opts)
        values = options.get("configurationValues")
        given = {key: value for key, value in options.items() if key != "cluster"} | {
            "clusterName": surroundings(options["cluster"]).cluster_name,
            "configurationValues": None if values is None else pulumi.Output.from_input(values).apply(json.dumps),
        }
        self.addon = Child(ADD_ON, name, given, pulumi.ResourceOptions(parent=self))
        self.outputs = {"addon": self.addon}
        self.register_outputs(self.outputs)


def make_addons(
    name: str, options: Mapping[str, Any], cluster: Child, before: Sequence[pulumi.Resource], parent: pulumi.Resource
) -> VpcCniAddon | None:
    """Make the add-ons that `options` leave on; return the VPC CNI's component, which comes after `before`.

    CoreDNS is brought with a default node group, or when its options ask for it.
    """
    opts, tags = pulumi.ResourceOptions(parent=parent), options.get("tags")
    kube_proxy = options.get("kubeProxyAddonOptions") or {}
    auto = is_auto(options)
    if kube_proxy.get("enabled", not auto):
        Child(ADD_ON, f"{name}-kube-proxy", _properties("kube-proxy", kube_proxy, cluster, tags), opts)
    coredns = options.get("corednsAddonOptions") or {}
    if _wants_coredns(coredns, with_nodes=auto or not options.get("skipDefaultNodeGroup")):
        Child(ADD_ON, f"{name}-coredns", _properties("coredns", coredns, cluster, tags), opts)
    if options.get("useDefaultVpcCni", auto):
        return None
    after = pulumi.ResourceOptions(parent=parent, depends_on=list(before))
    return VpcCniAddon(f"{name}-vpc-cni", options.get("vpcCniOptions") or {}, cluster, tags, after)


def _wants_coredns(options: Mapping[str, Any], *, with_nodes: bool) -> bool:
    if options.get("enabled") is True or options.get("configurationValues"):
        return True
    return with_nodes and options.get("enabled") is not False


def _properties(add_on: str, options: Mapping[str, Any], cluster: Child, tags: object) -> dict[str, Any]:
    values = options.get("configurationValues")
    text = pulumi.Output.from_input(values).apply(_canonical_json) if values else None
    return {
        "addonName": add_on,
        "addonVersion": options.get("version") or NEWEST,
        "clusterName": cluster.output("name"),
        "configurationValues": text,
        "preserve": True,
        "resolveConflictsOnCreate": options.get("resolveConflictsOnCreate") or "OVERWRITE",
        "resolveConflictsOnUpdate": options.get("resolveConflictsOnUpdate") or "OVERWRITE",
        "tags": tags,
    }


def _canonical_json(values: object) -> str:
    return json.dumps(values, sort_keys=True, separators=(",", ":"))
