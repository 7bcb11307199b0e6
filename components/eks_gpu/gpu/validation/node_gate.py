"""Validation of new nodes: workloads come to a node only when its GPUs are proven.

Builds
    Namespace   for pods that may see every GPU of a node
    ConfigMaps  the checks, and the program of the gate
    DaemonSet   for each pool and number of GPUs: the checks, on nodes that are closed
    Deployment  the gate: opens nodes that passed, gives back those that did not, with the few rights that it needs

Needs
    Pools whose nodes start with the taint (``validate_new_nodes``); GPU software that tolerates it, as every owner of
    ours does. Nodes that are there already are not touched, and neither are nodes that rebooted: those are the affair
    of node repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.facts import labels, namespaces
from eks_gpu.facts.instances import InstanceType
from eks_gpu.foundation.arguments import Problem, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.namespace import Namespace, NamespaceArgs, PodSecurity
from eks_gpu.gpu.gpu_software import GpuSoftware
from eks_gpu.gpu.sharing import NamedFiles, config_map
from eks_gpu.gpu.validation import new_nodes
from eks_gpu.gpu.validation.checks import script_files
from eks_gpu.settings.node_pool import NodePool
from eks_gpu.settings.validation import Validation


@dataclass(frozen=True, kw_only=True)
class NodeGateArgs:
    """What the gate is built from."""

    settings: Validation
    """How GPUs are proven, and how long a new node may take."""

    cluster: ClusterConnection
    """Where it runs."""

    gpu_software: GpuSoftware
    """What makes the GPUs visible."""

    pools: Mapping[str, NodePool]
    """The pools whose new nodes are proven, by the name that they have in the cluster."""


class NodeGate(Component):
    """The gate before new nodes of Karpenter's pools."""

    ready: tuple[pulumi.Resource, ...]
    """What needs such nodes comes after these."""

    def __init__(self, name: str, args: NodeGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the checks on closed nodes, then what acts on their result."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts)
        self._cluster = args.cluster
        self._namespace_resource = self._namespace()
        scripts = self._files("checks", script_files())
        program = self._files("program", new_nodes.gate_files())
        daemons = [
            self._daemon_set(args, key, kind, scripts)
            for key, pool in args.pools.items()
            for kind in by_gpu_count(pool).values()
        ]
        self.ready = (*daemons, self._gate(args, program, self._account()))
        self.register_outputs({})

    def _options(self, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return self.child_opts(provider=self._cluster.provider, depends_on=depends_on)

    def _namespace(self) -> Namespace:
        wanted = NamespaceArgs(namespace=namespaces.NODE_VALIDATION, pod_security=PodSecurity.PRIVILEGED)
        return Namespace(self.child_name("namespace"), wanted, self._options(*self._cluster.ready))

    def _files(self, suffix: str, files: NamedFiles) -> k8s.core.v1.ConfigMap:
        return config_map(
            self.child_name(suffix), files, namespaces.NODE_VALIDATION, self._options(self._namespace_resource)
        )

    def _daemon_set(
        self, args: NodeGateArgs, pool: str, kind: InstanceType, scripts: k8s.core.v1.ConfigMap
    ) -> k8s.apps.v1.DaemonSet:
        name = f"{pool}-{kind.gpu_count}"
        return k8s.apps.v1.DaemonSet(
            self.child_name(name),
            metadata={
                "name": name,
                "namespace": namespaces.NODE_VALIDATION,
                # A new node whose GPU is broken is the affair of the gate, and must not hold up a deployment.
                "annotations": {labels.SKIP_AWAIT: "true"},
            },
            spec=new_nodes.daemon_set_spec(
                pool,
                kind,
                new_nodes.new_node_checks(kind, args.settings),
                scripts=script_files().name,
                runtime_class_name=args.gpu_software.runtime_class_name,
            ),
            opts=self._options(scripts, *args.gpu_software.ready),
        )

    def _account(self) -> tuple[pulumi.Resource, ...]:
        """Define as whom the gate runs, and return what it must wait for."""
        place = {"name": new_nodes.GATE, "namespace": namespaces.NODE_VALIDATION}
        after = self._options(self._namespace_resource)
        account = k8s.core.v1.ServiceAccount(self.child_name("account"), metadata=place, opts=after)
        subjects = [{"kind": "ServiceAccount", **place}]
        group = "rbac.authorization.k8s.io"
        everywhere = k8s.rbac.v1.ClusterRole(
            self.child_name("cluster-role"),
            metadata={"name": new_nodes.GATE},
            rules=new_nodes.cluster_rules(),
            opts=after,
        )
        here = k8s.rbac.v1.Role(self.child_name("role"), metadata=place, rules=new_nodes.namespace_rules(), opts=after)
        return (
            account,
            k8s.rbac.v1.ClusterRoleBinding(
                self.child_name("cluster-role-binding"),
                metadata={"name": new_nodes.GATE},
                role_ref={"api_group": group, "kind": "ClusterRole", "name": new_nodes.GATE},
                subjects=subjects,
                opts=self._options(account, everywhere),
            ),
            k8s.rbac.v1.RoleBinding(
                self.child_name("role-binding"),
                metadata=place,
                role_ref={"api_group": group, "kind": "Role", "name": new_nodes.GATE},
                subjects=subjects,
                opts=self._options(account, here),
            ),
        )

    def _gate(
        self, args: NodeGateArgs, program: k8s.core.v1.ConfigMap, account: tuple[pulumi.Resource, ...]
    ) -> k8s.apps.v1.Deployment:
        return k8s.apps.v1.Deployment(
            self.child_name("gate"),
            metadata={"name": new_nodes.GATE, "namespace": namespaces.NODE_VALIDATION},
            spec=new_nodes.deployment_spec(args.settings, program=new_nodes.gate_files().name, account=new_nodes.GATE),
            opts=self._options(program, *account),
        )


def by_gpu_count(pool: NodePool) -> dict[int, InstanceType]:
    """Return one instance type of the pool for each number of GPUs that its nodes can have."""
    return {kind.gpu_count: kind for kind in reversed(pool.types)}


def _problems(args: NodeGateArgs) -> list[Problem]:
    return [
        Problem(f"pools.{key}", "does not keep its new nodes closed; set validate_new_nodes, or leave the pool out")
        for key, pool in args.pools.items()
        if not pool.validate_new_nodes
    ]
