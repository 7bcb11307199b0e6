"""STOR004: workloads come after their claims.

A claim that waits for its first consumer stays Pending until a pod mounts it, so nothing is gained by an order there.
Objects of one file of YAML or one chart have no order among themselves that anybody could set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels
from eks_gpu.planning.reading import NotKnownError
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.claims import Claim
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack

_BUNDLES: Final = tokens.YAML_FILES | tokens.HELM


def _is_mounted(claim: Claim, stack: Stack) -> bool:
    if stack.options.manifests_only:
        return False
    if claim.urn in stack.storage.pods_by_claim:
        return True
    claim.metadata["name"].text()
    for _, what in stack.storage.unclear:
        raise NotKnownError(what)
    return False


def _check(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(_awaited(claim, stack), _before_its_users(claim, stack))


def _awaited(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    skipped = claim.metadata["annotations"][labels.SKIP_AWAIT].boolean()
    if skipped and stack.storage.binds_at_once(claim):
        yield Problem(
            f"is not awaited ({labels.SKIP_AWAIT}) although its class binds it at once: workloads start before it is",
            fix=f"remove the annotation {labels.SKIP_AWAIT} from the claim",
        )


def _before_its_users(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    early = [
        urn
        for urn in dict.fromkeys(pod.urn for pod in stack.storage.pods_by_claim[claim.urn])
        if not _same_bundle(claim.resource, stack.by_urn[urn], stack) and not stack.reaches(urn, claim.urn)
    ]
    if early and stack.storage.binds_at_once(claim):
        for urn in early:
            yield Problem(f"mounts the claim {claim.name} without coming after it", urn=urn)


def _same_bundle(claim: Resource, workload: Resource, stack: Stack) -> bool:
    """Return whether both come from one file of manifests or one chart."""
    parent = stack.by_urn.get(claim.parent or "")
    return parent is not None and claim.parent == workload.parent and parent.type in _BUNDLES


_CACHE: Final = examples.model_cache()
_SERVER: Final = examples.on_cache()

RULE: Final = Rule(
    id="STOR004",
    title="Workloads come after their claims",
    severity=Severity.MEDIUM,
    why=(
        "A server that is started before its claim is bound waits for it on a GPU that is already paid, until the "
        "rollout is called failed: what is wrong is the claim, and the server is blamed."
    ),
    fix=(
        "add the claim to the workload's depends_on, or take claimName from the claim's own metadata.name, as "
        "VllmServer does with ModelCache"
    ),
    lessons=("S02",),
    looks_at=Subjects[Claim](
        "claims that pods mount",
        frozenset({tokens.CLAIM}),
        lambda stack: (claim for claim in stack.storage.claims if not claim.template),
        _is_mounted,
    ),
    check=_check,
    failing=Example((*_CACHE, _SERVER)),
    passing=Example((*_CACHE, examples.resource(_SERVER.type, _SERVER.name, _SERVER.props, after=_CACHE[2:]))),
)
