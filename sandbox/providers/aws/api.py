"""Calls to the moto server, one botocore client per service."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from sandbox.providers.stand_in import StandInError
from sandbox.providers.wire import Properties

ENDPOINT_VARIABLE: Final = "EKS_GPU_SANDBOX_AWS_ENDPOINT"
DIRECTORY_VARIABLE: Final = "EKS_GPU_SANDBOX_DIR"
_NO_SUCH_CALL: Final = "moto does not know this call, or not with these arguments"
_GONE: Final = ("NotFound", "NoSuchEntity", "NonExistent", "ResourceNotFoundException")


_making = threading.Lock()
"""Held while a client is made: the session that all share does not make two at once."""


class ApiError(StandInError):
    """A refusal of the AWS API, with its error code."""

    def __init__(self, service: str, operation: str, code: str, message: str) -> None:
        """Describe the refusal as `service operation: message (code)`."""
        super().__init__(f"{service} {operation}: {message} ({code})")
        self.code = code

    @property
    def gone(self) -> bool:
        """Tell whether the refusal says that the resource does not exist."""
        return any(word in self.code for word in _GONE)


class Api:
    """The AWS API that the stand-in keeps resources in."""

    def __init__(self, region: str, endpoint: str | None = None) -> None:
        """Talk to the moto server at `endpoint`; without one, to the sandbox's, started when it is first needed."""
        self.region = region
        self._endpoint = endpoint
        self._clients: dict[str, Any] = {}

    def call(self, service: str, operation: str, **arguments: object) -> Properties:
        """Call an operation by its Python name; arguments that are None are left out; raise `ApiError` on a refusal."""
        method = getattr(self._client(service), operation)
        with _told(service, operation):
            response: Properties = method(**{key: value for key, value in arguments.items() if value is not None})
        return response

    def pages(self, service: str, operation: str, key: str, **arguments: object) -> list[Any]:
        """Return the entries under `key` of every page of a list operation."""
        client = self._client(service)
        with _told(service, operation):
            pages = list(client.get_paginator(operation).paginate(**arguments))
        return [each for page in pages for each in page.get(key, ())]

    def _client(self, service: str) -> Any:  # noqa: ANN401 - botocore makes its client classes at run time
        with _making:
            if service not in self._clients:
                self._clients[service] = self._make_client(service)
            return self._clients[service]

    def _make_client(self, service: str) -> Any:  # noqa: ANN401 - as above
        from botocore.config import Config  # noqa: PLC0415 - a preview that asks AWS nothing does not pay for it

        return _session().create_client(
            service,
            region_name=self.region,
            endpoint_url=self._endpoint or _sandbox_endpoint(),
            aws_access_key_id="sandbox",
            aws_secret_access_key="sandbox",  # noqa: S106 - moto takes any key; a real one must never go there
            config=Config(retries={"total_max_attempts": 2}, max_pool_connections=32),
        )


@contextmanager
def _told(service: str, operation: str) -> Iterator[None]:
    """Tell a refusal in one sentence."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - a preview that asks AWS nothing does not pay for it
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 - as above

    try:
        yield
    except ClientError as error:
        details = error.response["Error"]
        message = details["Message"]
        if "<!doctype" in message.lower():  # the server's answer to a call it does not have, or fails in
            message = _NO_SUCH_CALL
        raise ApiError(service, operation, details["Code"], message) from None
    except ResponseParserError:
        raise ApiError(service, operation, "InternalError", _NO_SUCH_CALL) from None


@cache
def _session() -> Any:  # noqa: ANN401 - as above
    """Return one session for all regions: it holds the services' descriptions, which take long to read."""
    from botocore.session import get_session  # noqa: PLC0415 - as above

    return get_session()


def _sandbox_endpoint() -> str:
    """Return the URL of a running moto server: of the sandbox named by the environment, else the URL given there."""
    given = os.environ.get(ENDPOINT_VARIABLE)
    if given and DIRECTORY_VARIABLE not in os.environ:
        return given
    from sandbox import aws, errors  # noqa: PLC0415 - starting moto is their business, and only wanted here

    try:
        return aws.endpoint()
    except errors.SandboxError as error:
        raise StandInError(str(error)) from None
