"""STOR003: claims can bind.

A volume made by hand and its claim need not both name no class. They must name the *same* one, and the claim must say
so: the EFS driver's own examples use a class of that name on both sides. ``gp2`` is in every cluster that EKS makes,
whoever declares it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import storage
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, attempt
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.claims import Claim
from eks_gpu_policies.readers.cluster import kubernetes_version
from eks_gpu_policies.readers.replicas import at_once
from eks_gpu_policies.readers.subnets import zone_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided, clauses
from eks_gpu_policies.stack import Stack

_CLASS: Final = "storageClassName"
_SHARED_MODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_BLOCK: Final = "Block"


def _check(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(
        _has_class(claim, stack),
        _same_class(claim, stack),
        _mode_on_ebs(claim, stack),
        *(_shared_on_ebs(claim, pod, stack) for pod in _users(claim, stack)),
        _one_zone(claim, stack),
    )


def _users(claim: Claim, stack: Stack) -> tuple[PodTemplate, ...]:
    return () if claim.template else stack.storage.pods_by_claim.get(claim.urn, ())


def _has_class(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    """Judge whether anything makes a volume for the claim, or has made one."""
    name = attempt(lambda: claim.class_name)
    if isinstance(name, NotKnown):
        stack.storage.class_of(claim)
    elif stack.storage.volumes_of(claim) or claim.spec["volumeName"].exists:
        return
    elif name is None:
        yield from _has_default_class(stack)
    elif name == "":
        yield Undecided(_CLASS, "the claim wants a volume made by hand, which is not in the stack")
    elif not _is_there(name, stack):
        yield from _elsewhere(name, stack)


def _has_default_class(stack: Stack) -> Iterator[Outcome]:
    if stack.storage.classes.default is not None:
        return
    clusters = [cluster.view["version"].text() for cluster in stack.of_type(*sorted(tokens.CLUSTERS))]
    version = attempt(kubernetes_version, stack)
    if not clusters:
        yield Undecided(_CLASS, "whether the cluster has a default class")
    elif isinstance(version, NotKnown) or version >= storage.FIRST_VERSION_WITHOUT_DEFAULT_CLASS:
        yield Problem(
            "names no class, and nothing in the stack makes a default one; EKS does not since 1.30",
            fix=f"set storageClassName, or mark a StorageClass as the default ({storage.DEFAULT_CLASS_ANNOTATION})",
        )


def _is_there(name: str, stack: Stack) -> bool:
    own = bool(stack.named(tokens.STORAGE_CLASS, name)) or name == storage.EKS_CLASS
    return own or name in stack.storage.classes.brought


def _elsewhere(name: str, stack: Stack) -> Iterator[Outcome]:
    known = stack.options.cluster_classes
    if known is None:
        yield Undecided(_CLASS, f"the class {name} is not in the stack, and nobody said what is in the cluster")
    elif name not in known:
        yield Problem(
            f"names the class {name}, which is neither in the stack nor among the cluster's: "
            f"{', '.join(sorted(known)) or 'none'}"
        )


def _same_class(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    """Judge a claim with a volume of its own, by either's name: both must name the same class, or both none."""
    for volume in stack.storage.volumes_of(claim) if claim.spec["volumeName"].exists else stack.storage.kept_for(claim):
        theirs, own = volume.view.at("spec", _CLASS).text() or "", claim.class_name
        if own is None:
            yield Problem(
                f"is for the volume {volume.name} and names no class, so that a default class is put in, if there is "
                "one, and they never bind",
                fix=f'set storageClassName "{theirs}" on the claim, as the volume has it',
            )
        elif own != theirs:
            yield Problem(
                f'has the class "{own}" and its volume {volume.name} has "{theirs}": they never bind',
                fix="give the volume and its claim the same storageClassName, or both an empty one",
            )


def _on_ebs(claim: Claim, stack: Stack) -> bool:
    """Return whether a claim is known to be on EBS. A class that nobody knows is another clause's business."""
    if isinstance(attempt(stack.storage.class_or_name, claim), NotKnown):
        return False
    return stack.storage.provisioner_of(claim) in storage.EBS_DRIVERS


def _is_block(claim: Claim) -> bool:
    return claim.spec["volumeMode"].text() == _BLOCK


def _mode_on_ebs(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    shared = sorted(_SHARED_MODES.intersection(claim.spec["accessModes"].texts()))
    if shared and not _is_block(claim) and _on_ebs(claim, stack):
        yield Problem(
            f"asks {', '.join(shared)} of EBS, whose file systems are one node's",
            fix="use a StorageClass on EFS, as ModelCache does, or ask for ReadWriteOnce where one node is enough",
        )


def _shared_on_ebs(claim: Claim, pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    if _is_block(claim) or not _on_ebs(claim, stack):
        return
    count = at_once(pod, stack)
    many = "a pod on every node" if pod.owner_kind == "DaemonSet" else f"{count} pods"
    if count > 1 or pod.owner_kind == "DaemonSet":
        yield Problem(
            f"is one EBS volume for {many} of {pod.name}: all but those on its node wait for ever",
            fix="use a StorageClass on EFS, as ModelCache does, or a volumeClaimTemplate, which gives each pod its own",
        )


def _one_zone(claim: Claim, stack: Stack) -> Iterator[Outcome]:
    for file_system in stack.storage.file_systems_of(claim):
        zone = file_system.view["availabilityZoneName"].text()
        if zone is not None:
            yield from clauses(*(_within(zone, urn, stack) for urn in _pools(claim, stack)))


def _pools(claim: Claim, stack: Stack) -> tuple[str, ...]:
    users = _users(claim, stack)
    pools = (pool for pod in users for pool in stack.landing(pod)) if users else iter(stack.gpu_pools)
    return tuple(dict.fromkeys(pool.urn for pool in pools))


def _within(zone: str, pool_urn: str, stack: Stack) -> Iterator[Outcome]:
    pool = next(pool for pool in stack.pools if pool.urn == pool_urn)
    others = sorted({zone_of(item) for item in stack.locations(pool)} - {zone})
    if others:
        yield Problem(f"is on a One Zone file system in {zone}; nodes of {pool.name} may be in {', '.join(others)}")


def _claim(**spec: object) -> Resource:
    return examples.resource(
        tokens.CLAIM,
        "models",
        {"metadata": {"name": "models"}, "spec": {"accessModes": ["ReadWriteMany"], **spec}},
    )


def _class(provisioner: str) -> Resource:
    return examples.resource(
        tokens.STORAGE_CLASS, "shared", {"metadata": {"name": "shared"}, "provisioner": provisioner}
    )


CLAIMS: Final = Subjects[Claim]("claims", frozenset({tokens.CLAIM}), lambda stack: stack.storage.claims)

RULE: Final = Rule(
    id="STOR003",
    title="Claims can bind",
    severity=Severity.HIGH,
    why=(
        "A claim that nothing makes a volume for stays Pending, and with it every pod that mounts it: no event says "
        "more than that it waits. On EBS the first pod starts and the second one never does."
    ),
    fix=(
        "name a StorageClass of the stack or of clusterClasses, on a file system that several nodes can mount where "
        "several do, as ModelCache does; give a volume made by hand and its claim the same class"
    ),
    lessons=("S01", "S02"),
    looks_at=CLAIMS,
    check=_check,
    failing=Example((_class(storage.EBS_DRIVER), _claim(storageClassName="shared"))),
    passing=Example((_class(storage.EFS_DRIVER), _claim(storageClassName="shared"))),
)
