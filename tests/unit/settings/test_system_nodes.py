from __future__ import annotations

import pytest
from pydantic import ValidationError

from eks_gpu.settings.system_nodes import SystemNodes, architecture


def _problem(block: object) -> str:
    with pytest.raises(ValidationError) as refused:
        SystemNodes.model_validate(block)
    (error,) = refused.value.errors()
    return error["msg"].removeprefix("Value error, ")


def test_two_nodes_by_default_because_controllers_have_two_replicas() -> None:
    nodes = SystemNodes()
    assert (nodes.size.min, nodes.size.max, nodes.arch) == (2, 4, "amd64")


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("m7i.xlarge", "amd64"),
        ("m7i-flex.large", "amd64"),
        ("x2iedn.32xlarge", "amd64"),
        ("u7i-12tb.224xlarge", "amd64"),
        ("m7g.large", "arm64"),
        ("c7gn.xlarge", "arm64"),
        ("i8ge.large", "arm64"),
        ("a1.large", "arm64"),
    ],
)
def test_an_instance_types_name_tells_its_architecture(name: str, arch: str) -> None:
    assert architecture(name) == arch


@pytest.mark.parametrize("name", ["g5.xlarge", "p4d.24xlarge", "inf2.xlarge", "trn1.2xlarge", "g4ad.xlarge"])
def test_accelerated_types_are_refused(name: str) -> None:
    assert _problem({"instance_types": [name]}) == (
        f"{name} has an accelerator, which controllers would leave idle; use a general type such as m7i.xlarge"
    )


def test_one_architecture_is_asked_for() -> None:
    assert _problem({"instance_types": ["m7i.xlarge", "m7g.xlarge"]}) == (
        "m7i.xlarge (amd64) and m7g.xlarge (arm64) have different architectures, and one image cannot serve both; "
        "keep to one"
    )


def test_a_name_that_is_no_instance_type_is_refused() -> None:
    assert _problem({"instance_types": ["large"]}) == "'large' is no instance type; write one such as m7i.xlarge"


def test_fewer_than_two_nodes_are_refused() -> None:
    assert "greater than or equal to 2" in _problem({"size": {"min": 1, "max": 2}})


def test_a_maximum_below_the_minimum_is_refused() -> None:
    assert _problem({"size": {"min": 5, "max": 4}}) == "max is 4, less than min, 5; give a max of at least 5"
