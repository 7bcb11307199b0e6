"""References to secrets. A secret itself never stands in settings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from eks_gpu.settings.block import Block


class ConfigSecret(Block):
    """A secret that is kept, encrypted, in the stack's configuration: ``{config_secret: slack_webhook}``."""

    config_secret: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")]
    """Name of the secret: what follows ``eks-gpu:`` in ``pulumi config set --secret eks-gpu:slack_webhook``."""
