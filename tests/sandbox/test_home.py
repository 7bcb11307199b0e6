from __future__ import annotations

import json

import pytest

from sandbox import home
from sandbox.aws import Server
from sandbox.checkout import ROOT, Checkout
from sandbox.cli import main
from sandbox.home import Home, Kubernetes
from sandbox.programs import Program, load

SERVER = Server(4711, 42, "then")


@pytest.fixture
def program() -> Program:
    return load(ROOT / "Pulumi.yaml")


def deploy(checkout: Checkout, stack: str, resources: int) -> None:
    state = checkout.state / ".pulumi" / "stacks" / "eks-gpu" / f"{stack}.json"
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text(json.dumps({"checkpoint": {"latest": {"resources": [{}] * resources}}}))


def test_a_stack_goes_on_where_it_was_built_until_it_is_empty(checkout: Checkout, program: Program) -> None:
    assert home.read(checkout, program, "local") is None
    there = Home(SERVER, Kubernetes.STAND_IN)
    home.write(checkout, program, "local", there)
    assert home.read(checkout, program, "local") is None, "nothing was built yet"

    deploy(checkout, "local", 2)
    assert home.read(checkout, program, "local") == there

    deploy(checkout, "local", 0)
    assert home.read(checkout, program, "local") is None


def test_a_record_of_an_older_form_is_no_home(checkout: Checkout, program: Program) -> None:
    home.write(checkout, program, "local", Home(SERVER, Kubernetes.REAL))
    deploy(checkout, "local", 1)
    (checkout.directory / "built-in" / "eks-gpu.local.json").write_text('{"port": 1}')
    assert home.read(checkout, program, "local") is None


def test_one_stack_at_a_time_lives_in_the_real_kubernetes(checkout: Checkout, program: Program) -> None:
    for stack, kubernetes, resources in (
        ("dev", Kubernetes.REAL, 3),
        ("staging", Kubernetes.STAND_IN, 3),
        ("prod", Kubernetes.REAL, 0),
    ):
        home.write(checkout, program, stack, Home(SERVER, kubernetes))
        deploy(checkout, stack, resources)
    assert list(home.others_in_kubernetes(checkout, program, "local")) == ["eks-gpu/dev"]
    assert list(home.others_in_kubernetes(checkout, program, "dev")) == []


@pytest.mark.engine
def test_a_stack_does_not_move_to_another_kubernetes(
    checkout: Checkout, program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    home.write(checkout, program, "local", Home(SERVER, Kubernetes.STAND_IN))
    deploy(checkout, "local", 1)

    assert main(["up", "local", "--kubernetes", "real"]) == 2

    assert "built with the stand-in Kubernetes, and cannot move to the real one; `make down` first" in (
        capsys.readouterr().err
    )
