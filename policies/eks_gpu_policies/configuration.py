"""How a run is configured: the pack's own configuration, the process's environment, the stack's own configuration.

Whoever is nearer to the run wins: what ``--policy-pack-config`` says, then ``EKS_GPU_*`` variables, then the stack's
``eks-gpu:platform``. Waivers add up. Nothing here knows Pulumi: everything comes in as plain mappings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeVar

from eks_gpu_policies.options import Options
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.waivers import Waiver, WaiverError, parse_waivers

PLATFORM_KEY: Final = "eks-gpu:platform"
"""The stack configuration key under which the stack files of this project say everything."""

ENVIRONMENT_VARIABLE: Final = "EKS_GPU_ENVIRONMENT"
NOT_EVALUATED_VARIABLE: Final = "EKS_GPU_NOT_EVALUATED"

_DEFAULT_ENVIRONMENT: Final = Environment.PROD
"""Whoever forgets to say where they are is held to the strictest levels."""


class ConfigurationError(ValueError):
    """The run cannot be configured, so nothing can be judged."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Carry one sentence for each mistake."""
        super().__init__("; ".join(problems))
        self.problems = problems


class Unanswered(StrEnum):
    """How questions that could not be answered are shown."""

    COUNT = "count"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything a run is told besides the resources."""

    environment: Environment = _DEFAULT_ENVIRONMENT
    options: Options = field(default_factory=Options)
    waivers: tuple[Waiver, ...] = ()
    not_evaluated: Unanswered = Unanswered.COUNT
    fail_on_not_evaluated: bool = False
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Levels of single rules, by id, that replace those of the environment."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a file for ``--policy-pack-config`` says, in the form that :func:`configure` takes."""

    options: Mapping[str, object] = field(default_factory=dict)
    levels: Mapping[str, Level] = field(default_factory=dict)


SCHEMA: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "environment": {
            "type": "string",
            "enum": [item.value for item in Environment],
            "description": "Sets every rule's level. Unset: EKS_GPU_ENVIRONMENT, the stack's own configuration, prod.",
        },
        "monthlyBudgetUsd": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "The most the stack's GPU pools may cost in a month if all ran at their limits.",
        },
        "approvedImages": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Image ids, aliases and release versions that have been qualified. Unset: any pinned one.",
        },
        "volumesEncryptedByAccount": {
            "type": "boolean",
            "description": "Whether the AWS account encrypts every new EBS volume by itself.",
        },
        "waivers": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Accepted findings: rule, resource, owner, reason, until.",
        },
        "notEvaluated": {
            "type": "string",
            "enum": [item.value for item in Unanswered],
            "description": "Whether questions that could not be answered are counted or listed.",
        },
        "failOnNotEvaluated": {
            "type": "boolean",
            "description": "Whether a question that could not be answered refuses the deployment.",
        },
    }
)
"""JSON schema of the properties of the policy ``eks-gpu`` in ``--policy-pack-config``."""

T = TypeVar("T")


def read_given(content: object, policy: str, rules: Collection[str]) -> Given:
    """Read the content of a file for ``--policy-pack-config`` as the engine does.

    For each rule a level, or a mapping with ``enforcementLevel``; for ``policy`` a mapping with its options; under
    ``all`` a level for every rule that has none of its own. Raise :class:`ConfigurationError` with every mistake.
    """
    reading = _Reading()
    if not isinstance(content, Mapping):
        raise ConfigurationError((f"the configuration of the pack is no mapping; it has rules and {policy}",))
    options: dict[str, object] = {}
    levels: dict[str, Level] = {}
    for name, said in content.items():
        settings = said if isinstance(said, Mapping) else {_LEVEL: said}
        level = reading.choice(settings, _LEVEL, Level, f"the level of {name}")
        if name == policy:
            options = {key: value for key, value in settings.items() if key != _LEVEL}
        elif level is not None:
            levels[str(name)] = level
    reading.refuse()
    common = levels.pop(ALL, None)
    return Given(options, levels if common is None else {**dict.fromkeys(rules, common), **levels})


ALL: Final = "all"
"""In the place of a rule's id: every rule. The engine has passed that on to each when the pack hears of it."""
_LEVEL: Final = "enforcementLevel"


def configure(
    pack: Mapping[str, object],
    variables: Mapping[str, str],
    stack: Mapping[str, str],
    levels: Mapping[str, Level] = MappingProxyType({}),
    rules: Collection[str] | None = None,
) -> Configuration:
    """Return the configuration of a run; raise :class:`ConfigurationError` with every mistake.

    ``pack`` is the configuration of the policy ``eks-gpu``, ``variables`` the process's environment, ``stack`` the
    stack's configuration as the engine has it: full keys, structured values as JSON text. ``rules`` are the ids that
    ``levels`` may speak of; None: any.
    """
    reading = _Reading()
    reading.known(pack, SCHEMA, "is no option of the policy eks-gpu")
    reading.known(levels, levels if rules is None else rules, "is no rule of this pack")
    variables = {key: value for key, value in variables.items() if value}
    platform = reading.platform(stack.get(PLATFORM_KEY))
    named = (
        reading.choice(pack, "environment", Environment, "environment")
        or reading.choice(variables, ENVIRONMENT_VARIABLE, Environment, ENVIRONMENT_VARIABLE)
        or reading.choice(platform, "environment", Environment, f"{PLATFORM_KEY}.environment")
    )
    unanswered = reading.choice(pack, "notEvaluated", Unanswered, "notEvaluated") or reading.choice(
        variables, NOT_EVALUATED_VARIABLE, Unanswered, NOT_EVALUATED_VARIABLE
    )
    waivers = (
        *reading.waivers(pack.get("waivers"), "waivers"),
        *reading.waivers(platform.get("waivers"), f"{PLATFORM_KEY}.waivers"),
    )
    budget = reading.money(pack, "monthlyBudgetUsd", "monthlyBudgetUsd") or reading.money(
        reading.block(platform, "budget"), "monthly_usd", f"{PLATFORM_KEY}.budget.monthly_usd"
    )
    options = Options(
        environment_named=named is not None,
        monthly_budget_usd=budget,
        approved_images=reading.texts(pack, "approvedImages"),
        volumes_encrypted_by_account=reading.flag(pack, "volumesEncryptedByAccount"),
    )
    fail = reading.flag(pack, "failOnNotEvaluated")
    reading.refuse()
    return Configuration(
        environment=named or _DEFAULT_ENVIRONMENT,
        options=options,
        waivers=waivers,
        not_evaluated=unanswered or Unanswered.COUNT,
        fail_on_not_evaluated=fail,
        levels=levels,
    )


class _Reading:
    """Reads plain mappings and remembers every mistake."""

    def __init__(self) -> None:
        self._problems: list[str] = []

    def refuse(self) -> None:
        """Raise if there was any mistake."""
        if self._problems:
            raise ConfigurationError(tuple(self._problems))

    def known(self, given: Mapping[str, object], names: Collection[str], otherwise: str) -> None:
        """Remember every name that does not exist: what it says would have no effect, and nobody would know."""
        for name in sorted(given.keys() - set(names)):
            self._problems.append(f"{name} {otherwise} ({_meant(name, names)})")

    def platform(self, text: str | None) -> Mapping[str, Any]:
        """Return the stack's own settings; whatever is wrong with them beyond YAML is their loader's business."""
        if text is None:
            return {}
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, Mapping):
            return value
        self._problems.append(f"{PLATFORM_KEY} is not a mapping; it holds the settings of a stack file")
        return {}

    def block(self, mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Return a mapping within a mapping, empty when there is none."""
        value = mapping.get(key)
        return value if isinstance(value, Mapping) else {}

    def choice(self, mapping: Mapping[str, Any], key: str, kind: type[T], path: str) -> T | None:
        """Return one of an enumeration's values."""
        value = mapping.get(key)
        if value is None:
            return None
        try:
            return kind(value)  # type: ignore[call-arg]  # an enumeration takes its value
        except ValueError:
            allowed = ", ".join(str(item) for item in kind)  # type: ignore[attr-defined]  # and iterates over members
            self._problems.append(f"{path} is {value!r}; it must be one of {allowed}")
            return None

    def money(self, mapping: Mapping[str, Any], key: str, path: str) -> float | None:
        """Return an amount above zero."""
        value = mapping.get(key)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return float(value)
        self._problems.append(f"{path} is {value!r}; it must be a number of US dollars above 0")
        return None

    def texts(self, mapping: Mapping[str, Any], key: str) -> frozenset[str]:
        """Return a list of strings."""
        return frozenset(self._typed(mapping, key, (), _are_texts, "a list of texts"))

    def flag(self, mapping: Mapping[str, Any], key: str) -> bool:
        """Return a boolean, false when unset."""
        return self._typed(mapping, key, False, lambda value: isinstance(value, bool), "true or false")

    def _typed(
        self, mapping: Mapping[str, Any], key: str, default: T, fits: Callable[[object], bool], allowed: str
    ) -> T:
        value = mapping.get(key)
        if value is None:
            return default
        if not fits(value):
            self._problems.append(f"{key} is {value!r}; it must be {allowed}")
            return default
        return value  # type: ignore[no-any-return]  # `fits` has looked

    def waivers(self, value: object, path: str) -> tuple[Waiver, ...]:
        """Return waivers, with their own mistakes among the others."""
        try:
            return parse_waivers(value, path)
        except WaiverError as error:
            self._problems.extend(error.problems)
            return ()


def _meant(name: str, names: Collection[str]) -> str:
    # Only who has mistyped pays for it.
    import difflib  # noqa: PLC0415

    lowered = {one.lower(): one for one in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=1)
    return f"did you mean {lowered[close[0]]}?" if close else f"there are {', '.join(names)}"


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
