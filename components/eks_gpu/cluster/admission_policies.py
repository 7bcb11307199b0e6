"""Admission policies in a cluster: rules that the API server itself holds, whoever creates an object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from eks_gpu.foundation.arguments import Problem, missing, refuse
from eks_gpu.foundation.cluster_connection import ClusterConnection
from eks_gpu.foundation.component import Component

_API_VERSION: Final = "admissionregistration.k8s.io/v1"
_POLICY: Final = "ValidatingAdmissionPolicy"
_BINDING: Final = "ValidatingAdmissionPolicyBinding"


@dataclass(frozen=True, kw_only=True)
class AdmissionPoliciesArgs:
    """What the admission policies of a cluster are made of."""

    cluster: ClusterConnection
    """Where they are held."""

    manifests: Sequence[Mapping[str, Any]]
    """Policies and their bindings, as plain Kubernetes objects (``admissionregistration.k8s.io/v1``).

    ``eks_gpu_policies.admission.manifests`` makes those of the policy pack for an environment; ``eks-gpu policies
    admission`` prints the same. Plain, because what they are called decides what is built."""

    after: Sequence[pulumi.Resource] = ()
    """What must be there before anything is refused, such as workloads that are moved in with the cluster."""


class AdmissionPolicies(Component):
    """ValidatingAdmissionPolicies with their bindings, for whoever goes around previews and checks.

    It is handed the manifests: the library knows no rules. A binding comes after its policy and goes before it, so that
    nothing is ever bound to a policy that is not there. Needs Kubernetes 1.30 or newer.
    """

    policies: Mapping[str, k8s.admissionregistration.v1.ValidatingAdmissionPolicy]
    """The policies by their names in the cluster."""

    def __init__(self, name: str, args: AdmissionPoliciesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the policies under the logical name ``name``."""
        refuse([*missing(args, "manifests"), *_problems(args.manifests)], component=name)
        super().__init__(name, opts)
        self._args = args
        self.policies = {
            manifest["metadata"]["name"]: self._policy(manifest) for manifest in _of_kind(args.manifests, _POLICY)
        }
        for manifest in _of_kind(args.manifests, _BINDING):
            self._binding(manifest)
        self.register_outputs({})

    def _policy(self, manifest: Mapping[str, Any]) -> k8s.admissionregistration.v1.ValidatingAdmissionPolicy:
        return k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
            self.child_name(manifest["metadata"]["name"]),
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=self.child_opts(
                provider=self._args.cluster.provider, depends_on=(*self._args.cluster.ready, *self._args.after)
            ),
        )

    def _binding(self, manifest: Mapping[str, Any]) -> None:
        k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
            self.child_name(f"{manifest['metadata']['name']}-binding"),
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=self.child_opts(
                provider=self._args.cluster.provider, depends_on=(self.policies[manifest["spec"]["policyName"]],)
            ),
        )


def _of_kind(manifests: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def _problems(manifests: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Yield what is wrong with manifests that are to be built together."""
    seen: set[tuple[object, object]] = set()
    policies = {_name(manifest) for manifest in manifests if manifest.get("kind") == _POLICY}
    for number, manifest in enumerate(manifests):
        place, kind, name = f"manifests[{number}]", manifest.get("kind"), _name(manifest)
        if manifest.get("apiVersion") != _API_VERSION or kind not in {_POLICY, _BINDING}:
            given = f"{manifest.get('apiVersion')} {kind}"
            yield Problem(place, f"is {given}; only {_POLICY} and {_BINDING} of {_API_VERSION} are built here")
            continue
        if not name or "spec" not in manifest:
            yield Problem(place, f"is a {kind} without metadata.name or spec; both are needed")
            continue
        if (kind, name) in seen:
            yield Problem(place, f"is a second {kind} named {name}; give each once")
        seen.add((kind, name))
        bound = manifest["spec"].get("policyName")
        if kind == _BINDING and bound not in policies:
            yield Problem(place, f"binds the policy {bound}, which is not among the manifests; hand both in")


def _name(manifest: Mapping[str, Any]) -> object:
    return manifest.get("metadata", {}).get("name")
