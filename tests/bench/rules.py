"""What the rules cost on a large stack: prod, recorded once and repeated until it has so many resources.

    python tests/bench/rules.py

prints seconds and resources as JSON, for one run of every rule on each size.
"""

from __future__ import annotations

import datetime as dt
import gc
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from eks_gpu.cli.judge import as_resource  # noqa: E402 - after the path is set
from eks_gpu.cli.program import record_stack  # noqa: E402
from eks_gpu.cli.project import Project  # noqa: E402
from eks_gpu_policies.configuration import configure  # noqa: E402
from eks_gpu_policies.engine import evaluate  # noqa: E402
from eks_gpu_policies.resource import Resource  # noqa: E402
from eks_gpu_policies.rules import BY_ID, RULES  # noqa: E402

SIZES = (1_000, 10_000)
"""Resources; the goal is set at the larger."""

STACK = "prod"

NAMING = ("name", "Name", "namespace")
"""How keys end under which one object names another. Values such as ``gp3`` or ``inference`` elsewhere stay."""


def copies(original: tuple[Resource, ...], at_least: int) -> list[Resource]:
    """Return the stack and as many copies as make ``at_least`` resources. No copy refers to another one."""
    names = {name for item in original if isinstance(name := _object_name(item), str)}
    whole: list[Resource] = []
    number = 0
    while len(whole) < at_least:
        whole.extend(_copy(item, names, f"-{number}") for item in original)
        number += 1
    return whole


def _object_name(resource: Resource) -> object:
    metadata = resource.props.get("metadata")
    return metadata.get("name") if isinstance(metadata, Mapping) else None


def _copy(resource: Resource, names: set[str], suffix: str) -> Resource:
    def renamed(value: Any, key: str = "") -> Any:  # noqa: ANN401 - properties
        if isinstance(value, str):
            return value + suffix if value in names and key.endswith(NAMING) else value
        if isinstance(value, Mapping):
            return {below: renamed(item, below) for below, item in value.items()}
        if isinstance(value, list | tuple):
            return [renamed(item, key) for item in value]
        return value

    def moved(urns: frozenset[str]) -> frozenset[str]:
        return frozenset(urn + suffix for urn in urns)

    return replace(
        resource,
        urn=resource.urn + suffix,
        name=resource.name + suffix,
        props=renamed(resource.props),
        parent=None if resource.parent is None else resource.parent + suffix,
        dependencies=moved(resource.dependencies),
        property_dependencies={key: moved(urns) for key, urns in resource.property_dependencies.items()},
    )


def measured() -> Iterator[dict[str, float]]:
    """Yield what each size takes, from plain resources to the report."""
    recorded = record_stack(Project.find(ROOT), STACK)
    original = tuple(as_resource(item) for item in recorded.recording.resources)
    run = configure({}, {}, recorded.config, {}, BY_ID)
    for size in SIZES:
        whole = copies(original, size)
        gc.collect()
        start = time.perf_counter()
        evaluate(
            whole,
            environment=run.environment,
            rules=RULES,
            today=dt.datetime.now(tz=dt.UTC).date(),
            options=run.options,
            waivers=run.waivers,
        )
        yield {"resources": len(whole), "seconds": time.perf_counter() - start}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(list(measured())))
