"""How a run is configured, wherever that is said."""

from eks_gpu_policies.configuration.reading import PLATFORM_KEY, ConfigurationError
from eks_gpu_policies.configuration.run import (
    ALL,
    ENVIRONMENT_VARIABLE,
    NOT_EVALUATED_VARIABLE,
    Configuration,
    Given,
    configure,
    read_given,
    refuse_options,
)
from eks_gpu_policies.configuration.schema import SCHEMA, Unanswered

__all__ = [
    "ALL",
    "ENVIRONMENT_VARIABLE",
    "NOT_EVALUATED_VARIABLE",
    "PLATFORM_KEY",
    "SCHEMA",
    "Configuration",
    "ConfigurationError",
    "Given",
    "Unanswered",
    "configure",
    "read_given",
    "refuse_options",
]
