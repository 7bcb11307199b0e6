"""References to images are taken apart as a container runtime does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.images.image_reference import ImageReference, image_reference, is_filled_in_later

PART = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)
TAG = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}", fullmatch=True)
HOST = st.sampled_from(["", "nvcr.io/", "localhost:5000/", "registry.example.com:8443/"])


@given(host=HOST, path=st.lists(PART, min_size=1, max_size=3), tag=st.none() | TAG, digest=st.booleans())
def test_what_is_put_together_is_taken_apart(host: str, path: list[str], tag: str | None, *, digest: bool) -> None:
    repository = host + "/".join(path)
    hashed = "sha256:" + "0" * 64
    text = repository + (f":{tag}" if tag else "") + (f"@{hashed}" if digest else "")
    assert image_reference(text) == ImageReference(repository, tag, hashed if digest else None)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    reference = image_reference(text)
    assert reference.moving is None or reference.digest is None
    assert isinstance(is_filled_in_later(text), bool)


@pytest.mark.parametrize("tag", ["latest", "Latest", "1.2-nightly", "master_gpu", "main"])
def test_words_that_move(tag: str) -> None:
    assert image_reference(f"x:{tag}").moving == f"its tag {tag} is moved with each build"


@pytest.mark.parametrize("tag", ["nightly-5f0ac2c", "main-20260801", "v1", "mainline", "2.0-deadbeef1"])
def test_words_that_stay(tag: str) -> None:
    assert image_reference(f"x:{tag}").moving is None


def test_a_word_of_letters_alone_is_no_commit() -> None:
    assert image_reference("x:nightly-facade").moving is not None
    assert image_reference("x:nightly-deadbeef").moving is not None


def test_a_repository_is_known_on_every_registry() -> None:
    assert image_reference("nvcr.io/nvidia/tritonserver:1").is_of("nvidia/tritonserver")
    assert not image_reference("nvcr.io/mynvidia/tritonserver:1").is_of("nvidia/tritonserver")
    assert image_reference("registry.k8s.io/pause:3.10").is_pause
