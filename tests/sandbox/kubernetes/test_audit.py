from __future__ import annotations

import json
from typing import Any

import yaml

from sandbox.checkout import Checkout
from sandbox.kubernetes import audit, layout


def test_events_are_in_the_order_of_the_answers_across_files(checkout: Checkout) -> None:
    _write(checkout, "audit.log", _line("third", at="2026-11-21T16:00:03.5Z"))
    _write(
        checkout,
        "audit-2026-11-21T16-00-02.900.log",
        _line("second", at="2026-11-21T16:00:02.000001Z"),
        _line("first", at="2026-11-21T16:00:01.999999Z"),
    )

    assert [event.name for event in audit.events(checkout)] == ["first", "second", "third"]


def test_a_line_that_is_only_half_there_is_left_out(checkout: Checkout) -> None:
    _write(checkout, "audit.log", _line("whole"), _line("half")[:40])

    assert [event.name for event in audit.events(checkout)] == ["whole"]


def test_no_log_is_no_events(checkout: Checkout) -> None:
    assert audit.events(checkout) == []


def test_an_object_is_created_by_any_verb_that_is_answered_so(checkout: Checkout) -> None:
    _write(
        checkout,
        "audit.log",
        _line("posted", verb="create", code=201),
        _line("applied", verb="patch", code=201),
        _line("changed", verb="patch", code=200),
        _line("refused", verb="create", code=409),
        _line("tried", verb="create", code=201, uri="/api/v1/namespaces/a/pods?dryRun=All"),
        _line("bound", verb="create", code=201, subresource="binding"),
    )

    assert [event.name for event in audit.events(checkout) if event.created] == ["posted", "applied"]


def test_an_object_is_deleted_if_it_was_there_and_meant_itself(checkout: Checkout) -> None:
    _write(
        checkout,
        "audit.log",
        _line("gone", verb="delete", code=200),
        _line("absent", verb="delete", code=404),
        _line("evicted", verb="delete", code=200, subresource="eviction"),
    )

    assert [event.name for event in audit.events(checkout) if event.deleted] == ["gone"]


def test_the_policy_leaves_out_signs_of_life_and_writes_down_the_rest() -> None:
    policy = yaml.safe_load(audit.POLICY)

    assert policy["kind"] == "Policy"
    silent, written = policy["rules"]
    assert silent["level"] == "None"
    assert {"group": "coordination.k8s.io"} in silent["resources"]
    assert written["level"] == "Metadata"
    assert {"create", "delete"} <= set(written["verbs"])
    # Without a list of resources, a rule is for all of them.
    assert "resources" not in written


def _line(name: str, *, verb: str = "create", code: int = 201, subresource: str = "", **rest: str) -> str:
    target: dict[str, Any] = {"resource": "pods", "namespace": "a", "name": name, "apiVersion": "v1"}
    at = rest.get("at", "2026-11-21T16:00:00Z")
    event = {
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": rest.get("uri", "/api/v1/namespaces/a/pods"),
        "user": {"username": "me"},
        "userAgent": "test",
        "objectRef": target | ({"subresource": subresource} if subresource else {}),
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": at,
        "stageTimestamp": at,
    }
    return json.dumps(event)


def _write(checkout: Checkout, name: str, *lines: str) -> None:
    layout.audit_log(checkout).with_name(name).write_text("\n".join(lines) + "\n")
