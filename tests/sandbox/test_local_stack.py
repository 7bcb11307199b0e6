from __future__ import annotations

import hashlib

import pytest

from sandbox import aws, stacks
from sandbox.checkout import Checkout
from sandbox.cli import main
from sandbox.commands import project
from sandbox.inventory import Account

pytestmark = pytest.mark.engine


def fingerprints() -> dict[str, str]:
    folder = project.load().stack_folder
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def test_the_local_stack_comes_up_stays_as_it_is_and_goes_without_a_trace(
    checkout: Checkout, capfd: pytest.CaptureFixture[str]
) -> None:
    tracked = fingerprints()

    assert main(["up", "local", "--kubernetes", "stand-in"]) == 0
    server = aws.running(checkout)
    assert server is not None
    kinds = {line.split(" ", 1)[1].rsplit(" ", 1)[0] for line in Account(server.url).contents(["us-east-1"])}
    assert {"VPC", "EKS cluster", "launch template", "file system", "queue", "role"} <= kinds

    assert main(["up", "local", "--", "--skip-preview", "--expect-no-changes"]) == 0

    capfd.readouterr()
    assert main(["down", "local", "--", "--skip-preview"]) == 0
    assert capfd.readouterr().out.endswith("nothing is left in AWS; it is stopped\n")
    assert stacks.resource_counts(checkout) == {"eks-gpu/local": 0}
    assert fingerprints() == tracked


def test_a_preview_shows_the_verdict_first_then_the_resources_then_what_the_policies_say(
    checkout: Checkout, capfd: pytest.CaptureFixture[str]
) -> None:
    tracked = fingerprints()

    assert main(["preview"]) == 0

    said = capfd.readouterr()
    verdict, title, policies = (said.out.index(text) for text in ("dev passes", "Previewing update (dev)", "Policies:"))
    assert verdict < title < policies
    assert "warning" not in f"{said.out}{said.err}"
    assert aws.running(checkout) is None, "nothing is deployed, so nothing stays"
    assert fingerprints() == tracked
