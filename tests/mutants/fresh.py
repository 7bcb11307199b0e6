"""A plugin of pytest for runs on changed code: what was remembered of the code as it was is forgotten.

mutmut runs the tests once on the code as it is, and each mutant in a copy of that process. A function whose answers are
remembered would be asked again and never run, so that any change in it would survive.
"""

from __future__ import annotations

import functools
import gc
from typing import Final

_REMEMBERS: Final = type(functools.lru_cache(lambda: None))


def pytest_sessionstart() -> None:
    """Empty every cache of answers."""
    for found in gc.get_objects():
        if isinstance(found, _REMEMBERS):
            found.cache_clear()
