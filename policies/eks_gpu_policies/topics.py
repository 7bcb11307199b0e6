"""How the pack works, in short texts: for ``eks-gpu explain TOPIC`` and for the reference page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eks_gpu_policies.configuration import (
    ENVIRONMENT_VARIABLE,
    NOT_EVALUATED_VARIABLE,
    PLATFORM_KEY,
    SCHEMA,
)
from eks_gpu_policies.report import PACK
from eks_gpu_policies.waivers import FIELDS

AREAS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NODE": "nodes, their disks and images, and Karpenter's pools",
        "SOFT": "GPU software: drivers, plugins, operator, charts",
        "SHARE": "sharing GPUs: time-slicing, MPS, MIG",
        "WORK": "pods: requests, probes, caches, checkpoints",
        "STOR": "file systems, claims and caches",
        "OBS": "metrics, alerts and node repair",
        "COST": "money, limits and quotas",
        "SEC": "what must not be exposed",
    }
)
"""The letters of a rule's id, and what its rules are about."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Something about the pack as a whole."""

    title: str
    text: str


def _options() -> str:
    return "\n".join(f"  {name}: {schema['description']}" for name, schema in SCHEMA.items())


TOPICS: Final[Mapping[str, Topic]] = MappingProxyType(
    {
        "levels": Topic(
            "What a finding does",
            "A mandatory finding refuses the deployment, an advisory one warns. Which of the two a rule's finding is "
            "depends on the environment. A finding that rests on judgement is advice whatever the level.\n"
            "The level of one rule, or of all, is set in a file for --policy-pack-config:\n"
            '  {"NODE006": "advisory", "SHARE002": "disabled"}\n'
            'In Pulumi\'s own listing every level reads "remediate", which stands for "the environment decides": no '
            "rule changes a resource.",
        ),
        "environment": Topic(
            "Where the environment comes from",
            f"dev, staging or prod, from the first that says so: environment in the options of the policy {PACK} in "
            f"--policy-pack-config, the variable {ENVIRONMENT_VARIABLE}, environment under {PLATFORM_KEY} in the "
            "stack's configuration. If nobody says, the levels of prod hold, but nothing is demanded that only a named "
            "environment can be expected to have, such as a budget.",
        ),
        "options": Topic(
            "What a run can be told",
            f'Options stand under "{PACK}" in the file for --policy-pack-config. All may be left out.\n{_options()}',
        ),
        "waivers": Topic(
            "Accepting a finding for a while",
            f"A waiver names {', '.join(FIELDS)}; all five are needed. It covers the findings of exactly that rule on "
            "exactly that resource, by logical name or URN, until its last day. One that has expired is ignored and is "
            "a finding itself; one that matches nothing is advice to remove it; a malformed one refuses the run.\n"
            f"Waivers stand in the options of the policy {PACK}, and under waivers in {PLATFORM_KEY}:\n"
            '  {"rule": "NODE006", "resource": "inference", "owner": "ml-platform",\n'
            '   "reason": "the image is being qualified", "until": "2026-12-31"}',
        ),
        "not-evaluated": Topic(
            "Questions without an answer",
            "What cannot be known before the first deployment (the zone of a subnet that is looked up, a value of a "
            "resource that does not exist yet), or that nobody told the run (a budget, a quota), is not evaluated. "
            "That is never a pass: it is counted in the summary line.\n"
            f'It is listed with the variable {NOT_EVALUATED_VARIABLE}=list, the option {{"notEvaluated": "list"}}, or '
            "eks-gpu check --not-evaluated; failOnNotEvaluated refuses a run that leaves anything open, for exported "
            "or recorded stacks, where everything is known.",
        ),
        "commands": Topic(
            "Where the rules run",
            "pulumi preview --policy-pack policies   the gate: the engine shows the findings and refuses\n"
            "eks-gpu check [STACK]                   the same verdict, without engine, cloud or credentials\n"
            "eks-gpu lint PATH...                    Kubernetes manifests, with file and line\n"
            "eks-gpu policies admission              rules that the API server can hold itself, as manifests\n"
            "eks-gpu policies export DIR             a pack folder for programs that have no checkout of this project\n"
            "eks-gpu cost [STACK]                    what the pools cost at least, as expected, and at most",
        ),
    }
)
"""Name to topic, in the order of the reference page."""
