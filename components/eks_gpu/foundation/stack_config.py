"""Reads the stack's configuration as the engine hands it to a program. The only reader of ``pulumi.Config``."""

from __future__ import annotations

import json
from typing import Final

import pulumi

from eks_gpu.settings.platform import FULL_KEY, KEY, PROJECT, Platform
from eks_gpu.settings.problems import (
    ConfigSecretMissingError,
    InvalidSettingsError,
    PlatformMissingError,
    SettingsError,
)
from eks_gpu.settings.reading import Origin, read_platform
from eks_gpu.settings.secret import ConfigSecret


class MissingPlatform(PlatformMissingError, pulumi.RunError):  # noqa: N818 - the engine prints a RunError's text alone
    """The configuration has no ``eks-gpu:platform``; the engine shows the sentence and no traceback."""


class InvalidPlatform(InvalidSettingsError, pulumi.RunError):  # noqa: N818 - as above
    """The settings have problems; the engine shows them and no traceback."""


class MissingRegion(SettingsError, pulumi.RunError):  # noqa: N818 - as above
    """The configuration names no region; the engine shows the sentence and no traceback."""


class UnusedAwsSetting(SettingsError, pulumi.RunError):  # noqa: N818 - as above
    """The configuration says who deploys; the engine shows the sentence and no traceback."""


class MissingConfigSecret(ConfigSecretMissingError, pulumi.RunError):  # noqa: N818 - as above
    """A secret that the settings refer to is not set; the engine shows the sentence and no traceback."""


_WHO_DEPLOYS: Final = (
    "profile",
    "assumeRoles",
    "assumeRoleWithWebIdentity",
    "accessKey",
    "secretKey",
    "token",
    "sharedConfigFiles",
    "sharedCredentialsFiles",
)
"""Keys under ``aws:`` by which a default provider would choose an identity."""


def load() -> Platform:
    """Return the settings of the stack that is being deployed. Raise a ``SettingsError`` with all their problems."""
    text = pulumi.Config(PROJECT).get(KEY)
    if text is None:
        raise MissingPlatform(
            f"the configuration of stack {pulumi.get_stack()} has no {FULL_KEY}; "
            f"describe the platform under config: {FULL_KEY}: in its stack file"
        )
    origin = Origin(name=f"{FULL_KEY} of stack {pulumi.get_stack()}", region=pulumi.Config("aws").get("region"))
    try:
        return read_platform(_data(text), origin)
    except InvalidSettingsError as error:
        raise InvalidPlatform(error.source, error.problems) from None


def region() -> str:
    """Return the AWS region that the stack is deployed to."""
    name = pulumi.Config("aws").get("region")
    if name is None:
        raise MissingRegion(
            f"the configuration of stack {pulumi.get_stack()} has no aws:region; "
            "name the region under config: aws:region: in its stack file"
        )
    return name


def allowed_accounts() -> tuple[str, ...]:
    """Return the accounts that the stack may be deployed to, ``aws:allowedAccountIds``; none means any.

    Raise a ``SettingsError`` if the configuration says who deploys. The provider here has options of its own and takes
    none from there, so that the deployment would run, without a word, as somebody else and perhaps in another account;
    and the ``aws`` command that gets tokens for the API server must be the same identity.
    """
    config = pulumi.Config("aws")
    given = [key for key in _WHO_DEPLOYS if config.get(key) is not None]
    if given:
        raise UnusedAwsSetting(
            f"the configuration of stack {pulumi.get_stack()} has {', '.join(f'aws:{key}' for key in given)}, which "
            "is not used; remove it and name the identity in the environment, such as AWS_PROFILE, because the aws "
            "command that gets tokens for the API server must be the same one"
        )
    accounts = config.get_object("allowedAccountIds")
    return tuple(str(account) for account in accounts or ())


def secret(reference: ConfigSecret) -> pulumi.Output[str]:
    """Return the secret that ``reference`` names. Raise ``ConfigSecretMissingError`` if it is not set."""
    name = reference.config_secret
    value = pulumi.Config(PROJECT).get_secret(name)
    if value is None:
        raise MissingConfigSecret(
            f"the settings refer to the secret {name}, which is not set; set it with "
            f"`pulumi config set --secret {PROJECT}:{name}`"
        )
    return value


def _data(text: str) -> object:
    """Return the plain data of what the engine hands over, which is JSON unless the value is a bare text."""
    try:
        return _whole(json.loads(text))
    except ValueError:
        return text


def _whole(data: object) -> object:
    """Return data with whole numbers where JSON has, for example, ``2.0``: the engine may have read them as floats."""
    if isinstance(data, dict):
        return {key: _whole(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_whole(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data
