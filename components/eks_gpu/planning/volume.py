"""A block device of a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eks_gpu.planning.quantity import GIB
from eks_gpu.planning.reading import NotKnown, View, attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """An EBS volume that a node is given. A value is ``None`` where nothing is said."""

    device: str | None
    """The name under which the image mounts it: ``/dev/xvda``."""
    size_gib: float | NotKnown | None
    type: str | NotKnown | None
    """``gp3``, ``gp2``, ``io2`` ..."""
    throughput_mib: float | NotKnown | None
    """MiB/s, gp3 only."""
    encrypted: bool | NotKnown | None
    from_snapshot: bool


def read_launch_template_volumes(mappings: View) -> tuple[Volume, ...]:
    """Read the block device mappings of an EC2 launch template: sizes are whole GiB, booleans are strings."""
    return tuple(_volume(place, place["ebs"], View.number) for place in mappings.items())


def read_node_class_volumes(mappings: View) -> tuple[Volume, ...]:
    """Read the block device mappings of an EC2NodeClass: sizes are Kubernetes quantities."""
    return tuple(_volume(place, place["ebs"], _gib) for place in mappings.items())


def _gib(size: View) -> float | None:
    amount = size.quantity()
    return None if amount is None else float(amount / GIB)


def _volume(place: View, ebs: View, read_size: Callable[[View], float | None]) -> Volume:
    return Volume(
        device=place["deviceName"].text(),
        size_gib=attempt(lambda: read_size(ebs["volumeSize"])),
        type=attempt(ebs["volumeType"].text),
        throughput_mib=attempt(ebs["throughput"].number),
        encrypted=attempt(ebs["encrypted"].boolean),
        from_snapshot=ebs["snapshotId"].exists or ebs["snapshotID"].exists,
    )
