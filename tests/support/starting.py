"""Model servers that take their time to start, for tests of the time they are given."""

from __future__ import annotations

import dataclasses
from typing import Any

from eks_gpu.facts import declarations
from eks_gpu.facts.images import GB
from eks_gpu_policies import examples
from eks_gpu_policies.report import Report
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, judge

MODEL = "meta-llama/Llama-3.1-70B-Instruct"
"""140 GB in 16 bits."""
PATIENT = 100_000


def probe(failures: int, delay: int = 15, period: int = 10) -> dict[str, Any]:
    return {"initialDelaySeconds": delay, "periodSeconds": period, "failureThreshold": failures}


def server(failures: int = 60, **settings: object) -> Resource:
    """Return a Deployment on the cache that waits for its pods long enough."""
    container = {"args": ["--model", MODEL], "startupProbe": probe(failures), **settings}
    deployment = examples.on_cache({key: value for key, value in container.items() if value is not None})
    patient = changed(deployment, "spec.progressDeadlineSeconds", PATIENT)
    return dataclasses.replace(patient, create_timeout_seconds=PATIENT)


def declared(pod: Resource, **annotations: str) -> Resource:
    names = {"model": declarations.MODEL_BYTES, "image": declarations.IMAGE_BYTES}
    said = {names[key]: value for key, value in annotations.items()}
    return changed(pod, "spec.template.metadata.annotations", said)


SMALL_IMAGE = "1"
"""One byte: pulling it takes no time worth counting."""


def on(pod: Resource, *around: Resource) -> Report:
    """Judge a server whose image weighs nothing, with a pool that it may land on."""
    return judge("WORK007", *around, *POOL, declared(pod, model=str(140 * GB), image=SMALL_IMAGE))


TEMPLATE = examples.launch_template()
POOL = (TEMPLATE, examples.node_group(TEMPLATE, scalingConfig={"minSize": 1, "maxSize": 9}))


def patient(deployment: Resource) -> Resource:
    changed_ = changed(deployment, "spec.progressDeadlineSeconds", PATIENT)
    return dataclasses.replace(changed_, create_timeout_seconds=PATIENT)
