"""How a command is configured that judges by the rules of the policy pack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu.cli.json_file import read_json
from eks_gpu_policies.configuration import Configuration, ConfigurationError, Given, configure, read_given
from eks_gpu_policies.report import PACK
from eks_gpu_policies.rules import BY_ID

_NO_STACK: Final[Mapping[str, str]] = MappingProxyType({})


def configured(
    environment: str | None, pack_config: Path | None, stack: Mapping[str, str] = _NO_STACK
) -> Configuration:
    """Return the configuration of a run; raise :class:`CannotRun` with every mistake in it.

    ``pack_config`` is a file such as ``pulumi preview`` takes with ``--policy-pack-config``. ``environment`` wins over
    it, over ``EKS_GPU_ENVIRONMENT`` and over ``stack``, the stack's own settings.
    """
    try:
        given = Given() if pack_config is None else read_given(read_json(pack_config), PACK, BY_ID)
        options = {**given.options, **({"environment": environment} if environment else {})}
        return configure(options, os.environ, stack, given.levels, BY_ID)
    except ConfigurationError as error:
        raise CannotRun(str(error)) from error
