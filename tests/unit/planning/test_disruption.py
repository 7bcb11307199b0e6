"""What Karpenter may do to a node while a job runs there."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning import disruption
from eks_gpu.planning.disruption import HOUR, LONGEST_JOB, NEVER, Budget, Contract, Guest, Reason, lasting
from eks_gpu.planning.reading import NotKnown, NotKnownError

UNCLEAR = NotKnown("urn", "spec.disruption.budgets[0]")
SAFE = Contract(
    policy="WhenEmpty",
    consolidate_after=900,
    budgets=(Budget(nodes="0", reasons=frozenset({"Drifted"})),),
    expire_after=NEVER,
    grace=NEVER,
)
JOB = Guest(name="job", runs=LONGEST_JOB)
STEADFAST = dataclasses.replace(JOB, undisturbed=NEVER)
CLAUSES = (disruption.consolidation, disruption.restart, disruption.drift, disruption.expiry)


def changed(**parts: object) -> Contract:
    return dataclasses.replace(SAFE, **parts)  # type: ignore[arg-type]  # parts are fields


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("Never", NEVER), ("720h", 720 * HOUR), ("1h30m", 5400), ("0s", 0), ("3d", None), ("never", None), ("", None)],
)
def test_a_duration_is_gos_or_never(text: str, seconds: float | None) -> None:
    assert lasting(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"), [(NEVER, "Never"), (72 * HOUR, "72 h"), (900, "15 min"), (30, "30 s"), (0, "0 s")]
)
def test_durations_are_said_as_people_read_them(seconds: float, text: str) -> None:
    assert disruption.hours(seconds) == text


@pytest.mark.parametrize(
    ("schedule", "lasts", "always"),
    [
        (None, None, True),
        ("* * * * *", 60, True),
        ("*/5 * * * *", 60, False),
        ("15 * * * *", HOUR, True),
        ("15 * * * *", HOUR - 1, False),
        ("0 0 * * *", 24 * HOUR, True),
        ("0 0 1 * *", 31 * 24 * HOUR, True),
        ("0 0 1 * *", 30 * 24 * HOUR, False),
        ("0 0 * * 0", 168 * HOUR, True),
        ("0 0 1-7 * *", 192 * HOUR, False),
        ("0 0 1 1 1", 192 * HOUR, False),
        ("@weekly", 168 * HOUR, True),
        ("@hourly", HOUR, True),
        ("@yearly", 168 * HOUR, False),
        ("0 0 * * *", None, False),
        ("nonsense", 24 * HOUR, False),
    ],
)
def test_a_budget_always_holds_without_a_schedule_or_with_one_that_comes_back_in_time(
    schedule: str | None, lasts: float | None, always: bool
) -> None:
    assert Budget(nodes="0", schedule=schedule, lasts=lasts).always is always


@given(st.integers(min_value=0, max_value=100), st.booleans())
def test_a_budget_forbids_exactly_when_it_is_zero(number: int, percent: bool) -> None:
    assert Budget(nodes=f"{number}%" if percent else str(number)).forbids is (number == 0)


def test_a_budget_without_reasons_is_about_all_and_one_with_none_listed_about_none() -> None:
    assert all(Budget(nodes="0").concerns(reason) for reason in Reason)
    assert not any(Budget(nodes="0", reasons=frozenset()).concerns(reason) for reason in Reason)


def test_the_safe_contract_is_broken_nowhere() -> None:
    assert [clause(SAFE, guests) for clause in CLAUSES for guests in ((), (JOB,), (STEADFAST,))] == [None] * 12


POLICIES = st.sampled_from(["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"])
TIMES = st.sampled_from([0.0, 60.0, 599.0, 600.0, 3600.0, 72.0 * HOUR, 720.0 * HOUR, NEVER])
BUDGETS = st.lists(
    st.builds(
        Budget,
        nodes=st.sampled_from(["0", "1", "10%"]),
        reasons=st.none() | st.frozensets(st.sampled_from(list(Reason))),
        schedule=st.sampled_from([None, "0 0 * * *"]),
        lasts=st.sampled_from([None, 8.0 * HOUR, 24.0 * HOUR]),
    ),
    max_size=3,
).map(tuple)
CONTRACTS = st.builds(
    Contract, policy=POLICIES, consolidate_after=TIMES, budgets=BUDGETS, expire_after=TIMES, grace=TIMES
)


@given(CONTRACTS, st.lists(st.builds(Guest, name=st.just("job"), runs=st.sampled_from([HOUR, LONGEST_JOB]))))
def test_another_budget_of_zero_never_breaks_a_clause(contract: Contract, guests: list[Guest]) -> None:
    assert isinstance(contract.budgets, tuple)
    stricter = dataclasses.replace(contract, budgets=(*contract.budgets, Budget(nodes="0")))
    for clause in CLAUSES:
        if clause(contract, guests) is None:
            assert clause(stricter, guests) is None


@given(CONTRACTS)
def test_pods_that_refuse_never_break_a_clause_that_others_keep(contract: Contract) -> None:
    for clause in CLAUSES:
        if clause(contract, (JOB,)) is None:
            assert clause(contract, (STEADFAST,)) is None


@given(CONTRACTS)
def test_a_pool_that_never_expires_never_breaks_the_clause_about_it(contract: Contract) -> None:
    assert disruption.expiry(dataclasses.replace(contract, expire_after=NEVER), (JOB,)) is None


def test_an_unknown_budget_matters_only_where_no_known_one_forbids() -> None:
    known = (UNCLEAR, Budget(nodes="0"))
    assert changed(budgets=known).forbids(Reason.DRIFTED)
    with pytest.raises(NotKnownError):
        changed(budgets=(UNCLEAR, Budget(nodes="1"))).forbids(Reason.DRIFTED)


def test_how_long_a_job_runs_says_how_likely_it_is_hit() -> None:
    contract = changed(expire_after=144.0 * HOUR)
    assert "about 50 % of jobs of 72 h" in str(disruption.expiry(contract, (JOB,)))
    assert "about 100 % of jobs of 72 h" in str(disruption.expiry(changed(expire_after=HOUR), ()))


def test_the_longest_of_several_jobs_decides() -> None:
    short = dataclasses.replace(JOB, runs=2.0 * HOUR)
    assert disruption.longest((short, JOB)) == LONGEST_JOB
    assert disruption.longest((short,)) == 2 * HOUR
    assert disruption.longest(()) == LONGEST_JOB


def test_whoever_does_not_say_how_long_saving_takes_is_asked_nothing_on_demand() -> None:
    patient = dataclasses.replace(JOB, pod_grace=600)
    assert disruption.farewell(patient, spot=False) is None
    assert "gone after 2 min" in str(disruption.farewell(patient, spot=True))
    assert "saving takes 5 min" in str(disruption.farewell(dataclasses.replace(JOB, save=300), spot=False))
