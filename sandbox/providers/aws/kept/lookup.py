"""Reading one resource where it may be gone."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sandbox.providers.aws.api import ApiError
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.providers.aws.api import Api


def found(api: Api, service: str, operation: str, key: str, **arguments: object) -> Properties | None:
    """Call a describe operation and return what lies under `key`: the first of a list, or None if it is gone."""
    try:
        answer = api.call(service, operation, **arguments).get(key)
    except ApiError as error:
        if error.gone:
            return None
        raise
    if isinstance(answer, list):
        return answer[0] if answer else None
    return answer


@contextmanager
def missing_ok() -> Iterator[None]:
    """Take a resource that does not exist any more as deleted."""
    try:
        yield
    except ApiError as error:
        if not error.gone:
            raise
