"""What containers are told by command, arguments and environment."""

from __future__ import annotations

import pytest

from eks_gpu.planning.reading import NotKnownError, View
from eks_gpu.planning.told import OBJECT_STORE, Told, heard, told_to
from eks_gpu.planning.unknown import UNKNOWN


def box(**said: object) -> View:
    return View(said, "urn:job")


def settings(**said: object) -> list[tuple[str, str]]:
    told = Told()
    told.hear(box(**said))
    assert told.unknown == []
    return told.settings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("train.py", ["train.py"]),
        ("it's", ["it's"]),
        ("#1", ["#1"]),
        ('{"a":1}', ['{"a":1}']),
        ("torchrun train.py --name 'my run'", ["torchrun", "train.py", "--name", "my run"]),
        ("train.py # --resume", ["train.py"]),
        ("# first\ntrain.py --a \\\n --b", ["train.py", "--a", "--b"]),
        ("echo it's", ["echo", "it's"]),
        ("echo it's \\\n a", ["echo", "it's", "a"]),
    ],
)
def test_a_script_is_taken_apart_and_a_word_is_left_whole(text: str, words: list[str]) -> None:
    assert told_to(box(args=[text])) == words


def test_arguments_come_after_the_command() -> None:
    assert told_to(box(args=["c", "d"], command=["a", "b"])) == ["a", "b", "c", "d"]
    assert told_to(box()) == []
    assert told_to(box(command="a b", args=[{"x": 1}, 7])) == ["7"]


def test_an_argument_that_is_not_known_leaves_its_place_empty() -> None:
    place = box(command=["train", UNKNOWN], args=["--a", "b c", UNKNOWN])
    words, unknown = heard(place)
    assert words == ["train", "", "--a", "b", "c", ""]
    assert [what.path for what in unknown] == ["command[1]", "args[2]"]
    with pytest.raises(NotKnownError) as caught:
        told_to(place)
    assert caught.value.what.path == "command[1]"


def test_arguments_that_are_not_known_at_all_are_one_word() -> None:
    words, unknown = heard(box(command=["train"], args=UNKNOWN))
    assert (words, [what.path for what in unknown]) == (["train", ""], ["args"])


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        (["--out", "/x"], [("out", "/x")]),
        (["--out=/x=y"], [("out", "/x=y")]),
        (["--Xout=/x"], [("Xout", "/x")]),
        (["++trainer.out=/x", "out=/y"], [("trainer.out", "/x"), ("out", "/y")]),
        (["-o", "/x"], [("o", "/x")]),
        (["--resume", "--fast"], [("resume", ""), ("fast", "")]),
        (["--resume"], [("resume", "")]),
        (["copy", "s3://b/x", "/y"], [("", "s3://b/x")]),
        (["--from", "s3://b/x"], [("from", "s3://b/x"), ("", "s3://b/x")]),
    ],
)
def test_settings_are_names_with_values(words: list[str], pairs: list[tuple[str, str]]) -> None:
    assert settings(args=words) == pairs


def test_the_environment_is_settings_as_well() -> None:
    env = [{"name": "OUT", "value": "/x"}, {"name": "RANK", "value": 0}]
    assert settings(args=["--a", "b"], env=env) == [("a", "b"), ("OUT", "/x"), ("RANK", "0")]


@pytest.mark.parametrize(
    ("name", "matters"),
    [("OUTPUT_BUCKET", True), ("s3_path", True), ("CKPT", True), ("SAVE_DIR", True), ("RANK", False)],
)
@pytest.mark.parametrize("source", [{"value": UNKNOWN}, {"valueFrom": {"configMapKeyRef": {"name": "x"}}}])
def test_a_variable_that_may_name_a_store_is_missed_if_its_value_is_elsewhere(
    name: str, source: dict[str, object], *, matters: bool
) -> None:
    told = Told()
    told.hear(box(env=[{"name": name, **source}]))
    assert bool(told.elsewhere) is matters
    assert told.settings == []
    if matters:
        assert told.elsewhere[0].path == "env[0]"
        assert name in told.elsewhere[0].reason


def test_an_environment_out_of_a_config_map_may_name_a_store_and_out_of_a_secret_it_does_not() -> None:
    told = Told()
    told.hear(box(envFrom=[{"secretRef": {"name": "token"}}, {"configMapRef": {"name": "run"}}]))
    assert [what.path for what in told.elsewhere] == ["envFrom[1]"]


def test_what_cannot_be_read_is_remembered_and_the_rest_is_heard() -> None:
    told = Told()
    told.hear(box(args=["--a", "b"], env=UNKNOWN, envFrom=UNKNOWN))
    assert told.settings == [("a", "b")]
    assert [what.path for what in told.unknown] == ["env", "envFrom"]


@pytest.mark.parametrize("text", ["s3://b", "S3A://b", "gs://b", "az://b", "abfs://c@a", "abfss://c@a", "oci://b"])
def test_object_stores_are_known_by_their_scheme(text: str) -> None:
    assert OBJECT_STORE.search(f"x={text}/run") is not None


@pytest.mark.parametrize("text", ["file:///x", "/mnt/s3", "https://s3.amazonaws.com/b", "mys3://b"])
def test_other_paths_are_none(text: str) -> None:
    assert OBJECT_STORE.search(text) is None
