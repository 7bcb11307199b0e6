"""The end of ``down``: the proof that nothing is left, and the stopping of what nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox import aws, leftovers, stacks
from sandbox.checkout import Checkout
from sandbox.commands.project import OpenStack
from sandbox.inventory import Account, regions

_DEFINITION = " CustomResourceDefinition "


def leave(opened: OpenStack) -> int:
    """Say what is left after a destroy, and stop what it was built in if nothing is; return the exit code."""
    checkout, stack = opened.engine.checkout, opened.name
    if aws.running(checkout) is not None:
        leftovers.clear(aws.start(checkout).url, checkout, stack)
    others = {name: count for name, count in stacks.resource_counts(checkout).items() if count}
    if others:
        named = ", ".join(f"{name} ({count} resources)" for name, count in others.items())
        print(f"{stack} is gone; the AWS stand-in stays, for it holds {named}")
        return 0
    if aws.is_in_use(checkout):
        print(f"{stack} is gone; the AWS stand-in stays, for another command works with it")
        return 0
    places = [_kubernetes(checkout), _aws(checkout)]
    if all(place is None for place in places):
        print("nothing is left: neither AWS nor Kubernetes was running, and no stack holds a resource")
    return 0 if all(place in {None, 0} for place in places) else 1


def _kubernetes(checkout: Checkout) -> int | None:
    """Stop Kubernetes if no object is left in it, and return the exit code; None if it did not run."""
    # Imported where it is used: the client of Kubernetes takes half a second to import.
    from sandbox.kubernetes import control_plane, inventory  # noqa: PLC0415 - see above

    plane = control_plane.running(checkout)
    if plane is None:
        return None
    clear_kubernetes(checkout)
    left = inventory.contents(plane)
    if left and all(_DEFINITION in line for line in left):
        print(
            f"Helm never deletes the definitions in a chart's crds folder; {len(left)} are left, which hold no object "
            "and go with the cluster"
        )
    elif left:
        return _complain(
            f"Kubernetes ({plane.endpoint})",
            left,
            "`python -m sandbox exec --kubernetes -- kubectl` reaches it; it stays",
        )
    control_plane.wipe(checkout)
    print("nothing is left in Kubernetes; it is stopped")
    return 0


def clear_kubernetes(checkout: Checkout) -> None:
    """Remove what a killed engine left in the cluster and no stack knows of."""
    from sandbox.kubernetes import control_plane, leftovers  # noqa: PLC0415 - as above

    plane = control_plane.running(checkout)
    if plane is not None:
        for line in leftovers.clear(plane, leftovers.recorded(checkout)):
            print(f"removed {line}")


def _aws(checkout: Checkout) -> int | None:
    """Stop AWS if nothing is left in it, and return the exit code; None if it did not run."""
    server = aws.running(checkout)
    if server is None:
        return None
    aws.start(checkout)
    left = Account(server.url).contents(regions(checkout))
    if left:
        return _complain(f"AWS ({server.url})", left, "the AWS stand-in stays")
    aws.stop(checkout)
    print("nothing is left in AWS; it is stopped")
    return 0


def _complain(where: str, left: Sequence[str], why: str) -> int:
    print(f"error: left in {where}, and known to no stack ({len(left)}):")
    print("\n".join(f"  {line}" for line in left))
    print(f"  {why}, so that you can look; `make clean-sandbox` forgets it")
    return 1
