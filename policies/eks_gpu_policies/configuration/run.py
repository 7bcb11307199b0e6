"""How a run is configured: the pack's own configuration, the process's environment, the stack's own configuration.

Whoever is nearer to the run wins: what ``--policy-pack-config`` says, then ``EKS_GPU_*`` variables, then the stack's
``eks-gpu:platform``. Waivers add up. Nothing here knows Pulumi: everything comes in as plain mappings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from eks_gpu.facts import labels
from eks_gpu_policies.configuration.reading import PLATFORM_KEY, ConfigurationError, Reading
from eks_gpu_policies.configuration.schema import SCHEMA, Unanswered
from eks_gpu_policies.options import Options
from eks_gpu_policies.report import PACK
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.waivers import Waiver

ENVIRONMENT_VARIABLE: Final = "EKS_GPU_ENVIRONMENT"
NOT_EVALUATED_VARIABLE: Final = "EKS_GPU_NOT_EVALUATED"

_DEFAULT_ENVIRONMENT: Final = Environment.PROD
"""Whoever forgets to say where they are is held to the strictest levels."""


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


def read_given(content: object, policy: str, rules: Collection[str]) -> Given:
    """Read the content of a file for ``--policy-pack-config`` as the engine does.

    For each rule a level, or a mapping with ``enforcementLevel``; for ``policy`` a mapping with its options; under
    ``all`` a level for every rule that has none of its own. Raise :class:`ConfigurationError` with every mistake.
    """
    reading = Reading()
    if not isinstance(content, Mapping):
        raise ConfigurationError((f"the configuration of the pack is no mapping; it has rules and {policy}",))
    options: dict[str, Mapping[str, object]] = {}
    levels: dict[str, Level] = {}
    for name, said in content.items():
        settings = said if isinstance(said, Mapping) else {_LEVEL: said}
        level = reading.choice(settings, _LEVEL, Level, f"the level of {name}")
        options[str(name)] = {key: value for key, value in settings.items() if key != _LEVEL}
        if level is not None and name != policy:
            levels[str(name)] = level
    own = options.pop(policy, {})
    reading.refuse()
    refuse_options(options)
    common = levels.pop(ALL, None)
    return Given(own, levels if common is None else {**dict.fromkeys(rules, common), **levels})


def refuse_options(said: Mapping[str, Mapping[str, object]]) -> None:
    """Refuse options by rule: rules have none, so what such an option says would have no effect, and nobody would know.

    Raise :class:`ConfigurationError` with every one of them.
    """
    problems = tuple(
        f"{key} is no option of {name}: a rule has only a level, and options stand under {PACK}"
        for name, options in sorted(said.items())
        for key in sorted(options)
    )
    if problems:
        raise ConfigurationError(problems)


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
    reading = Reading()
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
    options = _options(reading, pack, platform, environment_named=named is not None)
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


def _options(
    reading: Reading, pack: Mapping[str, object], platform: Mapping[str, Any], *, environment_named: bool
) -> Options:
    unsaid = Options()
    return Options(
        environment_named=environment_named,
        monthly_budget_usd=reading.amount(pack, "monthlyBudgetUsd", "monthlyBudgetUsd", _DOLLARS)
        or reading.amount(
            reading.block(platform, "budget"), "monthly_usd", f"{PLATFORM_KEY}.budget.monthly_usd", _DOLLARS
        ),
        approved_images=reading.texts(pack, "approvedImages"),
        volumes_encrypted_by_account=reading.flag(pack, "volumesEncryptedByAccount"),
        required_pool_labels=reading.texts(pack, "requiredPoolLabels")
        if "requiredPoolLabels" in pack
        else _labels_of_ours(platform),
        cluster_classes=reading.texts(pack, "clusterClasses") if "clusterClasses" in pack else None,
        monitoring_stack=reading.text(pack, "monitoringStack"),
        hub_megabytes_per_second=reading.amount(
            pack, "hubMegabytesPerSecond", "hubMegabytesPerSecond", "megabytes a second"
        )
        or unsaid.hub_megabytes_per_second,
        smallest_share_mib=int(
            reading.amount(pack, "smallestShareMib", "smallestShareMib", "MiB") or unsaid.smallest_share_mib
        ),
        vcpu_quotas=reading.quotas(pack, "vcpuQuotas", "vcpuQuotas")
        or reading.quotas(platform, "quotas", f"{PLATFORM_KEY}.quotas"),
    )


def _labels_of_ours(platform: Mapping[str, Any]) -> frozenset[str]:
    """Return the labels that every GPU pool of a stack of this project carries; nothing is asked of others."""
    return frozenset(labels.pool_labels("", "")) if platform else frozenset()


_DOLLARS: Final = "US dollars"
