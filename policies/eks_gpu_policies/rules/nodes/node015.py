"""NODE015: nodes go before what deletes them.

When a stack is destroyed, resources go in the reverse order of their dependencies, and those without any between them
go at once. A NodePool's nodes are terminated by Karpenter, which needs its own node, its queue and its rights for that.
An EC2NodeClass has a finalizer that waits for its nodes (karpenter-provider-aws v1.14.1, pkg/controllers/nodeclass).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import namespaces
from eks_gpu.facts.versions import KARPENTER
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, attempt
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.program import once
from eks_gpu_policies.readers import karpenter
from eks_gpu_policies.readers.cluster import in_cluster_component
from eks_gpu_policies.readers.node_pools import node_class_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, clauses, undecided
from eks_gpu_policies.stack import Stack


def _subjects(stack: Stack) -> tuple[Resource, ...]:
    return (*stack.of_type(tokens.NODE_POOL, tokens.NODE_CLASS), *karpenter.releases(stack))


def _concerned(resource: Resource, stack: Stack) -> bool:
    if stack.options.manifests_only:
        return False
    return tokens.whole(resource.type) != tokens.NODE_POOL or not karpenter.is_auto_mode(resource.view)


def _check(resource: Resource, stack: Stack) -> Iterator[Outcome]:
    match tokens.whole(resource.type):
        case tokens.NODE_POOL:
            yield from clauses(_pool(resource, stack))
        case tokens.NODE_CLASS:
            yield from _after_releases(resource, stack, "its finalizer waits for a controller that is gone", mild=True)
        case _:
            yield from clauses(_home(resource, stack), _queue(resource, stack), _rights(resource, stack))


def _pool(pool: Resource, stack: Stack) -> Iterator[Outcome]:
    node_class = attempt(node_class_of, pool, stack)
    if isinstance(node_class, NotKnown) and stack.of_type(tokens.NODE_CLASS) and _may_be_any(pool):
        yield undecided(node_class)
    if isinstance(node_class, Resource) and not _in_order(pool, node_class, stack):
        yield Problem(
            f"does not depend on its EC2NodeClass {node_class.name}: destroyed at once with it, its nodes may be left "
            "running and billed",
            fix=_let(pool, node_class),
        )
    yield from _after_releases(pool, stack, "its nodes are left running and billed", mild=False)


def _in_order(pool: Resource, node_class: Resource, stack: Stack) -> bool:
    """Return whether a pool comes after its class, or both from the same YAML, within which nobody can say so.

    There the class's finalizer holds it until no node of it is left, for as long as Karpenter runs.
    """
    if stack.reaches(pool.urn, node_class.urn):
        return True
    made_by = stack.by_urn.get(pool.parent or "")
    return made_by is not None and made_by.type in tokens.YAML_FILES and pool.parent == node_class.parent


def _may_be_any(pool: Resource) -> bool:
    """Return whether a pool's class is not known, rather than known to be elsewhere."""
    named = pool.view.at("spec", "template", "spec", "nodeClassRef", "name")
    return isinstance(attempt(named.text), NotKnown)


def _after_releases(resource: Resource, stack: Stack, cost: str, *, mild: bool) -> Iterator[Outcome]:
    for unclear in karpenter.unclear_releases(stack):
        yield undecided(unclear)
    releases = karpenter.releases(stack)
    # Of several, each in a cluster of its own, a pool needs the one of its cluster.
    if releases and not any(stack.reaches(resource.urn, release.urn) for release in releases):
        names = " or ".join(release.name for release in releases)
        yield Problem(
            f"does not depend on Karpenter's release {names}: if that is destroyed first, {cost}",
            advisory=mild,
            fix=_let(resource, *releases),
        )


def _let(later: Resource, *earlier: Resource) -> str:
    names = " or ".join(item.name for item in earlier)
    return f"let {later.name} depend on {names} (depends_on), as GpuNodePool and Karpenter do"


def _home(release: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge whether what Karpenter runs on outlives it: a group without GPUs, or a Fargate profile."""
    homes = _homes(stack)
    if homes and not any(stack.reaches(release.urn, home) for home in homes):
        names = ", ".join(sorted(stack.by_urn[home].name for home in homes))
        yield Problem(
            f"depends on no node group that Karpenter can run on ({names}): destroyed at once with it, Karpenter is "
            "gone before it has terminated its nodes",
            fix=_let(release, *(stack.by_urn[home] for home in sorted(homes))),
        )


@once
def _homes(stack: Stack) -> tuple[str, ...]:
    """Return the URNs of what Karpenter can run on."""
    groups = (pool.urn for pool in stack.pools if _can_be_home(pool, stack))
    return (*groups, *(profile.urn for profile in stack.of_type(tokens.FARGATE_PROFILE)))


def _can_be_home(pool: Pool, stack: Stack) -> bool:
    """Return whether a pool is a node group without GPUs, and not one that is there before any provider."""
    if pool.kind is PoolKind.NODE_POOL or attempt(_buys_gpus, pool) is not False:
        return False
    return not in_cluster_component(stack.by_urn[pool.urn], stack)


def _buys_gpus(pool: Pool) -> bool:
    return pool.buys_gpus


def _queue(release: Resource, stack: Stack) -> Iterator[Outcome]:
    queue = attempt(karpenter.queue_of, release, stack)
    if isinstance(queue, Resource) and not stack.reaches(release.urn, queue.urn):
        yield Problem(
            f"does not depend on its queue {queue.name}: they are made and destroyed in any order",
            fix=_let(release, queue),
        )


def _rights(release: Resource, stack: Stack) -> Iterator[Outcome]:
    """Judge whether Karpenter keeps its rights for as long as it runs."""
    for right in _rights_of(release, stack):
        if not stack.reaches(release.urn, right.urn):
            yield Problem(
                f"does not depend on {right.name} ({tokens.kind(right.type)}), which gives Karpenter its rights: if "
                "that is destroyed first, Karpenter can terminate nothing, and its nodes are left running and billed",
                fix=_let(release, right),
            )


def _rights_of(release: Resource, stack: Stack) -> Iterator[Resource]:
    """Yield the associations of Karpenter's service account, its role and the role's policies."""
    named = charts.values(release).at("serviceAccount", "name")
    account = attempt(named.text) or namespaces.KARPENTER_CONTROLLER.name
    everywhere = _associations(stack).get(account, ())
    # The others are another cluster's.
    associations = [item for item in everywhere if stack.reaches(release.urn, item.urn)] or everywhere
    yield from associations
    roles = [role for item in associations for role in stack.computed_from(item, "roleArn", tokens.ROLE)]
    roles += stack.computed_from(release, "values", tokens.ROLE)
    for role in {item.urn: item for item in roles}.values():
        yield role
        yield from stack.users_of(role, "role", *sorted(tokens.ROLE_POLICIES))


@once
def _associations(stack: Stack) -> Mapping[object, list[Resource]]:
    """Return the associations by their service accounts."""
    found: dict[object, list[Resource]] = {}
    for item in stack.of_type(tokens.POD_IDENTITY):
        found.setdefault(attempt(item.view["serviceAccount"].text), []).append(item)
    return found


_CLASS: Final = examples.node_class("p4d")
_CHART: Final = examples.release("karpenter", KARPENTER.name, KARPENTER.version)


def _pool_after(*others: Resource) -> Resource:
    pool = examples.training_pool()
    return examples.resource(pool.type, pool.name, pool.props, after=others)


def _class_after(*others: Resource) -> Resource:
    return examples.resource(_CLASS.type, _CLASS.name, _CLASS.props, after=others)


RULE: Final = Rule(
    id="NODE015",
    title="Nodes go before what deletes them",
    severity=Severity.HIGH,
    why=(
        "Karpenter's nodes are in no state file: only Karpenter terminates them. If a stack is destroyed and "
        "Karpenter, its node, its rights or the EC2NodeClass go before the NodePools, the nodes stay and cost money "
        "until somebody finds them by hand; or the destruction hangs on a finalizer."
    ),
    fix=(
        "let every NodePool depend on its EC2NodeClass and on Karpenter's release, and the release on its node group, "
        "queue, role, policies and association, as GpuNodePool and Karpenter do"
    ),
    lessons=("N09",),
    looks_at=Subjects[Resource](
        "Karpenter with its pools and classes",
        frozenset({tokens.NODE_POOL, tokens.NODE_CLASS}) | tokens.HELM,
        _subjects,
        _concerned,
    ),
    check=_check,
    failing=Example((_CHART, _CLASS, _pool_after(_CLASS))),
    passing=Example((_CHART, _class_after(_CHART), _pool_after(_CLASS, _CHART))),
)
