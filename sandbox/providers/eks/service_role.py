"""An IAM role that an AWS service takes, with managed policies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from sandbox.providers.eks.resources import Child


class ServiceRole(pulumi.ComponentResource):
    """A role for `service` and the attachments of its policies; names as the real component forms them."""

    def __init__(
        self,
        name: str,
        service: str,
        policies: Sequence[str],
        role: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """Make the role with the properties `role` and attach the AWS-managed `policies`, given by their names."""
        super().__init__("eks:index:ServiceRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        properties = {"assumeRolePolicy": trust_policy(service), **role}
        self.role = Child("aws:iam/role:Role", f"{name}-role", properties, child)
        self.attachments = [self._attach(name, f"arn:aws:iam::aws:policy/{policy}", child) for policy in policies]
        self.register_outputs({"directRole": self.role, "resolvedRole": self.role})

    def _attach(self, name: str, policy: str, opts: pulumi.ResourceOptions) -> Child:
        # The real component names an attachment by the first digits of a hash of the policy.
        digest = hashlib.sha1(policy.encode(), usedforsecurity=False).hexdigest()[:8]
        properties = {"policyArn": policy, "role": self.role.output("name")}
        return Child("aws:iam/rolePolicyAttachment:RolePolicyAttachment", f"{name}-{digest}", properties, opts)


def trust_policy(service: str, actions: Sequence[str] = ("sts:AssumeRole",)) -> str:
    """Return the policy that lets `service` take a role."""
    statement = {"Action": list(actions), "Effect": "Allow", "Principal": {"Service": [service]}}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
