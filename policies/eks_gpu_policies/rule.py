"""What a rule is: frozen plain data around one pure function.

A rule says what it looks at (:class:`Subjects`), and its ``check`` gets one of those at a time, together with the
:class:`~eks_gpu_policies.stack.Stack` around it. It yields a :class:`Problem` for everything that is wrong with this
one, and an :class:`Undecided` where the stack does not hold what a verdict needs. Where a value is needed that is not
known yet, ``need`` and the views raise; the engine turns that into "not evaluated". What was yielded before stands.

Everything that people read (the message, Pulumi's own fields, ``eks-gpu explain``, the reference page) comes from the
same few texts here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from eks_gpu.planning.reading import NotKnown, NotKnownError
from eks_gpu_policies.links import LINKS
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.stack import Stack


class Severity(StrEnum):
    """What breaking a rule costs."""

    CRITICAL = "critical"
    """Money or service lost in silence."""
    HIGH = "high"
    """It never works, or work is lost."""
    MEDIUM = "medium"
    """Waste."""
    LOW = "low"
    """Taste."""


class Level(StrEnum):
    """What a finding does to the deployment."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"
    DISABLED = "disabled"


class Environment(StrEnum):
    """The three environments that levels are set for."""

    DEV = "dev"
    STAGING = "staging"
    PROD = "prod"


@dataclass(frozen=True, slots=True)
class Levels:
    """A rule's level in each environment."""

    dev: Level
    staging: Level
    prod: Level

    def in_environment(self, environment: Environment) -> Level:
        """Return the level in ``environment``."""
        return {Environment.DEV: self.dev, Environment.STAGING: self.staging, Environment.PROD: self.prod}[environment]


_A, _M = Level.ADVISORY, Level.MANDATORY

BY_DEFAULT = Levels(_A, _M, _M)
"""Advice in dev, binding where others depend on it."""
EVERYWHERE = Levels(_M, _M, _M)
"""What can work nowhere, or quietly burns money: advice would be paid by the hour."""
PRODUCTION_ONLY = Levels(_A, _A, _M)
"""What only production pays for."""


class Scope(StrEnum):
    """How much a rule must see for its verdict."""

    RESOURCE = "resource"
    """One resource: the finding comes before the resource is created."""
    STACK = "stack"
    """Several resources together: the finding comes when all are known."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something is wrong."""

    message: str
    """What is wrong with this one, with the value: lowercase, no final period. Never a secret."""
    advisory: bool = False
    """Whether it is advice whatever the rule's level, because the condition is a matter of judgement."""
    urn: str | None = None
    """The resource that is at fault, where it is not the subject itself."""
    fix: str | None = None
    """What to change, where the rule's own remedy is about something else."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The stack does not hold what a verdict needs: a looked-up subnet, a budget that nobody set."""

    path: str
    """The property or option that is missing."""
    reason: str


Outcome = Problem | Undecided


class Subject(Protocol):
    """What a rule can look at: a resource, a pool, a pod template."""

    @property
    def urn(self) -> str:
        """The resource it was read from."""

    @property
    def name(self) -> str:
        """What people call it."""


S = TypeVar("S", bound=Subject)


@dataclass(frozen=True)
class Subjects(Generic[S]):
    """The things in a stack that a rule looks at, one after the other."""

    what: str
    """For readers: "GPU pools"."""
    types: frozenset[str]
    """Tokens of the resources they are read from; empty for pod templates, which anything may carry."""
    of: Callable[[Stack], Iterable[S]]
    """All that may be concerned."""
    concerns: Callable[[S, Stack], bool] = lambda _subject, _stack: True
    """Whether the rule has something to say about this one. It may raise ``NotKnownError``."""


@dataclass(frozen=True, slots=True)
class Example:
    """A stack that a rule fails or passes, for ``eks-gpu explain`` and for its own test."""

    resources: tuple[Resource, ...]
    options: Mapping[str, object] | None = None
    """Options of the run, as the pack's configuration spells them."""


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[S]):
    """One rule of the pack."""

    id: str
    """Area and three digits; never reused."""
    title: str
    """What is true of a stack that obeys."""
    severity: Severity
    why: str
    """What happens to those who do not obey, and what it costs."""
    fix: str
    """What to change; names the component that does it right."""
    lessons: tuple[str, ...]
    levels: Levels = BY_DEFAULT
    scope: Scope = Scope.STACK
    looks_at: Subjects[S]
    check: Callable[[S, Stack], Iterator[Outcome]]
    failing: Example
    passing: Example

    @property
    def area(self) -> str:
        """The letters of the id: ``NODE``."""
        return self.id.rstrip("0123456789")

    @property
    def link(self) -> str:
        """A page of the vendors' documentation to read on."""
        return LINKS[self.id]


def clauses(*parts: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield what each part yields; a part that needs an unknown value does not silence the others."""
    for part in parts:
        try:
            yield from part
        except NotKnownError as error:
            yield undecided(error.what)


def undecided(what: NotKnown) -> Undecided:
    """Return what to say about a value that is needed and not known."""
    return Undecided(what.path, what.reason)
