"""Rules on storage classes, quotas, ranges and node classes in CEL."""

from __future__ import annotations

from typing import Final

from eks_gpu.facts import resources
from eks_gpu.facts.storage import EFS_DRIVER, PROVISIONING_MODES
from eks_gpu_policies.admission.said import VENDOR, Kinds, Said, changed, is_gpu, text, texts
from eks_gpu_policies.rules.cost.cost005 import FIELDS
from eks_gpu_policies.rules.storage.stor001 import FILE_SYSTEM_KEYS

_VENDOR: Final = text(VENDOR)

STOR001: Final = Said(
    rule="STOR001",
    kinds=(Kinds("storage.k8s.io", "v1", ("storageclasses",)),),
    cluster_scoped=True,
    variables=(
        ("parameters", "has(dyn(object).parameters) ? dyn(object).parameters : dyn({})"),
        (
            "missing",
            (
                f"(!('provisioningMode' in variables.parameters && variables.parameters['provisioningMode'] in "
                f"{texts(PROVISIONING_MODES)}) ? ['provisioningMode {' or '.join(PROVISIONING_MODES)}'] : []) + "
                f"({texts(FILE_SYSTEM_KEYS)}.filter(k, k in variables.parameters).size() != 1 ? "
                f"['exactly one of {', '.join(FILE_SYSTEM_KEYS)}'] : []) + "
                "(!('directoryPerms' in variables.parameters) ? ['directoryPerms'] : []) + "
                "('uid' in variables.parameters && !('gid' in variables.parameters) ? ['gid beside uid'] : [])"
            ),
        ),
    ),
    expression=(
        f"object.provisioner != {text(EFS_DRIVER)} || variables.parameters.size() == 0 || variables.missing.size() == 0"
    ),
    message="'it lacks ' + variables.missing.join(', ')",
)

_PREFIX: Final = resources.quota("")
_OF_KEY: Final = (
    f"(k.startsWith('limits.') ? k.substring(7) : k.startsWith({text(_PREFIX)}) ? k.substring({len(_PREFIX)}) : k)"
)

COST004: Final = Said(
    rule="COST004",
    kinds=(Kinds("", "v1", ("resourcequotas",)),),
    conditions=(changed("spec"),),
    variables=(
        ("hard", "has(dyn(object).spec.hard) ? dyn(object).spec.hard : dyn({})"),
        (
            "isOnGpus",
            f"variables.hard.exists(k, k.startsWith({_VENDOR}) || [{_OF_KEY}].exists(n, {is_gpu('n')}))",
        ),
        (
            "ignored",
            (
                "!variables.isOnGpus ? dyn([]) : variables.hard.map(k, k).filter(k, "
                f"k.startsWith({_VENDOR}) || (k.startsWith('limits.') && k.contains('/') && "
                f"[{text(_PREFIX)} + k.substring(7)].all(r, !(r in variables.hard) || "
                "quantity(string(variables.hard[r])).compareTo(quantity(string(variables.hard[k]))) != 0)))"
            ),
        ),
    ),
    expression="variables.ignored.size() == 0",
    message="'Kubernetes accepts and never enforces ' + variables.ignored.map(k, string(k)).join(', ')",
    leaves="what the namespace's pods ask and no quota counts",
)

COST005: Final = Said(
    rule="COST005",
    kinds=(Kinds("", "v1", ("limitranges",)),),
    conditions=(changed("spec"),),
    variables=(
        (
            "given",
            "dyn(object).spec.limits.filter(l, l.type in ['Pod', 'Container'] && ("
            + " || ".join(f"(has(l.{field}) && l.{field}.exists(k, k.startsWith({_VENDOR})))" for field in FIELDS)
            + "))",
        ),
    ),
    expression="variables.given.size() == 0",
    message="'it hands out GPUs, or refuses pods without any, by limits of type ' + "
    "variables.given.map(l, string(l.type)).join(', ')",
)

SEC001: Final = Said(
    rule="SEC001",
    kinds=(Kinds("karpenter.k8s.aws", "v1", ("ec2nodeclasses",)),),
    cluster_scoped=True,
    conditions=(changed("spec"),),
    variables=(("options", "has(dyn(object).spec.metadataOptions) ? dyn(object).spec.metadataOptions : dyn({})"),),
    expression=(
        "!('httpTokens' in variables.options) || variables.options['httpTokens'] != 'optional' || "
        "('httpEndpoint' in variables.options && variables.options['httpEndpoint'] == 'disabled')"
    ),
    message="'nodes answer metadata requests without a token (httpTokens: optional)'",
    leaves="launch templates, which are no objects of a cluster",
)

OTHERS: Final = (STOR001, COST004, COST005, SEC001)
