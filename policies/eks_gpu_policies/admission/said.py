"""What a rule says in CEL, and of which objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from eks_gpu.facts import resources


@dataclass(frozen=True, slots=True)
class Kinds:
    """Kinds of objects of one API group, as resources are called in URLs."""

    group: str
    """Empty for the core group."""
    version: str
    resources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A rule, or a part of one, in CEL."""

    rule: str
    """The rule's id."""
    advice: bool = False
    """Whether it is what the rule only advises, whatever its level."""
    kinds: tuple[Kinds, ...]
    conditions: tuple[tuple[str, str], ...] = ()
    """Names and expressions: it concerns an object for which all are true."""
    variables: tuple[tuple[str, str], ...] = ()
    """Names and expressions, each of which may use those before it."""
    expression: str
    """True of an object that obeys."""
    message: str
    """An expression of what is wrong with one that does not."""
    leaves: str = ""
    """What the rule says besides, which takes more than the object; empty where this is all of it."""
    cluster_scoped: bool = field(default=False)
    """Whether its objects are in no namespace, so that no namespace can be left out."""

    @property
    def name(self) -> str:
        """The policy's name in a cluster."""
        return f"eks-gpu-{self.rule.lower()}{'-advice' if self.advice else ''}"


def text(value: str) -> str:
    """Return a text as CEL writes it."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Return a list of texts as CEL writes it."""
    return f"[{', '.join(text(value) for value in values)}]"


VENDOR: Final = resources.GPU.partition("/")[0] + "/"


def is_gpu(name: str) -> str:
    """Return the question whether a resource's name is that of a GPU or a part of one."""
    whole = texts((resources.GPU, resources.GPU_SHARED))
    return f"({name} in {whole} || {name}.startsWith({text(resources.MIG_PREFIX)}))"


def changed(*path: str) -> tuple[str, str]:
    """Return the condition that an object is new, or that its ``path`` was changed.

    What runs already is left alone: a controller that touches its annotations must not be refused for it.
    """
    now, before = (f"dyn({name}).{'.'.join(path)}" for name in ("object", "oldObject"))
    return (f"{'-'.join(path)}-is-new-or-changed", f"request.operation != 'UPDATE' || {now} != {before}")
