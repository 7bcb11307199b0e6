from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sandbox import programs, stacks
from sandbox.checkout import Checkout

STACK_FILE = """\
# a comment
secretsprovider: awskms://alias/theirs
encryptedkey: AQICAHh=
config:
  aws:region: us-east-1
  app:when: 2026-01-01
  app:password:
    secure: v1:abc:def==
  app:hook: {secure: v1:ghi}
  app:nested:
    tokens:
      - secure: v1:jkl
      - plain
    count: 0123
encryptionsalt: v1:theirs=:v1:x
"""


@pytest.fixture
def program(tmp_path: Path) -> programs.Program:
    (tmp_path / "Pulumi.yaml").write_text("name: theirs\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(STACK_FILE)
    return programs.load(tmp_path / "Pulumi.yaml")


def test_the_copy_is_made_in_the_sandbox_and_the_tracked_file_is_only_read(
    checkout: Checkout, program: programs.Program
) -> None:
    source = program.stack_file("dev")
    source.chmod(0o444)
    before = (source.read_bytes(), source.stat().st_mtime_ns)

    copy = stacks.copy_config(checkout, program, "dev", source)
    copy.write_text("what the engine makes of it")
    again = stacks.copy_config(checkout, program, "dev", source)

    assert copy == again
    assert copy.is_relative_to(checkout.directory)
    assert (source.read_bytes(), source.stat().st_mtime_ns) == before
    assert "aws:region: us-east-1" in again.read_text()


def test_values_encrypted_for_somebody_else_become_placeholders(checkout: Checkout, program: programs.Program) -> None:
    copy = stacks.copy_config(checkout, program, "dev", program.stack_file("dev"))

    read = yaml.safe_load(copy.read_text())
    assert set(read) == {"config"}
    assert read["config"]["app:password"] == stacks.PLACEHOLDER
    assert read["config"]["app:hook"] == stacks.PLACEHOLDER
    assert read["config"]["app:nested"]["tokens"] == [stacks.PLACEHOLDER, "plain"]
    assert "secure" not in copy.read_text()
    # What YAML 1.1 would change in passing through (dates, octal numbers, comments) is as it was written.
    for untouched in ("# a comment", "app:when: 2026-01-01", "count: 0123"):
        assert untouched in copy.read_text()


def test_the_salt_the_engine_added_to_the_copy_is_kept(checkout: Checkout, program: programs.Program) -> None:
    copy = stacks.copy_config(checkout, program, "dev", program.stack_file("dev"))
    copy.write_text(f"{copy.read_text()}encryptionsalt: v1:ours=:v1:y\n")

    again = stacks.copy_config(checkout, program, "dev", program.stack_file("dev"))

    assert again.read_text().count("encryptionsalt: v1:ours=:v1:y\n") == 1
    assert "theirs=" not in again.read_text()


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}:[a-z]{1,8}", fullmatch=True), st.text() | st.integers()))
def test_a_file_without_secrets_is_copied_as_it_is(config: dict[str, object]) -> None:
    text = yaml.safe_dump({"config": config}, allow_unicode=True)

    assert stacks.without_foreign_secrets(text) == text


def test_a_stack_that_was_never_built_is_empty_and_not_there(checkout: Checkout, program: programs.Program) -> None:
    assert stacks.is_empty(checkout, program, "dev")
    assert not stacks.exists(checkout, program, "dev")
    assert stacks.resource_counts(checkout) == {}


@pytest.mark.parametrize(
    ("latest", "count"),
    [
        ("null", 0),
        ('{"resources": []}', 0),
        ('{"resources": [{}, {}]}', 2),
        ('{"pending_operations": [{"type": "creating"}]}', 1),
    ],
)
def test_a_stack_holds_its_resources_and_what_may_have_been_left_half_made(
    checkout: Checkout, program: programs.Program, latest: str, count: int
) -> None:
    state = stacks.state_file(checkout, program, "dev")
    state.parent.mkdir(parents=True)
    state.write_text(f'{{"checkpoint": {{"latest": {latest}}}}}')

    assert stacks.resource_counts(checkout) == {"theirs/dev": count}
    assert stacks.is_empty(checkout, program, "dev") is (count == 0)
