"""An AWS identity for one Kubernetes service account, by EKS Pod Identity.

Builds
    Role                     trusted by EKS Pod Identity alone, and only on behalf of a service account so called
    RolePolicy / attachment  what the pods may do
    PodIdentityAssociation   which service account gets it

Needs
    The ``eks-pod-identity-agent`` add-on on the nodes that the pods run on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import iam
from eks_gpu.foundation.arguments import Problem, missing, missing_entries, refuse
from eks_gpu.foundation.component import Component
from eks_gpu.foundation.policy_document import trust

_TRUSTED_ACTIONS: Final = ("sts:AssumeRole", "sts:TagSession")
"""The agent tags each session with cluster, namespace and service account, hence the second (EKS user guide,
"EKS Pod Identity role", checked 2026-11-21)."""


@dataclass(frozen=True, kw_only=True)
class PodIdentityArgs:
    """What a pod identity is made of. At least one policy is needed: a role that may do nothing is a mistake."""

    cluster_name: pulumi.Input[str]
    """Name of the EKS cluster."""

    namespace: pulumi.Input[str]
    """Namespace of the service account."""

    service_account: pulumi.Input[str]
    """The service account whose pods get the role. It need not exist yet."""

    policies: Mapping[str, pulumi.Input[Mapping[str, object]]] = field(default_factory=dict)
    """Policy documents by a plain key; the key names the resource. Documents may hold Outputs."""

    managed_policies: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """ARNs of managed policies by a plain key."""


class PodIdentity(Component):
    """An AWS identity for one Kubernetes service account."""

    role_arn: pulumi.Output[str]
    """ARN of the role."""

    role_name: pulumi.Output[str]
    """Name of the role."""

    ready: tuple[pulumi.Resource, ...]
    """What pods that use the identity must wait for: policies first, else their first calls are refused."""

    def __init__(self, name: str, args: PodIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the role, what it may do, then who gets it."""
        refuse(_problems(args), component=name)
        super().__init__(name, opts)
        role = self._role(args)
        policies = (*self._inline_policies(role, args), *self._attachments(role, args))
        association = self._association(role, args, policies)
        self.role_arn = role.arn
        self.role_name = role.name
        self.ready = (*policies, association)
        self.register_outputs({"role_arn": self.role_arn, "role_name": self.role_name})

    def _role(self, args: PodIdentityArgs) -> aws.iam.Role:
        """Define the role. Without a condition, another association in the account could give it to anyone's pods."""
        on_behalf = {"StringEquals": session_tags(args.namespace, args.service_account)}
        return aws.iam.Role(
            self.child_name("role"),
            assume_role_policy=pulumi.Output.json_dumps(trust(iam.PODS, _TRUSTED_ACTIONS, condition=on_behalf)),
            opts=self.child_opts(),
        )

    def _inline_policies(self, role: aws.iam.Role, args: PodIdentityArgs) -> tuple[aws.iam.RolePolicy, ...]:
        return tuple(
            aws.iam.RolePolicy(
                self.child_name(f"policy-{key}"),
                role=role.name,
                policy=pulumi.Output.json_dumps(policy),
                opts=self.child_opts(),
            )
            for key, policy in args.policies.items()
        )

    def _attachments(self, role: aws.iam.Role, args: PodIdentityArgs) -> tuple[aws.iam.RolePolicyAttachment, ...]:
        return tuple(
            aws.iam.RolePolicyAttachment(
                self.child_name(f"managed-policy-{key}"),
                role=role.name,
                policy_arn=arn,
                opts=self.child_opts(),
            )
            for key, arn in args.managed_policies.items()
        )

    def _association(
        self, role: aws.iam.Role, args: PodIdentityArgs, policies: tuple[pulumi.Resource, ...]
    ) -> aws.eks.PodIdentityAssociation:
        return aws.eks.PodIdentityAssociation(
            self.child_name("association"),
            cluster_name=args.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            opts=self.child_opts(depends_on=policies),
        )


def session_tags(namespace: pulumi.Input[str], service_account: pulumi.Input[str]) -> dict[str, pulumi.Input[str]]:
    """Return the condition keys of the tags that Pod Identity sets when it assumes a role, with their values.

    The cluster's name, which it sets too, is left out: it is known only once the cluster is there, and a trust policy
    that nobody can read before the deployment is worse than one that an association in another cluster would fit.
    """
    return {
        f"aws:RequestTag/{iam.SESSION_TAG_NAMESPACE}": namespace,
        f"aws:RequestTag/{iam.SESSION_TAG_SERVICE_ACCOUNT}": service_account,
    }


def _problems(args: PodIdentityArgs) -> list[Problem]:
    problems = missing(args, "cluster_name", "namespace", "service_account")
    if not args.policies and not args.managed_policies:
        problems.append(Problem("policies", "is empty and so is managed_policies; give at least one policy"))
    for name in ("policies", "managed_policies"):
        if getattr(args, name):
            problems += missing_entries(args, name)
    return problems
