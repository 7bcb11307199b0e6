"""What an admission policy says of an object is what its rule says, by an interpreter of CEL.

tests/e2e/admission puts the same objects before a real API server, all of them.
"""

from __future__ import annotations

import copy
from typing import Final

import pytest

from eks_gpu_policies.admission.manifests import SAID
from eks_gpu_policies.admission.pools import POOLS
from eks_gpu_policies.admission.said import Said
from tests.support.admission_cases import Case, from_rules, obeys
from tests.support.admission_edges import edges
from tests.support.cel import Policy

CASES: Final = (*edges(), *from_rules())
_RIGHT: Final = 4
"""Of so many objects that obey one is asked about: most are right for the same reason."""
_POOLS: Final = 4
"""Of so many node pools one: each takes the interpreter a third of a second, for its catalogue."""

_EACH: Final = pytest.mark.parametrize("said", SAID, ids=lambda said: said.name)


def concerned(said: Said) -> dict[str, tuple[Case, bool]]:
    """Return the objects that are asked about, by name, each with whether its rule finds that it obeys."""
    cases = {case.name: (case, obeys(said, case)) for case in CASES if case.concerns(said)}
    few = _POOLS if said in POOLS else 1
    wrong = [name for name, (_, sound) in cases.items() if not sound][::few]
    right = [name for name, (_, sound) in cases.items() if sound][:: few * _RIGHT]
    return {name: cases[name] for name in (*wrong, *right)}


@_EACH
def test_rule_and_expression_give_the_same_verdict(said: Said) -> None:
    policy = Policy(said)
    asked = concerned(said)
    answers = {name: policy.refusal(case.manifest) for name, (case, _) in asked.items()}
    assert {sound for _, sound in asked.values()} == {True, False}, "both verdicts are put to the proof"
    assert {name: answers[name] for name, (_, sound) in asked.items() if sound != (answers[name] is None)} == {}


@_EACH
def test_a_refusal_says_what_is_wrong(said: Said) -> None:
    wrong = next(case for case in CASES if case.concerns(said) and not obeys(said, case))
    why = Policy(said).refusal(wrong.manifest)
    assert why
    assert not why.endswith((".", ": ", " "))
    assert "\n" not in why


@pytest.mark.parametrize("image", ["IMAGE_NAME", "example.com/IMAGE:latest", "${IMAGE}:latest", "{{image}}"])
def test_an_image_that_is_filled_in_later_is_let_in(image: str) -> None:
    said = next(each for each in SAID if each.rule == "WORK013")
    moving = next(case for case in CASES if case.name == "the image server:latest")
    manifest = copy.deepcopy(moving.manifest)
    assert Policy(said).refusal(manifest)
    manifest["spec"]["containers"][0]["image"] = image
    assert Policy(said).refusal(manifest) is None


def test_every_object_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 300
