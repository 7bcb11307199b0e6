"""Waivers: who accepted which finding until when."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu_policies import examples
from eks_gpu_policies.engine import evaluate
from eks_gpu_policies.report import PACK, Report
from eks_gpu_policies.rule import Environment, Level
from eks_gpu_policies.rules import BY_ID, RULES
from eks_gpu_policies.waivers import FIELDS, Waiver, WaiverError, parse_waivers
from tests.support.judging import TODAY

SOUND = {
    "rule": "NODE004",
    "resource": "inference",
    "owner": "ml-platform",
    "reason": "moves to tainted nodes in December",
    "until": "2026-12-31",
}
UNTAINTED = examples.node_group(taints=None)


def judged(*waivers: Waiver, environment: Environment = Environment.PROD) -> Report:
    return evaluate((UNTAINTED,), environment=environment, rules=RULES, today=TODAY, waivers=waivers)


def about(report: Report, rule: str) -> list[str]:
    return [finding.message for finding in report.findings if finding.rule == rule]


def waiver(**fields: str) -> Waiver:
    return parse_waivers([{**SOUND, **fields}])[0]


def test_a_waiver_turns_its_finding_into_a_waived_one() -> None:
    report = judged(waiver())
    assert about(report, "NODE004") == []
    assert [(item.finding.rule, item.waiver.owner) for item in report.waived] == [("NODE004", "ml-platform")]
    assert next(count for count in report.rules if count.rule == "NODE004").waived == 1


def test_a_waiver_may_name_the_urn() -> None:
    assert about(judged(waiver(resource=UNTAINTED.urn)), "NODE004") == []


@pytest.mark.parametrize("fields", [{"resource": "infer"}, {"resource": "Inference"}, {"rule": "NODE001"}])
def test_a_waiver_covers_exactly_what_it_names(fields: dict[str, str]) -> None:
    assert about(judged(waiver(**fields)), "NODE004")


def test_a_waiver_holds_on_its_last_day_and_not_on_the_next() -> None:
    assert about(judged(waiver(until="2026-11-21")), "NODE004") == []
    report = judged(waiver(until="2026-11-20"))
    assert about(report, "NODE004")
    assert about(report, PACK) == ["expired on 2026-11-20 and is ignored"]


def test_an_expired_waiver_binds_in_prod_and_warns_in_dev() -> None:
    levels = {
        environment: next(
            finding.level
            for finding in judged(waiver(until="2026-01-01"), environment=environment).findings
            if finding.rule == PACK
        )
        for environment in Environment
    }
    assert levels == {
        Environment.DEV: Level.ADVISORY,
        Environment.STAGING: Level.MANDATORY,
        Environment.PROD: Level.MANDATORY,
    }


def test_a_waiver_that_matches_nothing_is_advice_to_remove_it() -> None:
    report = judged(waiver(resource="gone"), waiver(rule="NODE999"))
    assert about(report, PACK) == ["matches no finding", "names NODE999, which is no rule of this pack"]
    assert {finding.level for finding in report.findings if finding.rule == PACK} == {Level.ADVISORY}


def test_a_waiver_of_a_rule_that_is_off_here_is_kept_for_where_it_is_on() -> None:
    sliced = waiver(rule="SHARE002")
    assert about(judged(sliced, environment=Environment.DEV), PACK) == []
    assert about(judged(sliced, environment=Environment.PROD), PACK) == ["matches no finding"]


def test_a_waiver_of_what_could_not_be_judged_yet_is_not_called_idle() -> None:
    unclear = examples.node_group(launchTemplate={"id": "lt-1", "version": "1"})
    report = evaluate(
        (unclear,),
        environment=Environment.PROD,
        rules=(BY_ID["NODE001"],),
        today=TODAY,
        waivers=(waiver(rule="NODE001"),),
    )
    assert about(report, PACK) == []


def test_nothing_is_said_of_idle_waivers_while_resources_are_still_to_come() -> None:
    report = evaluate((), environment=Environment.PROD, rules=RULES, today=TODAY, waivers=(waiver(),), partial=True)
    assert report.findings == ()


def test_no_waivers_are_none() -> None:
    assert parse_waivers(None) == ()
    assert parse_waivers([]) == ()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("NODE004", "waivers is 'NODE004'; it must be a list of {rule, resource, owner, reason, until}"),
        (["NODE004"], "waivers[0] is 'NODE004'; it must be a mapping with rule, resource, owner, reason, until"),
        ([{**SOUND, "rule": "NODE*"}], "waivers[0].rule is 'NODE*'; it must be one rule's id, such as NODE006"),
        ([{**SOUND, "until": "soon"}], "waivers[0].until is 'soon'; it must be a day such as \"2026-12-31\""),
        ([{**SOUND, "until": "2026-02-30"}], "waivers[0].until is '2026-02-30'; it must be a day"),
        ([{**SOUND, "until": 20261231}], "waivers[0].until is 20261231; it must be a text in quotes"),
        ([{**SOUND, "owner": " "}], "waivers[0].owner is ' '; it must be a text in quotes that is not empty"),
        ([{**SOUND, "expires": "x"}], "waivers[0].expires is not a field of a waiver; they are rule, resource"),
    ],
)
def test_a_malformed_waiver_is_refused_with_its_path_and_value(value: object, says: str) -> None:
    with pytest.raises(WaiverError) as caught:
        parse_waivers(value)
    assert caught.value.problems[0].startswith(says)


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_needed(field: str) -> None:
    with pytest.raises(WaiverError, match=rf"waivers\[1\]\.{field} is missing; a waiver needs rule, resource, owner"):
        parse_waivers([SOUND, {key: value for key, value in SOUND.items() if key != field}])


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(WaiverError) as caught:
        parse_waivers([{"rule": "x"}, 3], "here")
    assert len(caught.value.problems) == 6
    assert caught.value.problems[-1].startswith("here[1] is 3")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_whatever_it_is_it_is_waivers_or_refused(value: object) -> None:
    def understood() -> bool:
        try:
            return all(isinstance(item, Waiver) for item in parse_waivers(value))
        except WaiverError as error:
            return bool(error.problems)

    assert understood()


@given(st.dates(min_value=dt.date(2000, 1, 1)), st.dates(min_value=dt.date(2000, 1, 1)))
def test_a_waiver_has_expired_when_its_last_day_is_over(until: dt.date, today: dt.date) -> None:
    assert waiver(until=until.isoformat()).expired(today) is (today > until)
