from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eks_gpu.settings import stack_file
from eks_gpu.settings.platform import Environment
from eks_gpu.settings.problems import (
    InvalidSettingsError,
    MalformedStackFileError,
    PlatformMissingError,
    SettingsError,
    StackFileMissingError,
)

from .conftest import GOOD

Write = Callable[..., Path]
STACKS = sorted((Path(__file__).parents[3] / "stacks").glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_every_stack_of_the_project_loads(path: Path) -> None:
    loaded = stack_file.load(path)
    assert loaded.stack == stack_file.stack_name(path)
    assert loaded.config["aws:region"]


def test_a_good_file_becomes_a_platform(write: Write, good: str) -> None:
    loaded = stack_file.load(write(good))
    assert loaded.stack == "prod"
    assert loaded.platform.environment is Environment.PROD
    assert list(loaded.platform.node_pools) == ["g5", "p4d"]
    assert loaded.platform.node_pools["g5"].instance_types == ("g5.xlarge", "g5.2xlarge")
    assert loaded.platform.waivers[0].last_day.isoformat() == "2026-12-31"
    assert loaded.platform.workloads is None


def test_a_platform_cannot_be_changed(write: Write, good: str) -> None:
    platform = stack_file.load(write(good)).platform
    with pytest.raises(ValueError, match="frozen"):
        platform.owner = "someone"  # type: ignore[misc] # the point: it is refused


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ("prd", 'no stack "prd" in stacks; stacks there are: dev, prod; did you mean prod?'),
        ("qa", 'no stack "qa" in stacks; stacks there are: dev, prod'),
    ],
)
def test_an_unknown_stack_is_one_sentence_that_names_those_there_are(
    write: Write, good: str, stack: str, message: str
) -> None:
    write(good, "dev")
    with pytest.raises(StackFileMissingError) as raised:
        stack_file.load(write(good).with_name(f"Pulumi.{stack}.yaml"))
    assert str(raised.value) == message


def test_a_directory_without_stacks_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StackFileMissingError, match=r'no stack "dev" in .*; there are none'):
        stack_file.load(tmp_path / "Pulumi.dev.yaml")


def test_a_directory_in_place_of_the_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StackFileMissingError, match=r"cannot be read: Is a directory"):
        stack_file.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "config: {a: 1",
            MalformedStackFileError,
            "stacks/Pulumi.prod.yaml is not YAML: expected ',' or '}', but got '<stream end>' (line 1, column 14)",
        ),
        (
            "",
            PlatformMissingError,
            "stacks/Pulumi.prod.yaml has no eks-gpu:platform under config; keys there are none",
        ),
        (
            "- a",
            MalformedStackFileError,
            "stacks/Pulumi.prod.yaml is no stack file; it must be a block with config: and eks-gpu:platform in it",
        ),
        (
            "config: 3",
            MalformedStackFileError,
            "stacks/Pulumi.prod.yaml: config must be a block of keys such as eks-gpu:platform",
        ),
        (
            "encryptionsalt: x",
            PlatformMissingError,
            "stacks/Pulumi.prod.yaml has no eks-gpu:platform under config; keys there are none",
        ),
        (
            "config: {aws:region: us-east-1}",
            PlatformMissingError,
            "stacks/Pulumi.prod.yaml has no eks-gpu:platform under config; keys there are aws:region",
        ),
        (
            "config: {eks_gpu:platform: {}}",
            PlatformMissingError,
            "stacks/Pulumi.prod.yaml has no eks-gpu:platform under config; rename eks_gpu:platform to eks-gpu:platform",
        ),
        (
            "config:\n  a: 1\n  a: 2",
            InvalidSettingsError,
            "stacks/Pulumi.prod.yaml: config.a (line 3): is given twice, first on line 2; remove one of the two",
        ),
    ],
)
def test_a_file_that_is_no_stack_file_is_one_sentence(
    write: Write, text: str, kind: type[SettingsError], message: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        stack_file.load(write(text))
    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_bytes_that_are_no_text_are_one_sentence(write: Write) -> None:
    path = write("")
    path.write_bytes(b"config: \xff")
    with pytest.raises(MalformedStackFileError, match=r"^stacks/Pulumi\.prod\.yaml is no UTF-8 text \(byte 8\)$"):
        stack_file.load(path)


def test_other_peoples_configuration_is_none_of_our_business(write: Write, good: str) -> None:
    text = good.replace(
        "  aws:region: us-east-1\n", "  aws:region: us-east-1\n  other:since: 2026-01-01\n  other:on: yes\n"
    )
    assert stack_file.load(write(text)).config["other:on"] == "yes"


def test_a_key_given_twice_beside_the_platform_is_reported_with_it(write: Write, good: str) -> None:
    text = good.replace("  aws:region: us-east-1\n", "  a: 1\n  a: 2\n").replace("count: 2", "count: 0")
    with pytest.raises(InvalidSettingsError) as raised:
        stack_file.load(write(text))
    assert [str(problem) for problem in raised.value.problems] == [
        "config.a (line 3): is given twice, first on line 2; remove one of the two",
        "node_groups.inference.count (line 19): is 0; must be at least 1",
    ]


@pytest.mark.parametrize(
    ("text", "config"),
    [("", {}), ("encryptionsalt: v1", {}), ("config: {my:size: 3}", {"my:size": 3}), ("config:", {})],
)
def test_the_file_of_a_program_without_a_platform_can_be_read(
    write: Write, text: str, config: dict[str, object]
) -> None:
    found = stack_file.read(write(text))
    assert not isinstance(found, stack_file.StackFile)
    assert found.config == config


def test_the_configuration_is_handed_over_as_the_engine_does(write: Write, good: str) -> None:
    text = good.replace(
        "  aws:region: us-east-1\n",
        "  aws:region: us-east-1\n  aws:retries: 3\n  eks-gpu:token: {secure: v1:abc=}\n"
        "  x:y: {a: {secure: v1:def=}, b: [true]}\n",
    )
    loaded = stack_file.load(write(text))
    config = loaded.engine_config()
    assert config["aws:region"] == "us-east-1"
    assert config["aws:retries"] == "3"
    assert config["eks-gpu:token"] == stack_file.UNREAD_SECRET
    assert json.loads(config["x:y"]) == {"a": stack_file.UNREAD_SECRET, "b": [True]}
    assert json.loads(config["eks-gpu:platform"])["environment"] == "prod"
    assert loaded.secrets == {"eks-gpu:token", "x:y"}


def _leaves(data: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(data, dict):
        return [path, *(leaf for key, value in data.items() for leaf in _leaves(value, (*path, key)))]
    if isinstance(data, list):
        return [path, *(leaf for index, value in enumerate(data) for leaf in _leaves(value, (*path, index)))]
    return [path]


def _flow(data: object, scalars: dict[tuple[str | int, ...], str], path: tuple[str | int, ...] = ()) -> str:
    """Write data as one line of YAML, with the text of some scalars replaced."""
    if path in scalars:
        return scalars[path]
    if isinstance(data, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_flow(v, scalars, (*path, k))}" for k, v in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(_flow(value, scalars, (*path, index)) for index, value in enumerate(data)) + "]"
    return json.dumps(data)


PLATFORM = yaml.safe_load(GOOD)["config"]["eks-gpu:platform"]
WORDS = """true yes ~ 0 -1 1.5 1e400 .nan 0755 2026-12-31 12:30 '' "x" [] {} [[]] {"a":{"b":1}} {"existing":1} <<"""
SCALARS = st.one_of(
    st.sampled_from(WORDS.split()),
    st.text(max_size=12),
    st.integers().map(str),
    st.floats().map(str),
    st.text(max_size=12).map(json.dumps),
)


@given(st.dictionaries(st.sampled_from(_leaves(PLATFORM)), SCALARS, min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_scalar_in_any_place_makes_a_traceback(tmp_path: Path, scalars: dict[tuple[str | int, ...], str]) -> None:
    path = tmp_path / "Pulumi.fuzz.yaml"
    path.write_text(f'config: {{"eks-gpu:platform": {_flow(PLATFORM, scalars)}}}', encoding="utf-8")
    with suppress(SettingsError):
        assert stack_file.load(path).platform.owner
