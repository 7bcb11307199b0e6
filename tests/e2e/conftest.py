from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.checkout import DIRECTORY_VARIABLE, Checkout
from sandbox.kubernetes import control_plane, usage
from sandbox.kubernetes.api import Api, connect
from tests.support.cluster import Cluster

_USAGE = pytest.StashKey[list[str]]()
_HANDED_OVER = "usage of the control plane"


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """Start one control plane for all tests; it is theirs through `cluster`, bare at the beginning of each."""
    checkout = Checkout(tmp_path_factory.mktemp("shared") / "sandbox")
    try:
        seconds = max(control_plane.measure(checkout).values())
        yield Cluster(checkout, control_plane.start(checkout))
        usages = usage.of(checkout)
        total = f"ready after {seconds:.1f} s; {usage.total_bytes(usages) // 1024**2} MiB in all at the end"
        _keep(pytestconfig, [*map(str, usages), total])
    finally:
        control_plane.wipe(checkout)


def _keep(config: pytest.Config, lines: list[str]) -> None:
    """Keep lines for the summary, which is written by another process where tests are shared out."""
    if hasattr(config, "workeroutput"):
        config.workeroutput[_HANDED_OVER] = lines
    else:
        config.stash[_USAGE] = lines


class Summary:
    """Collects what each process has to say."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - pytest-xdist has no types for it
        """Take over what one process kept."""
        lines = getattr(node, "workeroutput", {}).get(_HANDED_OVER, [])
        node.config.stash.setdefault(_USAGE, []).extend(lines)


def pytest_configure(config: pytest.Config) -> None:
    """Listen to the processes that tests are shared out to."""
    config.pluginmanager.register(Summary())


@pytest.fixture
def cluster(shared_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Give a test a bare cluster; what the test leaves in it is removed."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(shared_cluster.checkout.directory))
    # A test that stops it, or kills one of its parts, must not be the end of the others.
    yield Cluster(shared_cluster.checkout, control_plane.start(shared_cluster.checkout))
    control_plane.start(shared_cluster.checkout)
    shared_cluster.restore()


@pytest.fixture
def kube(cluster: Cluster) -> Iterator[Api]:
    """Give a test access to the objects of its cluster."""
    with connect(cluster.plane) as api:
        yield api


@pytest.fixture(scope="session")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """Give tests a second sandbox to start, stop, damage and wipe; nobody knows in which state the last one left it."""
    checkout = Checkout(tmp_path_factory.mktemp("spare") / "sandbox")
    yield checkout
    control_plane.wipe(checkout)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test in this folder, so that `-m` can choose; the files that take minutes are begun first.

    Within a file, and among the others, the order stays as it comes: random.
    """
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("cluster")
    items.sort(key=lambda item: _LONGEST.index(item.path.name) if item.path.name in _LONGEST else len(_LONGEST))


_LONGEST: Final = ("test_killed.py", "test_environments.py", "test_life.py", "test_helm_recovery.py", "test_charts.py")
"""Files that live through whole stacks. Begun last, one of them would keep the other processes waiting."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what the control plane took."""
    lines = config.stash.get(_USAGE, [])
    if lines:
        terminalreporter.section("what the sandbox's Kubernetes took")
        for line in lines:
            terminalreporter.write_line(line)
