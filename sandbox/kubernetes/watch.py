"""No part outlives the folder of its sandbox: somebody may delete a checkout, and nothing would know of them then.

`make clean-sandbox` stops them. This is for ``rm -rf``: one of the parts looks whether the folder is still there.
"""

from __future__ import annotations

from sandbox.checkout import Checkout
from sandbox.kubernetes import layout, records
from sandbox.kubernetes.records import Record


class Folder:
    """The folder of a sandbox's Kubernetes, and who works in it."""

    def __init__(self, checkout: Checkout) -> None:
        """Look at the folder of ``checkout``."""
        self._checkout = checkout
        self._known: list[Record] = []
        self._inode = _inode(checkout)

    def is_there(self) -> bool:
        """Tell whether it still is; to be asked now and then, for it also notes who is to be ended if not."""
        if self._inode is None or _inode(self._checkout) != self._inode:
            return False
        self._known = records.read_all(self._checkout) or self._known
        return True

    def end_the_others(self, *, but: int) -> None:
        """End every part that was known, except for process ``but``, which is the one that asks."""
        for record in self._known:
            if record.pid != but:
                records.end_all_of(self._checkout, record)


def _inode(checkout: Checkout) -> int | None:
    # Not the name alone: another sandbox may have been made in the place of the deleted one.
    try:
        return layout.records(checkout).stat().st_ino
    except FileNotFoundError:
        return None
