"""Judging what a program registered by the rules of the policy pack."""

from __future__ import annotations

import datetime as dt
import os

from eks_gpu.cli.exit_codes import CannotRun
from eks_gpu.cli.program import Recorded
from eks_gpu.recording import RecordedResource
from eks_gpu_policies.configuration import ConfigurationError, configure
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rules import RULES


def judge(recorded: Recorded, environment: str | None = None) -> Report:
    """Return what every rule says of a recorded stack.

    ``environment`` wins over ``EKS_GPU_ENVIRONMENT`` and the stack's own settings, as in the policy pack.
    """
    try:
        run = configure({"environment": environment} if environment else {}, os.environ, recorded.config)
    except ConfigurationError as error:
        raise CannotRun(str(error)) from error
    return evaluate(
        (as_resource(resource) for resource in recorded.recording.resources),
        environment=run.environment,
        rules=RULES,
        today=dt.datetime.now(tz=dt.UTC).date(),
        options=run.options,
        waivers=run.waivers,
    )


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
    )
