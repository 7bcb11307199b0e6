"""Why the nodes of a pool would not advertise a slice of a GPU, or a share of one under a name of its own."""

from __future__ import annotations

from collections.abc import Callable

from eks_gpu.facts import labels, mig, resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.pool import Overlay, Pool
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import need
from eks_gpu.planning.sharing.advertised import Partitions, Shares

LayoutOf = Callable[[str, InstanceType], bool | None]
"""Whether a layout makes some of the wanted slices on a type; None where nobody knows the layout."""


def profile_of(resource: str) -> str:
    """Return the profile that the resource of a slice, or of a renamed share of one, is named after."""
    return resource.removeprefix(resources.MIG_PREFIX).removesuffix(resources.SHARED_SUFFIX)


def types_with(pool: Pool, profile: str) -> tuple[InstanceType, ...]:
    """Return the instance types of a pool whose GPU has a profile."""
    gpus = ((kind, mig.MODELS.get(kind.gpu_model)) for kind in pool.gpu_types)
    return tuple(kind for kind, gpu in gpus if gpu is not None and gpu.profile(profile) is not None)


def no_profile(pool: Pool, profile: str) -> str:
    """Return why no GPU of a pool has a profile, with the one that has as many slices where there is one."""
    for kind in pool.gpu_types:
        gpu = mig.MODELS.get(kind.gpu_model)
        if gpu is not None:
            slices = profile.partition(".")[0]
            alike = [each.name for each in gpu.profiles if each.name.partition(".")[0] == slices]
            instead = f" (it has {' and '.join(alike)})" if alike else ""
            return f"buys the {kind.gpu_name} of {kind.name}, which has no profile {profile}{instead}"
    names = sorted({kind.gpu_name for kind in pool.gpu_types})
    return f"buys {', '.join(names) or 'GPUs'}, which {'has' if len(names) == 1 else 'have'} no MIG"


def no_slices(pool: Pool, resource: str, makes: LayoutOf) -> str | None:
    """Return why nodes of a pool advertise no slice of a name, or None when they do.

    Raises ``NotKnownError`` where the device plugin is not in the stack.
    """
    profile = profile_of(resource)
    having = types_with(pool, profile)
    if not having:
        return no_profile(pool, profile)
    layout = need(pool.labels).get(labels.MIG_CONFIG)
    split = pool.split
    if layout is None and isinstance(split, Partitions):
        layout = split.layout
    if layout in {None, mig.ALL_DISABLED}:
        return f"is not partitioned: no label {labels.MIG_CONFIG} names a layout"
    if all(makes(layout or "", kind) is False for kind in having):
        return f"has the layout {layout}, which makes no {profile}"
    split = need(split)
    if not isinstance(split, Partitions):
        return f"has no strategy for partitions (set {mig.MIXED}), so that none is advertised"
    if split.strategy == mig.SINGLE:
        return f"advertises its partitions as {resources.GPU} (strategy {mig.SINGLE}, not {mig.MIXED})"
    return None


def no_shares(pool: Pool, resource: str) -> str | None:
    """Return why nodes of a pool advertise no share of a name, or None when they do, or nobody can tell."""
    split = pool.split
    if isinstance(split, Shares) and split.resource == resource:
        return None
    need(split)
    return f"does not share its GPUs as {resource}"


def adds(overlay: Overlay, resource: str, pool: Pool) -> bool:
    """Return whether an overlay makes Karpenter believe that nodes of a pool have a resource."""
    amount = quantity(overlay.capacity.get(resource, ""))
    if amount is None or amount <= 0:
        return False
    own = need(pool.labels)
    return any(
        all(each.admits({**instance_labels(kind), **own}.get(each.key)) for each in overlay.requirements)
        for kind in pool.gpu_types
    )
