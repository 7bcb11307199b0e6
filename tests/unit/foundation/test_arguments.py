from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pytest

from eks_gpu.foundation.arguments import Problem, missing, missing_entries, refuse
from eks_gpu.recording import record


@dataclass(frozen=True)
class _Args:
    name: pulumi.Input[str] | None = "x"
    subnets: dict[str, pulumi.Input[str]] | None = None


def test_all_problems_are_told_at_once_by_property() -> None:
    problems = [Problem("vpc_id", "is missing"), Problem("subnets.us-east-1a", "is no subnet")]

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        refuse(problems, component="network")

    assert refused.value.message == (
        "network has 2 bad arguments:\n  vpc_id: is missing\n  subnets.us-east-1a: is no subnet"
    )
    assert refused.value.errors == [
        {"property_path": "vpc_id", "reason": "is missing"},
        {"property_path": "subnets.us-east-1a", "reason": "is no subnet"},
    ]


def test_one_problem_without_a_component_still_reads_as_a_sentence() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"^there are 1 bad argument:\n  name: is missing$"):
        refuse(iter([Problem("name", "is missing")]))


def test_nothing_wrong_refuses_nothing() -> None:
    assert refuse([]) is None  # type: ignore[func-returns-value] # the point: it returns instead of raising


@pytest.mark.parametrize("value", [None, ""])
def test_none_and_empty_text_are_missing(value: str | None) -> None:
    assert [problem.property for problem in missing(_Args(name=value), "name")] == ["name"]


def test_an_output_is_never_missing_whatever_it_will_hold() -> None:
    def program() -> None:
        assert missing(_Args(name=pulumi.Output.from_input("")), "name") == []

    record(program)


def test_an_empty_mapping_and_an_empty_entry_are_named() -> None:
    assert [problem.property for problem in missing_entries(_Args(), "subnets")] == ["subnets"]
    found = missing_entries(_Args(subnets={"us-east-1a": "subnet-1", "us-east-1b": ""}), "subnets")
    assert [problem.property for problem in found] == ["subnets.us-east-1b"]


def test_problems_of_a_value_inside_the_arguments_name_the_way_to_it() -> None:
    found = missing_entries(_Args(subnets={"us-east-1b": ""}), "subnets", under="network")
    assert [problem.property for problem in found] == ["network.subnets.us-east-1b"]
