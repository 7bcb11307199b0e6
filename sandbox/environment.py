"""The environment of everything the sandbox starts: an engine, an AWS and a Kubernetes that are all on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.checkout import DIRECTORY_VARIABLE, Checkout
from sandbox.stacks import passphrase

REGION = "us-east-1"
"""The region of a program that says none; the one the catalogue's prices are for."""

_DROPPED_PREFIXES = ("AWS_", "EKS_GPU_SANDBOX_", "PULUMI_", "TF_")
"""What the user has set for real clouds and real backends must not reach anything that runs in the sandbox."""

_SLOW_IMPORTS = "PYTHONDONTWRITEBYTECODE"
"""Set, it makes every program, pack and provider compile the SDKs anew, which takes longer than all they do."""


def build(
    checkout: Checkout, *, engine: Path, aws_endpoint: str, own_program: bool, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment for a command.

    Args:
        checkout: whose state, plugins and secrets are used.
        engine: the folder of ``pulumi``, put first on PATH.
        aws_endpoint: the URL of the AWS stand-in, for whatever speaks to AWS by itself; it may still have to be
            started. The stand-in providers are not told it: they ask `sandbox.aws.endpoint`, which starts it.
        own_program: the command works on this checkout's program, whose Python environment is in place already; a
            foreign one is left to its own toolchain.
        base: the environment to start from; the process's own by default.

    """
    inherited = os.environ if base is None else base
    kept = {
        name: value
        for name, value in inherited.items()
        if not name.startswith(_DROPPED_PREFIXES) and name != _SLOW_IMPORTS
    }
    if not own_program and kept.get("VIRTUAL_ENV") == sys.prefix:
        # uv warns about an active environment that is not the program's.
        del kept["VIRTUAL_ENV"]
    return {
        **kept,
        "PATH": os.pathsep.join((str(engine), kept.get("PATH", os.defpath))),
        **_pulumi(checkout),
        **_aws(checkout, aws_endpoint),
        **(_installed_already() if own_program else {}),
        # Whatever speaks to a cluster without being told which finds none, never the user's.
        "KUBECONFIG": str(checkout.directory / "kubeconfig"),
        DIRECTORY_VARIABLE: str(checkout.directory),
        "DO_NOT_TRACK": "1",
    }


def _pulumi(checkout: Checkout) -> dict[str, str]:
    return {
        "PULUMI_HOME": str(checkout.pulumi_home),
        # Without the files of attributes beside each file of the state: they are not written at once, and the backend
        # refuses a state whose attributes a killed engine has written by half.
        "PULUMI_BACKEND_URL": f"file://{checkout.state}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": passphrase(checkout),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_SUPPRESS_NEO_LINK": "true",
        # Each run leaves a log of half a megabyte, and each deployment a copy of the state before it.
        "PULUMI_LOG_ROTATION_MAX_TOTAL_MB": "20",
        "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
        # Options of every command: no link to a state on the web, no dots, no look at a registry before the start.
        "PULUMI_OPTION_SUPPRESS_PERMALINK": "true",
        "PULUMI_OPTION_SUPPRESS_PROGRESS": "true",
        "PULUMI_OPTION_SKIP_PLUGIN_PRE_INSTALL": "true",
    }


def _aws(checkout: Checkout, endpoint: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(checkout.directory / "aws-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(checkout.directory / "aws-credentials"),
    }


def _installed_already() -> dict[str, str]:
    # The Python host runs `uv sync` before each program; what it would do was done before, and must not need a network.
    return {"UV_FROZEN": "1", "UV_OFFLINE": "1"}
