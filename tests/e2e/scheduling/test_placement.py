"""Pods meet the node pools that our components emit, in front of the real Karpenter and the real scheduler."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.e2e.scheduling import emitted
from tests.e2e.scheduling.case import Case, Expectation, On
from tests.e2e.scheduling.cases import CASES
from tests.e2e.scheduling.emitted import Manifest
from tests.e2e.scheduling.planning import answers
from tests.e2e.scheduling.world import Fate, Placed, World

PARAMETERS = [pytest.param(case, id=case.name) for case in CASES]


@pytest.mark.parametrize("case", PARAMETERS)
def test_karpenter_decides_as_expected(case: Case, world: World) -> None:
    pools = emitted.pools(case.pools)
    world.create(*case.objects)
    if case.pools_last:
        world.create(*(manifest for manifest, _ in case.pods.values()))
    world.join(emitted.groups(case.groups))
    world.install(pools)
    world.create(*(manifest for manifest, _ in case.before.values()))
    _come_true(world, case.before)
    if not case.pools_last:
        world.create(*(manifest for manifest, _ in case.pods.values()))
    _come_true(world, case.pods)


@pytest.mark.parametrize("case", PARAMETERS)
def test_the_planning_module_answers_as_karpenter_or_overlooks_what_the_case_says(case: Case) -> None:
    pools = {**emitted.groups(case.groups).planned, **emitted.pools(case.pools).planned}
    wrong = {}
    for name, (manifest, expected) in {**case.before, **case.pods}.items():
        admitted = answers(pools, manifest, case.objects)
        if isinstance(expected, On) and expected.pool in pools:
            right = expected.instance_type in admitted.get(expected.pool, ())
        else:
            right = bool(admitted) is bool(case.overlooked)  # a pod on a CPU node is a pod that no GPU pool admits
        if not right:
            wrong[name] = f"Karpenter: {expected}; planning: {admitted or 'no pool'}"
    assert not wrong, wrong


def _come_true(world: World, pods: Mapping[str, tuple[Manifest, Expectation]]) -> None:
    """Wait until what is expected of each pod is so; otherwise tell what became of them."""
    wanted = {name: expectation for name, (_, expectation) in pods.items()}
    expected = "; ".join(f"{name}: {each}" for name, each in wanted.items())
    world.until(lambda: _come_to_an_end(world.fates(), wanted), f"every pod has its fate ({expected})")
    fates = world.fates()
    wrong = [name for name, expectation in wanted.items() if not _all_meet(fates, name, expectation)]
    assert not wrong, f"expected was {expected}; there is\n{world.report()}"


def _come_to_an_end(fates: Mapping[str, Fate], wanted: Mapping[str, Expectation]) -> bool:
    """Return whether nothing more will happen: all is as expected, or a pod runs where it should not.

    A pod that is refused may still be placed: Karpenter says why it buys nothing once, and looks again.
    """
    return all(
        _all_meet(fates, name, expectation) or any(isinstance(fate, Placed) for fate in _of(fates, name))
        for name, expectation in wanted.items()
    )


def _all_meet(fates: Mapping[str, Fate], name: str, expectation: Expectation) -> bool:
    found = _of(fates, name)
    return bool(found) and all(expectation.met_by(fate) for fate in found)


def _of(fates: Mapping[str, Fate], name: str) -> list[Fate]:
    """Return what has become of the pods of an object: the pod of that name, or those of a Deployment."""
    return [fate for pod, fate in fates.items() if pod == name or pod.startswith(f"{name}-")]
