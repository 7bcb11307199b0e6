"""NODE006: the AMI is pinned.

``resolve:ssm:`` of a parameter's own version, or of one release, is a pin: what EC2 finds there stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from eks_gpu.facts.ami import AL2023_RELEASE, AmiFamily, alias
from eks_gpu.planning.pool import ImageChoice, ImageSource, Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.launch_templates import RESOLVED_BY_SSM
from eks_gpu_policies.rule import PRODUCTION_ONLY, Example, Outcome, Problem, Rule, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

_MOVING: Final = ("recommended", "latest", "current")
"""Words of the parameters that lead to whatever is newest: AWS's two, and Canonical's."""
_PINNED_PARAMETER: Final = re.compile(r"[^:]:\d+$|/v?\d+\.\d+\.\d+[^/]*/|[-/]v?20\d{6}/")
"""A version of the parameter itself, or a path through one release: ``-v20260724/``, ``/1.65.0/``."""


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(*(_choice(choice, stack) for choice in need(pool.image).choices))


def _choice(choice: ImageChoice, stack: Stack) -> Iterator[Outcome]:
    value = need(choice.value)
    drift = _DRIFTS[choice.source](value)
    approved = stack.options.approved_images
    if drift is not None:
        yield Problem(drift)
    elif approved and not approved & {value, value.removeprefix(RESOLVED_BY_SSM)}:
        listed = f"{len(approved)} approved image{'' if len(approved) == 1 else 's'}"
        yield Problem(f"boots {value}, which is not among the {listed} (approvedImages)", fix=_APPROVED)


_APPROVED: Final = (
    "boot one of the images in approvedImages of the policy eks-gpu's configuration, or have this one tested and listed"
)


def _alias(name: str) -> str | None:
    version = name.partition("@")[2]
    return f"follows the alias {name}: every new release replaces the nodes" if version in {"", "latest"} else None


def _parameter(name: str) -> str | None:
    """Judge a parameter by its name; only one of a dated release or of a version of its own stays what it is."""
    moving = any(word in name.lower() for word in _MOVING)
    resolved = name.startswith(RESOLVED_BY_SSM) and not _PINNED_PARAMETER.search(name)
    if not (moving or resolved):
        return None
    return f"follows the SSM parameter {name.removeprefix(RESOLVED_BY_SSM)}, which moves with every release"


def _pattern(name: str) -> str | None:
    return f"takes the newest image named {name}" if any(mark in name for mark in "*?") else None


_DRIFTS: Final[Mapping[ImageSource, Callable[[str], str | None]]] = MappingProxyType(
    {
        ImageSource.ALIAS: _alias,
        ImageSource.SSM_PARAMETER: _parameter,
        ImageSource.NAME: _pattern,
        ImageSource.TAGS: lambda keys: f"takes the newest image with the tags {keys}",
        ImageSource.ID: lambda _id: None,
        ImageSource.RELEASE: lambda _release: None,
        ImageSource.LATEST: lambda kind: (
            "names no release and no image (releaseVersion, a template's imageId, amiSelectorTerms): whatever is "
            f"newest of {kind} is booted"
        ),
    }
)
"""What drifts about each way of choosing an image; None when nothing does."""

_TEMPLATE = examples.launch_template()
_PINNED = alias(AmiFamily.AL2023, AL2023_RELEASE)

RULE: Final = Rule(
    id="NODE006",
    title="The AMI is pinned",
    severity=Severity.HIGH,
    why=(
        "Kernel, driver and CUDA come with the image. An image that follows the newest release changes all three on "
        "nodes nobody touched: with Karpenter at the next drift, with a node group at the next update."
    ),
    fix=(
        "name a release that was tested: releaseVersion for a node group, "
        f"a dated alias such as {_PINNED} for Karpenter"
    ),
    lessons=("N07", "G07"),
    levels=PRODUCTION_ONLY,
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_TEMPLATE, examples.node_group(_TEMPLATE, releaseVersion=None))),
    passing=Example((_TEMPLATE, examples.node_group(_TEMPLATE))),
)
