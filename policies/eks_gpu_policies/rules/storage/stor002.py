"""STOR002: every pool zone can mount.

A rule of a mount target's security group counts unless it certainly lets other people in: groups that are looked up,
or made by EKS, may be the nodes'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts.storage import NFS_PORT
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.program import once
from eks_gpu_policies.readers.nfs_access import Admitted, Nodes, nodes_of, openings
from eks_gpu_policies.readers.subnets import Location, locations, zone_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Undecided, clauses, undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import resources


def _check(file_system: Resource, stack: Stack) -> Iterator[Outcome]:
    yield from (undecided(what) for what in stack.unclear_pools)
    pools = _pools(file_system, stack)
    if not pools:
        return
    targets = stack.users_of(file_system, "fileSystemId", tokens.MOUNT_TARGET)
    if not targets:
        yield Problem("has no mount target in the stack, so that no node can mount it")
        return
    yield from clauses(
        _covers(pools, targets, stack),
        *(_admits_nfs(target, pools, stack) for target in targets),
    )


def _pools(file_system: Resource, stack: Stack) -> tuple[Pool, ...]:
    """Return the GPU pools that admit a pod which mounts the file system; every GPU pool when no pod does."""
    pods = stack.storage.pods_by_file_system.get(file_system.urn)
    if not pods:
        return stack.gpu_pools
    return tuple(pool for pool in stack.gpu_pools if any(stack.may_land(pod, pool) for pod in pods))


def _covers(pools: tuple[Pool, ...], targets: tuple[Resource, ...], stack: Stack) -> Iterator[Outcome]:
    there = [item for target in targets for item in locations(target, "subnetId", (target.view["subnetId"],), stack)]
    zones = attempt(_zones, there)
    # Pools whose zones are all there need no closer look.
    elsewhere = [pool for pool in pools if not (pool.zones and _are_in(pool.zones, zones))]
    reachable = {item.id for item in there}
    yield from clauses(*(_pool(pool, reachable, zones, stack) for pool in elsewhere))


def _are_in(zones: frozenset[str] | NotKnown, there: frozenset[str] | NotKnown) -> bool:
    return not isinstance(zones, NotKnown) and not isinstance(there, NotKnown) and zones <= there


def _pool(pool: Pool, reachable: set[str], there: frozenset[str] | NotKnown, stack: Stack) -> Iterator[Outcome]:
    nodes = stack.locations(pool)
    if not nodes:
        yield Undecided("subnetIds", f"which subnets the nodes of {pool.name} are in is said nowhere")
    elsewhere = [item for item in nodes if item.id not in reachable]
    missing = sorted({zone_of(item) for item in elsewhere} - need(there)) if elsewhere else []
    for zone in missing:
        yield Problem(f"has no mount target in {zone}, where nodes of {pool.name} may be")


def _zones(there: list[Location]) -> frozenset[str]:
    return frozenset(map(zone_of, there))


def _admits_nfs(target: Resource, pools: tuple[Pool, ...], stack: Stack) -> Iterator[Outcome]:
    place = target.view["securityGroups"]
    if stack.computed_from(target, "securityGroups", *tokens.CLUSTERS):
        return  # The cluster's own group, which the nodes are in and which admits itself.
    groups = stack.computed_from(target, "securityGroups", tokens.SECURITY_GROUP)
    if groups:
        yield from _groups_admit(target, groups, pools, stack)
    elif place.exists or stack.of_type(tokens.DEFAULT_SECURITY_GROUP):
        yield Undecided("securityGroups", "the mount target's security group is not in the stack")
    else:
        yield Problem(
            f"names no security group, so that the VPC's default one applies, which admits no TCP {NFS_PORT} of nodes",
            urn=target.urn,
        )


def _groups_admit(
    target: Resource, groups: tuple[Resource, ...], pools: tuple[Pool, ...], stack: Stack
) -> Iterator[Outcome]:
    names = ", ".join(group.name for group in groups)
    let_in = tuple(opening for group in groups for opening in openings(group, stack))
    if not let_in:
        yield Problem(f"no rule of the security group {names} admits TCP {NFS_PORT}", urn=target.urn)
        return
    admitted = Admitted(let_in, frozenset(group.urn for group in groups), stack)
    everywhere = _nodes(stack)
    for pool in pools:
        if not admitted.may_be(everywhere[pool.urn]):
            yield Problem(
                f"no rule of the security group {names} admits TCP {NFS_PORT} from the nodes of {pool.name}",
                urn=target.urn,
            )


@once
def _nodes(stack: Stack) -> Mapping[str, Nodes]:
    """Return where the nodes of each GPU pool are."""
    return {pool.urn: nodes_of(pool, attempt(stack.locations, pool), stack) for pool in stack.gpu_pools}


def _example(*zones: str) -> Example:
    """Return a file system with mount targets in ``zones``, and a pool with nodes in a and b."""
    subnets = {
        zone: examples.resource(tokens.SUBNET, zone, {"availabilityZone": f"us-east-1{zone}"}) for zone in ("a", "b")
    }
    group = examples.resource(
        tokens.SECURITY_GROUP, "nfs", {"ingress": [{"protocol": "tcp", "fromPort": NFS_PORT, "toPort": NFS_PORT}]}
    )
    models = examples.resource(tokens.FILE_SYSTEM, "models", {"encrypted": True})
    targets = tuple(
        examples.resource(
            tokens.MOUNT_TARGET,
            f"models-{zone}",
            {"fileSystemId": "fs-1", "subnetId": f"subnet-{zone}", "securityGroups": ["sg-1"]},
            fileSystemId=(models,),
            subnetId=(subnets[zone],),
            securityGroups=(group,),
        )
        for zone in zones
    )
    pool = examples.node_group(
        examples.launch_template(),
        "inference",
        {"subnetIds": tuple(subnets.values())},
        subnetIds=["subnet-a", "subnet-b"],
    )
    return Example((*subnets.values(), group, models, *targets, examples.launch_template(), pool))


RULE: Final = Rule(
    id="STOR002",
    title="Every pool zone can mount",
    severity=Severity.HIGH,
    why=(
        "A node mounts EFS through the mount target of its own zone. Where there is none, or where its security group "
        f"lets no TCP {NFS_PORT} in, pods hang in ContainerCreating until the mount times out, on some nodes only."
    ),
    fix="make one mount target for each zone of the pools, with a rule that admits the nodes, as ModelCache does",
    lessons=("S01",),
    looks_at=resources("EFS file systems", (tokens.FILE_SYSTEM,)),
    check=_check,
    failing=_example("a"),
    passing=_example("a", "b"),
)
