"""Judging what a program registered by the rules of the policy pack."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from eks_gpu.cli import configuring
from eks_gpu.cli.program import Recorded
from eks_gpu.planning.duration import seconds
from eks_gpu.recording import RecordedResource
from eks_gpu_policies.configuration import Configuration
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rules import RULES


def judge(recorded: Recorded, environment: str | None = None, pack_config: Path | None = None) -> Report:
    """Return what every rule says of a recorded stack.

    ``pack_config`` is a file such as ``pulumi preview`` takes with ``--policy-pack-config``. ``environment`` wins over
    it, over ``EKS_GPU_ENVIRONMENT`` and the stack's own settings.
    """
    run = configured(recorded, environment, pack_config)
    return evaluate(
        (as_resource(resource) for resource in recorded.recording.resources),
        environment=run.environment,
        rules=RULES,
        today=dt.datetime.now(tz=dt.UTC).date(),
        options=run.options,
        waivers=run.waivers,
        levels=run.levels,
    )


def configured(recorded: Recorded, environment: str | None = None, pack_config: Path | None = None) -> Configuration:
    """Return everything that a run on a recorded stack is told besides its resources."""
    return configuring.configured(environment, pack_config, recorded.config)


def as_resource(recorded: RecordedResource) -> Resource:
    """Return a recorded resource as rules see it."""
    return Resource(
        urn=recorded.urn,
        type=recorded.type,
        name=recorded.name,
        props=recorded.inputs,
        parent=recorded.parent,
        dependencies=recorded.dependencies,
        property_dependencies=recorded.property_dependencies,
        create_timeout_seconds=seconds(recorded.options.custom_timeouts.get("create", "")),
    )
