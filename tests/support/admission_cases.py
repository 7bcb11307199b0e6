"""Objects on which a rule and its admission policy must agree, and the rule's own verdict on each."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from eks_gpu_policies.admission.manifests import SAID
from eks_gpu_policies.admission.said import Said
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.manifests.documents import documents
from eks_gpu_policies.manifests.objects import objects
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID, RULES
from tests.support.judging import TODAY

Manifest = dict[str, Any]

_URLS: Final = {
    "Pod": "pods",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "ReplicaSet": "replicasets",
    "Job": "jobs",
    "CronJob": "cronjobs",
    "StorageClass": "storageclasses",
    "ResourceQuota": "resourcequotas",
    "LimitRange": "limitranges",
    "NodePool": "nodepools",
    "EC2NodeClass": "ec2nodeclasses",
}
"""What the kinds that policies are on are called in URLs."""


@dataclass(frozen=True)
class Case:
    """An object under a name that says what is at stake."""

    name: str
    manifest: Manifest

    def concerns(self, said: Said) -> bool:
        """Return whether a policy is on objects of this kind."""
        group, _, version = self.manifest["apiVersion"].rpartition("/")
        resource = _URLS.get(self.manifest["kind"])
        return any(
            (kinds.group, kinds.version) == (group, version) and resource in kinds.resources for kinds in said.kinds
        )


def obeys(said: Said, case: Case) -> bool:
    """Return what the rule itself says of an object, in Python."""
    text = json.dumps(case.manifest)
    (found,) = objects("a.json", (node for document in documents(text) for node in document.read()))
    report = evaluate(
        [found.resource],
        environment=Environment.PROD,
        rules=[BY_ID[said.rule]],
        today=TODAY,
        levels={said.rule: Level.MANDATORY},
    )
    assert not [finding.message for finding in report.findings if "crashed" in finding.message]
    assert report.not_evaluated == ()
    level = Level.ADVISORY if said.advice else Level.MANDATORY
    return not any(finding.level is level for finding in report.findings)


def from_rules() -> Iterator[Case]:
    """Yield the objects in the examples of all rules, of kinds that some policy is on."""
    for rule in RULES:
        for word, example in (("fails", rule.failing), ("passes", rule.passing)):
            for number, resource in enumerate(example.resources):
                case = Case(f"{rule.id} {word} {number}", manifest_of(resource))
                if any(case.concerns(said) for said in SAID):
                    yield case


def manifest_of(resource: Resource) -> Manifest:
    """Return a resource of an example as the object that a cluster would be given."""
    _, version, kind = resource.type.split(":") if resource.type.count(":") == 2 else ("", "", "")
    props = copy.deepcopy(dict(resource.props))
    manifest: Manifest = {**props, "apiVersion": version.removeprefix("core/"), "kind": kind}
    manifest["metadata"] = {"name": resource.name, **manifest.get("metadata", {})}
    return completed(manifest)


def completed(manifest: Manifest) -> Manifest:
    """Return an object with what the API server demands of its kind and no rule looks at."""
    kind, spec = manifest["kind"], manifest.get("spec", {})
    manifest["metadata"].pop("namespace", None)
    if kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}:
        template = spec["template"]
        template.setdefault("metadata", {}).setdefault("labels", {}).setdefault("app", "a")
        spec["selector"] = {"matchLabels": {"app": template["metadata"]["labels"]["app"]}}
    if kind == "ReplicationController":
        spec["template"].setdefault("metadata", {}).setdefault("labels", {}).setdefault("app", "a")
        spec["selector"] = {"app": spec["template"]["metadata"]["labels"]["app"]}
    if kind == "StatefulSet":
        spec.setdefault("serviceName", "a")
    if kind == "Job":
        spec["template"]["spec"].setdefault("restartPolicy", "Never")
    if kind == "CronJob":
        spec.setdefault("schedule", "0 0 1 1 *")
        spec["jobTemplate"]["spec"]["template"]["spec"].setdefault("restartPolicy", "Never")
    return manifest
