"""Where a model server gets its model from."""

from __future__ import annotations

from typing import Any

import pytest

from eks_gpu.facts import declarations
from eks_gpu.planning.model_source import Kind, bytes_to_read, cache_of, fetches_from_hub, model_of, mount_over
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnownError, need
from eks_gpu_policies import examples
from eks_gpu_policies.stack import Stack
from tests.support.judging import changed

ANNOTATIONS = "spec.template.metadata.annotations"


def pod(annotations: dict[str, str] | None = None, **settings: Any) -> PodTemplate:  # noqa: ANN401 - a container's
    deployment = changed(examples.deployment(examples.container(**settings)), ANNOTATIONS, annotations or {})
    return Stack([deployment]).pods[0]


def container(**settings: Any) -> Any:  # noqa: ANN401 - both ways
    return need(pod(**settings).containers)[0]


@pytest.mark.parametrize(
    ("args", "name", "kind"),
    [
        (["--model", "org/name"], "org/name", Kind.HUB),
        (["--model=hf://org/name"], "org/name", Kind.HUB),
        (["--model", "/models/name"], "/models/name", Kind.FOLDER),
        (["--model", "./name"], "./name", Kind.FOLDER),
        (["--model", "s3://bucket/name"], "s3://bucket/name", Kind.STORE),
        (["--model", "a/b/c"], "a/b/c", Kind.OTHER),
        (["vllm serve org/name; sleep 1"], "org/name", Kind.HUB),
        (["vllm", "serve", "--port", "8000"], None, None),
        (["lmdeploy", "serve", "api_server", "org/name"], "org/name", Kind.HUB),
        (["bash -c 'vllm serve \\\n org/name'"], "org/name", Kind.HUB),
        (["org/name"], "org/name", Kind.HUB),
        (["hf", "download", "org/name"], "org/name", Kind.HUB),
        ([], None, None),
    ],
)
def test_the_model_is_what_the_command_line_says(args: list[str], name: str | None, kind: Kind | None) -> None:
    found = model_of(container(args=args))
    assert (None if found is None else (found.name, found.kind)) == (None if name is None else (name, kind))


def test_variables_are_replaced_and_stand_in_for_options() -> None:
    named = [{"name": "MODEL_ID", "value": "org/name"}]
    for args in (["--model", "$(MODEL_ID)"], ["vllm serve ${MODEL_ID}"], ["vllm serve $MODEL_ID"], []):
        assert getattr(model_of(container(args=args, env=named)), "name", None) == "org/name"
    with pytest.raises(NotKnownError, match="ELSEWHERE is not among"):
        model_of(container(args=["--model", "$ELSEWHERE"]))


def test_a_word_of_the_servers_own_leaves_the_token_to_tell() -> None:
    token = [{"name": "HF_TOKEN", "value": "x"}]
    assert fetches_from_hub(container(args=["--model", "llama"], env=token))
    assert not fetches_from_hub(container(args=["--model", "llama"]))
    assert not fetches_from_hub(container(args=["--model", "/llama"], env=token))


def test_the_cache_is_assumed_only_where_nothing_names_it() -> None:
    said, assumed = cache_of(container(env=[{"name": "HF_HOME", "value": "/m/"}])), cache_of(container())
    assert (said.path, said.assumed) == ("/m/hub", False)
    assert (assumed.path, assumed.assumed) == ("~/.cache/huggingface/hub", True)


@pytest.mark.parametrize(
    ("mounted", "path", "over"),
    [
        ("/models", "/models", True),
        ("/models/", "/models/a", True),
        ("/models/a", "/models", False),
        ("/model", "/models", False),
        ("/", "/models", True),
        ("/home/me/.cache", "~/.cache/huggingface/hub", True),
        ("/home/me", "~/.cache/huggingface/hub", True),
        ("/home/me/.cache/vllm", "~/.cache/huggingface/hub", False),
        ("/srv", "~/.cache/huggingface/hub", False),
    ],
)
def test_a_mount_is_over_what_lies_in_it(mounted: str, path: str, over: bool) -> None:
    box = container(volumeMounts=[{"name": "v", "mountPath": mounted}])
    assert (mount_over(box, path) is not None) is over


def test_a_declared_size_is_a_quantity_of_bytes() -> None:
    named = ["--model", "org/Llama-3.1-70B"]
    for text, size in (("140000000000", 140 * 10**9), ("1Gi", 2**30), ("2G", 2 * 10**9)):
        declared = pod({declarations.MODEL_BYTES: text}, args=named)
        assert bytes_to_read(declared, need(declared.containers)[0]) == size
    for text in ("large", "0", "-1"):
        unread = pod({declarations.MODEL_BYTES: text}, args=named)
        assert bytes_to_read(unread, need(unread.containers)[0]) == 140 * 10**9
