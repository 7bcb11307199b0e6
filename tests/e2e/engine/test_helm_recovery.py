"""Helm releases that did not come to be, and what the next `up` makes of them."""

from __future__ import annotations

import pytest

from sandbox.kubernetes import leftovers
from sandbox.kubernetes.api import Api
from tests.e2e.engine.releasing import HANGING, NAMESPACE, RELEASE, Releasing
from tests.support.cluster_bench import ClusterBench
from tests.support.engine import Result

OTHER = {"podAnnotations": {"owner": "ml-platform"}}
SHORT_SECONDS = 3
KNOWN_AS = f"{NAMESPACE}/{RELEASE}"


@pytest.fixture
def releasing(bench: ClusterBench, kube: Api) -> Releasing:
    """Give a test a release, and nodes for its pods."""
    return Releasing(bench, kube)


def recover(releasing: Releasing) -> list[str]:
    """Do what the sandbox's `recover` does for Kubernetes."""
    bench = releasing.bench
    return leftovers.clear(bench.cluster.plane, leftovers.recorded(bench.checkout))


def assert_built(releasing: Releasing, result: Result) -> None:
    assert result.returncode == 0, result.output
    assert releasing.is_ready()


def refused(result: Result) -> str:
    assert result.returncode != 0, result.output
    return result.output


def objects(releasing: Releasing) -> list[str]:
    """Return what there is of the release, its records among it."""
    return [each for each in releasing.bench.cluster.contents() if RELEASE in each]


def test_what_fails_is_uninstalled_or_rolled_back_and_the_next_up_goes_through(releasing: Releasing) -> None:
    failed = releasing.up(HANGING, timeout_seconds=SHORT_SECONDS)
    assert f"release {RELEASE} failed, and has been uninstalled due to atomic being set" in refused(failed)
    assert objects(releasing) == []

    assert_built(releasing, releasing.up())

    failed = releasing.up(HANGING, timeout_seconds=SHORT_SECONDS)
    assert f"release {RELEASE} failed, and has been rolled back due to atomic being set" in refused(failed)
    assert releasing.revisions() == {1: "superseded", 2: "failed", 3: "deployed"}
    assert releasing.annotations() == {}

    assert_built(releasing, releasing.up(OTHER))
    assert releasing.annotations() == OTHER["podAnnotations"]


def test_what_is_cut_off_stays_pending_until_recover_removes_or_undoes_it(releasing: Releasing) -> None:
    refused(releasing.cut_off("pending-install"))
    assert "cannot re-use a name that is still in use" in refused(releasing.up(OTHER))

    assert recover(releasing) == [f"Helm release {KNOWN_AS} (pending-install, left by an interrupted run)"]
    assert objects(releasing) == []
    assert_built(releasing, releasing.up(OTHER))
    assert recover(releasing) == [], "what is sound stays"

    refused(releasing.cut_off("pending-upgrade"))
    assert "another operation (install/upgrade/rollback) is in progress" in refused(releasing.up())

    assert recover(releasing) == [f"revision 2 of Helm release {KNOWN_AS} (pending-upgrade), in favour of revision 1"]
    assert releasing.revisions() == {1: "deployed"}
    assert releasing.annotations() == OTHER["podAnnotations"]
    assert_built(releasing, releasing.up())
    assert releasing.annotations() == {}


def test_what_was_being_uninstalled_is_removed_by_recover_and_then_installed(releasing: Releasing) -> None:
    assert_built(releasing, releasing.up())
    refused(releasing.cut_off_destroy())

    assert recover(releasing) == [f"Helm release {KNOWN_AS} (uninstalling, left by an interrupted run)"]
    assert releasing.refresh().returncode == 0
    assert_built(releasing, releasing.up())
