"""The plugin as the engine meets it: over gRPC."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from google.protobuf import empty_pb2

from sandbox.providers.aws.provider import Aws
from sandbox.providers.base import plain, start
from sandbox.providers.protocol import plugin_pb2, provider_pb2
from sandbox.providers.wire import UNKNOWN, decode, encode

URN = "urn:pulumi:dev::trial::aws:ec2/launchTemplate:LaunchTemplate::gpu"
ROOT = Path(__file__).parents[3]

Call: TypeAlias = Callable[[str, Any, Any], Any]
"""Calls a method with a request and reads the answer as a message of the class given."""


@pytest.fixture
def call(aws: Aws) -> Iterator[Call]:
    server, port = start(aws)
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")

    def ask(method: str, request: Any, answer: Any) -> Any:  # noqa: ANN401 - any message of the protocol
        invoke = channel.unary_unary(
            f"/pulumirpc.ResourceProvider/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        return invoke(request)

    yield ask
    channel.close()
    server.stop(None).wait()


def test_plain_values_only_are_agreed_on(call: Call) -> None:
    answer = call("Handshake", provider_pb2.ProviderHandshakeRequest(), provider_pb2.ProviderHandshakeResponse)

    assert not any((answer.accept_secrets, answer.accept_outputs, answer.accept_resources))
    assert answer.supports_autonaming_configuration


def test_the_version_is_the_one_asked_for_or_the_sdk_s(call: Call, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("GetPluginInfo", empty_pb2.Empty(), plugin_pb2.PluginInfo).version == aws.sdk.version

    monkeypatch.setenv("EKS_GPU_SANDBOX_PLUGIN_VERSION", "7.40.0")

    assert call("GetPluginInfo", empty_pb2.Empty(), plugin_pb2.PluginInfo).version == "7.40.0"


def test_nested_settings_arrive_as_json_text_and_go_back_as_they_came(call: Call) -> None:
    settings = encode({"region": "eu-west-1", "defaultTags": '{"tags": {"a": "b"}}', "skipMetadataApiCheck": "true"})

    checked = call("CheckConfig", provider_pb2.CheckRequest(news=settings), provider_pb2.CheckResponse)
    configured = call("Configure", provider_pb2.ConfigureRequest(args=settings), provider_pb2.ConfigureResponse)

    assert checked.inputs == settings
    assert configured.supportsPreview
    request = provider_pb2.CreateRequest(urn=URN, properties=encode({"name": "x"}), preview=True)
    outputs = decode(call("Create", request, provider_pb2.CreateResponse).properties)
    assert outputs["region"] == "eu-west-1"
    assert outputs["tagsAll"] == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ('{"a": [1]}', {"a": [1]}), ("{no json", "{no json"), ("us-east-1", "us-east-1")],
)
def test_a_setting_is_read_as_the_value_it_stands_for(text: str, value: object) -> None:
    assert plain(text) == value


def test_another_region_replaces_everything_made_with_the_provider(call: Call) -> None:
    old, new = encode({"region": "us-east-1", "profile": "a"}), encode({"region": "us-west-2", "profile": "b"})

    answer = call("DiffConfig", provider_pb2.DiffRequest(old_inputs=old, news=new), provider_pb2.DiffResponse)

    assert list(answer.replaces) == ["region"]
    assert set(answer.diffs) == {"region", "profile"}


def test_a_check_names_the_resource_and_its_mistakes(call: Call) -> None:
    request = provider_pb2.CheckRequest(urn=URN, news=encode({"imageid": "ami-1"}), randomSeed=b"x")

    answer = call("Check", request, provider_pb2.CheckResponse)

    assert decode(answer.inputs)["name"].startswith("gpu-")
    assert [(failure.property, failure.reason) for failure in answer.failures] == [
        ("imageid", 'unknown property "imageid" of LaunchTemplate; did you mean "imageId"')
    ]


def test_the_project_s_naming_is_followed(call: Call) -> None:
    naming = provider_pb2.CheckRequest.AutonamingOptions(proposed_name="proposed")
    request = provider_pb2.CheckRequest(urn=URN, news=encode({}), autonaming=naming)

    assert decode(call("Check", request, provider_pb2.CheckResponse).inputs)["name"] == "proposed"


def test_a_diff_tells_updates_from_replacements_by_path(call: Call) -> None:
    old = encode({"name": "a", "imageId": "x", "tags": {"k": "v"}})
    new = encode({"name": "b", "imageId": UNKNOWN})

    answer = call("Diff", provider_pb2.DiffRequest(urn=URN, old_inputs=old, news=new), provider_pb2.DiffResponse)

    kinds = {path: provider_pb2.PropertyDiff.Kind.Name(diff.kind) for path, diff in answer.detailedDiff.items()}
    assert kinds == {"name": "UPDATE_REPLACE", "imageId": "UPDATE", "tags": "DELETE"}
    assert list(answer.replaces) == ["name"]
    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME
    same = call("Diff", provider_pb2.DiffRequest(urn=URN, old_inputs=old, news=old), provider_pb2.DiffResponse)
    assert same.changes == provider_pb2.DiffResponse.DIFF_NONE


def test_a_resource_goes_through_create_update_read_and_delete(call: Call) -> None:
    inputs = encode({"name": "over-the-wire", "imageId": "ami-1"})
    made = call("Create", provider_pb2.CreateRequest(urn=URN, properties=inputs), provider_pb2.CreateResponse)
    new = encode({"name": "over-the-wire", "imageId": "ami-2"})
    change = provider_pb2.UpdateRequest(id=made.id, urn=URN, olds=made.properties, old_inputs=inputs, news=new)

    changed = call("Update", change, provider_pb2.UpdateResponse)
    find = provider_pb2.ReadRequest(id=made.id, urn=URN, properties=changed.properties, inputs=new)
    found = call("Read", find, provider_pb2.ReadResponse)
    end = provider_pb2.DeleteRequest(id=made.id, urn=URN, properties=changed.properties)
    call("Delete", end, empty_pb2.Empty)
    gone = call("Read", find, provider_pb2.ReadResponse)

    assert decode(made.properties)["latestVersion"] == 1
    assert decode(changed.properties)["latestVersion"] == 2
    assert (found.id, decode(found.inputs)) == (made.id, decode(new))
    assert gone.id == ""
    change.preview = True
    assert decode(call("Update", change, provider_pb2.UpdateResponse).properties)["latestVersion"] is UNKNOWN


@pytest.mark.parametrize(
    ("method", "request_", "answer", "message"),
    [
        (
            "Invoke",
            provider_pb2.InvokeRequest(tok="aws:nowhere:get"),
            provider_pb2.InvokeResponse,
            'has no function "aws:nowhere:get"',
        ),
        (
            "Construct",
            provider_pb2.ConstructRequest(type="aws:x:Component"),
            provider_pb2.ConstructResponse,
            'has no component "aws:x:Component"',
        ),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(
    call: Call, method: str, request_: object, answer: object, message: str
) -> None:
    with pytest.raises(grpc.RpcError) as refusal:
        call(method, request_, answer)

    assert message in str(refusal.value)


def test_a_function_answers(call: Call) -> None:
    request = provider_pb2.InvokeRequest(tok="aws:index/getCallerIdentity:getCallerIdentity")

    answer = call("Invoke", request, provider_pb2.InvokeResponse)

    assert decode(getattr(answer, "return"))["accountId"] == "123456789012"


@pytest.mark.parametrize("name", ["aws", "kubernetes", "eks"])
def test_a_plugin_prints_its_port_and_serves_there(name: str) -> None:
    command = [sys.executable, "-m", f"sandbox.providers.{name}", "127.0.0.1:1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                ask = channel.unary_unary(
                    "/pulumirpc.ResourceProvider/GetPluginInfo",
                    request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=plugin_pb2.PluginInfo.FromString,
                )
                assert ask(empty_pb2.Empty(), timeout=30).version.count(".") == 2
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["aws", "eks"])
def test_a_plugin_ends_when_its_engine_is_gone(name: str) -> None:
    arguments = [sys.executable, "-m", f"sandbox.providers.{name}", "127.0.0.1:1"]
    engine = (
        "import subprocess, sys\n"
        f"plugin = subprocess.Popen({arguments!r}, stdout=subprocess.PIPE, stderr=sys.stderr)\n"
        "plugin.stdout.readline()\n"
    )

    # The plugin keeps the error stream open, so that this returns only when it has ended too.
    answer = subprocess.run([sys.executable, "-c", engine], cwd=ROOT, stderr=subprocess.PIPE, check=False)

    assert answer.returncode == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_plugin_that_is_told_to_end_ends_without_a_word(sent: signal.Signals) -> None:
    command = [sys.executable, "-m", "sandbox.providers.aws", "127.0.0.1:1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as plugin:
        assert plugin.stdout is not None
        plugin.stdout.readline()
        plugin.send_signal(sent)
        said, complained = plugin.communicate(timeout=30)

    assert (plugin.returncode, said, complained) == (0, "", "")


def test_a_preview_s_plugin_loads_neither_the_sdks_nor_botocore() -> None:
    loaded = "[name for name in ('pulumi', 'pulumi_aws', 'pulumi_kubernetes', 'botocore') if name in sys.modules]"
    modules = "sandbox.providers.base, sandbox.providers.aws.provider, sandbox.providers.kubernetes.provider"
    source = f"import sys; import {modules}; print({loaded})"

    answer = subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"
