"""Rules on Karpenter's node pools in CEL.

A pool says which instance types it takes by requirements on their labels. Which of those types have GPUs is in the
catalogue, so the catalogue comes along: one row of values for each type, and the column of each label.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import labels, resources
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU, Effect
from eks_gpu.planning.instance_labels import NAMES_INSTANCES, instance_labels
from eks_gpu_policies.admission.said import Kinds, Said, changed, is_gpu, text, texts

_ABSENT: Final = "-"
"""In the place of a label that no node of a type has; no label has this value, which would have to begin with a letter
or digit."""

_COLUMNS: Final = tuple(dict.fromkeys(key for item in CATALOGUE.values() for key in instance_labels(item)))
_ROWS: Final = tuple(
    tuple(instance_labels(item).get(key) or _ABSENT for key in _COLUMNS) for item in CATALOGUE.values()
)
_AUTO_MODE: Final = f"{labels.EKS_AUTO_DOMAIN}/instance-"
_KARPENTER: Final = f"{labels.KARPENTER_AWS_DOMAIN}/instance-"


def _map(entries: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{text(key)}: {value}' for key, value in entries.items())}}}"


_FORMER: Final = _map({key: text(now) for key, now in labels.FORMER_NAMES.items()})
_KEY: Final = (
    f"(r.key in variables.former ? variables.former[r.key] : "
    f"string(r.key).replace({text(_AUTO_MODE)}, {text(_KARPENTER)}))"
)

_WHOLE: Final = "v.matches('^-?[0-9]+$')"
_COMPARED: Final[Mapping[str, str]] = MappingProxyType({"Gt": ">", "Lt": "<", "Gte": ">=", "Lte": "<="})


def _number(operator: str, sign: str) -> str:
    return (
        f"r.operator == '{operator}' ? v != '{_ABSENT}' && r.values.size() == 1 && {_WHOLE} && "
        f"string(r.values[0]).matches('^-?[0-9]+$') && int(v) {sign} int(string(r.values[0]))"
    )


_ADMITS: Final = (
    f"(v == '{_ABSENT}' ? r.operator in ['NotIn', 'DoesNotExist'] : "
    "r.operator == 'In' ? v in r.values : r.operator == 'NotIn' ? !(v in r.values) : r.operator == 'Exists' ? true : "
    + " : ".join(_number(operator, sign) for operator, sign in _COMPARED.items())
    + " : false)"
)
"""Whether the requirement ``r`` admits the value ``v``."""

_BUYS: Final = (
    "variables.rows.exists(row, variables.asked.all(r, "
    "!(r.key in variables.columns) || [row[variables.columns[r.key]]].all(v, " + _ADMITS + ")))"
)
_LOOKS_LIKE: Final = r"(gr?\d+[a-z]*|p\d+[a-z]*(-[a-z]+\d*)?)"
_GPU_TYPE: Final = text(rf"^{_LOOKS_LIKE}\.[a-z0-9-]+$")
_GPU_FAMILY: Final = text(f"^{_LOOKS_LIKE}$")
_NAMED_TYPES: Final = f"variables.asked.filter(r, r.key == {text(labels.INSTANCE_TYPE)} && r.operator == 'In')"
_NAMED_FAMILIES: Final = f"variables.asked.filter(r, r.key == {text(labels.INSTANCE_FAMILY)} && r.operator == 'In')"
_FAMILIES: Final = texts(sorted({item.family for item in CATALOGUE.values()}))
_UNLISTED: Final = (
    f"({_NAMED_TYPES}.exists(r, r.values.size() > 0) ? "
    f"{_NAMED_TYPES}.exists(r, r.values.exists(t, t.matches({_GPU_TYPE}) && "
    f"!t.startsWith('g4ad.') && !(t in variables.types))) : "
    f"{_NAMED_FAMILIES}.exists(r, r.values.exists(f, f.matches({_GPU_FAMILY}) && f != 'g4ad' && "
    f"!(f in {_FAMILIES}))))"
)
_ON_PURPOSE: Final = (
    f"(variables.asked.exists(r, r.key in {texts(sorted(NAMES_INSTANCES))} && "
    "r.operator in ['In', 'Exists', 'Gt', 'Gte']) || "
    f"variables.limits.exists(n, {is_gpu('n')}) || variables.taints.exists(t, t.key == {text(GPU.key)}))"
)

_POOL: Final = (
    ("nodeSpec", "dyn(object).spec.template.spec"),
    ("limits", "has(dyn(object).spec.limits) ? dyn(object).spec.limits : dyn({})"),
    ("taints", "has(variables.nodeSpec.taints) ? variables.nodeSpec.taints : dyn([])"),
    ("former", _FORMER),
    (
        "asked",
        (
            "(has(variables.nodeSpec.requirements) ? variables.nodeSpec.requirements : dyn([])).map(r, {"
            f"'key': dyn({_KEY}), 'operator': dyn(r.operator), 'values': has(r.values) ? r.values : dyn([])}})"
        ),
    ),
    ("columns", _map({key: str(number) for number, key in enumerate(_COLUMNS)})),
    ("rows", f"[{', '.join(texts(row) for row in _ROWS)}]"),
    ("types", f"variables.rows.map(row, row[{_COLUMNS.index(labels.INSTANCE_TYPE)}])"),
    ("isGpuPool", f"{_ON_PURPOSE} && ({_BUYS} || {_UNLISTED})"),
)
_NODE_POOLS: Final = (Kinds("karpenter.sh", "v1", ("nodepools",)),)
_REPELS: Final = f"t.effect in {texts((Effect.NO_SCHEDULE.value, Effect.NO_EXECUTE.value))}"

COST001: Final = Said(
    rule="COST001",
    kinds=_NODE_POOLS,
    cluster_scoped=True,
    conditions=(changed("spec"),),
    variables=_POOL,
    expression=(
        "!variables.isGpuPool || (has(dyn(object).spec.replicas) ? 'nodes' in variables.limits : "
        f"{text(resources.GPU)} in variables.limits && "
        f"quantity(string(variables.limits[{text(resources.GPU)}])).compareTo(quantity('0')) > 0)"
    ),
    message=(
        "has(dyn(object).spec.replicas) ? 'a static pool of GPU nodes without limits.nodes' : "
        f"'no limit above 0 on {resources.GPU}'"
    ),
    leaves="pools that get GPUs only because nothing forbids it, once a GPU pod can land there",
)
NODE004: Final = Said(
    rule="NODE004",
    kinds=_NODE_POOLS,
    cluster_scoped=True,
    conditions=(changed("spec"),),
    variables=_POOL,
    expression=f"!variables.isGpuPool || variables.taints.exists(t, {_REPELS})",
    message=f"'no taint {GPU.key} keeps other pods off'",
    leaves="node groups, which are no objects of a cluster, and pools that get GPUs by omission",
)
NODE004_ADVICE: Final = Said(
    rule="NODE004",
    advice=True,
    kinds=_NODE_POOLS,
    cluster_scoped=True,
    conditions=(changed("spec"),),
    variables=_POOL,
    expression=(
        f"!variables.isGpuPool || !variables.taints.exists(t, {_REPELS}) || "
        f"variables.taints.exists(t, t.key == {text(GPU.key)} && {_REPELS})"
    ),
    message=f"'other pods are kept off by other taints than {GPU.key}, which charts for GPU nodes do not tolerate'",
)

POOLS: Final = (COST001, NODE004, NODE004_ADVICE)
