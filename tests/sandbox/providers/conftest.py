from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer

from sandbox.inventory import Account
from sandbox.providers.aws.api import Api
from sandbox.providers.aws.provider import Aws
from sandbox.providers.kubernetes.provider import Kubernetes
from sandbox.providers.sdk import Sdk
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

REGION = "us-east-1"


class TidyAws(Aws):
    """The stand-in, which remembers what it made."""

    made: list[tuple[str, Stored]]

    def create(self, token: str, inputs: Properties) -> Stored:
        stored = super().create(token, inputs)
        self.made.append((token, stored))
        return stored

    def update(self, token: str, existing: Stored, old: Properties, new: Properties) -> Properties:
        state = super().update(token, existing, old, new)
        updated = (token, Stored(existing.id, state))
        self.made = [updated if (each, one.id) == (token, existing.id) else (each, one) for each, one in self.made]
        return state

    def tidy(self) -> None:
        """Delete what was made, newest first; a test may have deleted it already."""
        for token, stored in reversed(self.made):
            self.delete(token, stored)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """Run one moto server for the session; every test leaves it as it found it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def account(endpoint: str) -> Account:
    """Return the list of what there is in moto."""
    return Account(endpoint)


@pytest.fixture(scope="session")
def api(endpoint: str) -> Api:
    return Api(REGION, endpoint)


@pytest.fixture(scope="session")
def aws_sdk() -> Sdk:
    return Sdk("pulumi_aws")


@pytest.fixture(scope="session")
def kubernetes_sdk() -> Sdk:
    return Sdk("pulumi_kubernetes")


@pytest.fixture
def aws(aws_sdk: Sdk, endpoint: str) -> Iterator[Aws]:
    """Return the stand-in, configured for a region and two default tags."""
    provider = TidyAws(aws_sdk, endpoint)
    provider.made = []
    provider.configure({"region": REGION, "defaultTags": {"tags": {"owner": "platform", "stage": "test"}}})
    yield provider
    provider.tidy()


@pytest.fixture
def kubernetes(kubernetes_sdk: Sdk) -> Kubernetes:
    provider = Kubernetes(kubernetes_sdk)
    provider.configure({})
    return provider
