"""A resource provider plugin over gRPC: joins a `StandIn` to the engine.

It speaks the protocol directly, on threads: a good part of the start of the SDK's own provider server goes into asyncio
and modules that a stand-in never uses, and every preview waits for that start.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TypeVar

import grpc
from google.protobuf import empty_pb2

from sandbox.providers import components
from sandbox.providers.changes import Change, changes
from sandbox.providers.naming import NameRequest, NamingMode
from sandbox.providers.protocol import plugin_pb2, provider_pb2
from sandbox.providers.stand_in import ENGINE_CHECK_SECONDS, VERSION_VARIABLE, Checked, StandIn, StandInError, Stored
from sandbox.providers.wire import UNKNOWN, Properties, decode, encode, secret_keys

if TYPE_CHECKING:
    from google.protobuf.message import Message

_SERVICE: Final = "pulumirpc.ResourceProvider"
_THREADS: Final = 16
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024  # bytes; the engine's own limit
_PREFIX_TOKEN: Final = "pulumi:providers:"  # noqa: S105 - a type token
_Request = TypeVar("_Request", bound="Message")
_KINDS: Final = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


class Plugin:
    """The engine's calls, each turned into one of the stand-in's methods.

    Neither output values nor resource references are accepted, and secrets only by a stand-in that builds components:
    the engine then sends plain values and marks the outputs of secret inputs by itself.
    """

    def __init__(self, stand_in: StandIn) -> None:
        """Serve `stand_in`."""
        self._stand_in = stand_in

    def methods(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """Return the protocol's methods by name; the others answer "unimplemented", as the engine expects."""
        return {
            "Handshake": _method(provider_pb2.ProviderHandshakeRequest, self.handshake),
            "GetPluginInfo": _method(empty_pb2.Empty, self.plugin_info),
            "Attach": _method(plugin_pb2.PluginAttach, self.nothing),
            "Cancel": _method(empty_pb2.Empty, self.nothing),
            "CheckConfig": _method(provider_pb2.CheckRequest, self.check_config),
            "DiffConfig": _method(provider_pb2.DiffRequest, self.diff_config),
            "Configure": _method(provider_pb2.ConfigureRequest, self.configure),
            "Check": _method(provider_pb2.CheckRequest, self.check),
            "Diff": _method(provider_pb2.DiffRequest, self.diff),
            "Create": _method(provider_pb2.CreateRequest, self.create),
            "Read": _method(provider_pb2.ReadRequest, self.read),
            "Update": _method(provider_pb2.UpdateRequest, self.update),
            "Delete": _method(provider_pb2.DeleteRequest, self.delete),
            "Invoke": _method(provider_pb2.InvokeRequest, self.invoke),
            "Construct": _method(provider_pb2.ConstructRequest, self.construct),
        }

    def handshake(self, request: provider_pb2.ProviderHandshakeRequest) -> provider_pb2.ProviderHandshakeResponse:
        """Agree on the protocol."""
        del request
        return provider_pb2.ProviderHandshakeResponse(
            supports_autonaming_configuration=True, accept_secrets=self._stand_in.builds_components
        )

    def plugin_info(self, request: empty_pb2.Empty) -> plugin_pb2.PluginInfo:
        """Report the version that the engine asked for, else the SDK's."""
        del request
        return plugin_pb2.PluginInfo(version=os.environ.get(VERSION_VARIABLE) or self._stand_in.sdk.version)

    def nothing(self, request: object) -> empty_pb2.Empty:
        """Answer a call that needs nothing done."""
        del request
        return empty_pb2.Empty()

    def check_config(self, request: provider_pb2.CheckRequest) -> provider_pb2.CheckResponse:
        """Judge the provider's settings."""
        news = decode(request.news)
        checked = self._stand_in.check_config({key: plain(value) for key, value in news.items()})
        # The settings go back as they came: nested ones are JSON text on this call.
        return _check_response(Checked(news, checked.failures))

    def diff_config(self, request: provider_pb2.DiffRequest) -> provider_pb2.DiffResponse:
        """Compare the provider's settings."""
        found = changes(decode(request.old_inputs), decode(request.news), self._stand_in.config_replaces)
        return _diff_response(found, delete_first=False)

    def configure(self, request: provider_pb2.ConfigureRequest) -> provider_pb2.ConfigureResponse:
        """Take the provider's settings."""
        self._stand_in.configure({key: plain(value) for key, value in decode(request.args).items()})
        return provider_pb2.ConfigureResponse(
            supportsPreview=True,
            supports_autonaming_configuration=True,
            acceptSecrets=self._stand_in.builds_components,
        )

    def check(self, request: provider_pb2.CheckRequest) -> provider_pb2.CheckResponse:
        """Judge a resource's inputs."""
        name = NameRequest(
            request.name or request.urn.rsplit("::", 1)[-1],
            request.randomSeed,
            NamingMode(request.autonaming.mode),
            request.autonaming.proposed_name,
        )
        checked = self._stand_in.check(_token(request), decode(request.olds), decode(request.news), name)
        return _check_response(checked, secret_keys(request.news))

    def diff(self, request: provider_pb2.DiffRequest) -> provider_pb2.DiffResponse:
        """Compare a resource's inputs with those it was made from."""
        difference = self._stand_in.diff(
            _token(request), decode(request.olds), decode(request.old_inputs), decode(request.news)
        )
        return _diff_response(difference.changes, delete_first=difference.delete_before_replace)

    def create(self, request: provider_pb2.CreateRequest) -> provider_pb2.CreateResponse:
        """Create a resource, or say what creating it would give."""
        token, inputs, secrets = _token(request), decode(request.properties), secret_keys(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=encode(self._stand_in.preview_create(token, inputs), secrets))
        stored = self._stand_in.create(token, inputs)
        return provider_pb2.CreateResponse(id=stored.id, properties=encode(stored.state, secrets))

    def read(self, request: provider_pb2.ReadRequest) -> provider_pb2.ReadResponse:
        """Read a resource; an empty answer says that it is gone."""
        found = self._stand_in.read(
            _token(request), Stored(request.id, decode(request.properties), decode(request.inputs))
        )
        if found is None:
            return provider_pb2.ReadResponse()
        secrets = secret_keys(request.properties, request.inputs)
        return provider_pb2.ReadResponse(
            id=found.id, properties=encode(found.state, secrets), inputs=encode(found.inputs or {}, secrets)
        )

    def update(self, request: provider_pb2.UpdateRequest) -> provider_pb2.UpdateResponse:
        """Update a resource, or say what updating it would give."""
        token, state = _token(request), decode(request.olds)
        old, new = decode(request.old_inputs), decode(request.news)
        if request.preview:
            outputs = self._stand_in.preview_update(token, state, old, new)
        else:
            outputs = self._stand_in.update(token, Stored(request.id, state), old, new)
        return provider_pb2.UpdateResponse(properties=encode(outputs, secret_keys(request.news)))

    def delete(self, request: provider_pb2.DeleteRequest) -> empty_pb2.Empty:
        """Delete a resource."""
        existing = Stored(request.id, decode(request.properties), decode(request.old_inputs))
        self._stand_in.delete(_token(request), existing)
        return empty_pb2.Empty()

    def invoke(self, request: provider_pb2.InvokeRequest) -> provider_pb2.InvokeResponse:
        """Answer a provider function."""
        outputs = self._stand_in.invoke(request.tok, decode(request.args))
        response = provider_pb2.InvokeResponse()
        # `return` is a keyword, so that the field can only be reached by its name as text.
        getattr(response, "return").CopyFrom(encode(outputs))
        return response

    def construct(self, request: provider_pb2.ConstructRequest) -> provider_pb2.ConstructResponse:
        """Build a component for the program."""
        inputs = decode(request.inputs)
        members = self._stand_in.members(request.type, request.name, inputs)
        urn = components.build(request, members, os.environ.get(VERSION_VARIABLE) or self._stand_in.sdk.version)
        return provider_pb2.ConstructResponse(urn=urn, state=encode(inputs, secret_keys(request.inputs)))


def plain(value: Any) -> Any:  # noqa: ANN401 - a setting may be any JSON value
    """Return a provider's setting as a value: nested settings arrive as JSON text."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, str) and value in {"true", "false"}:
        return value == "true"
    return value


def serve(stand_in: StandIn) -> None:
    """Serve `stand_in` on a free port of 127.0.0.1, print the port, and stay until the engine ends."""
    for request in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request, _leave)
    server, port = start(stand_in)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    leave_with_engine()
    server.wait_for_termination()


def start(stand_in: StandIn) -> tuple[grpc.Server, int]:
    """Start a server for `stand_in` on a free port of 127.0.0.1; return it with its port."""
    server = grpc.server(
        ThreadPoolExecutor(_THREADS),
        options=[("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.so_reuseport", 0)],
    )
    methods = Plugin(stand_in).methods()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def leave_with_engine() -> None:
    """End this process when the engine that started it is gone, however it went; return at once."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _leave(_signal: int, _frame: object) -> None:
    # The engine ends its plugins like this, one after the other, when it needs them no more: nothing is under way, and
    # each waits for nothing but the end of the Python before it.
    os._exit(0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(ENGINE_CHECK_SECONDS)
    os._exit(0)


def _method(request: type[_Request], answer: Callable[[_Request], Message]) -> grpc.RpcMethodHandler[Any, Any]:
    def handle(message: _Request, context: grpc.ServicerContext) -> Message:
        try:
            return answer(message)
        except StandInError as refusal:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(refusal))
        except Exception as error:  # noqa: BLE001 - whatever it is, the engine must get an answer
            # The engine shows the text only; the rest goes to the plugin's error stream, which the engine logs.
            sys.excepthook(type(error), error, error.__traceback__)
            context.abort(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error}")
        raise AssertionError("abort raises")

    return grpc.unary_unary_rpc_method_handler(
        handle,
        request_deserializer=request.FromString,
        response_serializer=lambda response: response.SerializeToString(),
    )


def _token(
    request: provider_pb2.CheckRequest
    | provider_pb2.DiffRequest
    | provider_pb2.CreateRequest
    | provider_pb2.ReadRequest
    | provider_pb2.UpdateRequest
    | provider_pb2.DeleteRequest,
) -> str:
    """Return the resource's type, from the URN if the engine is too old to send it by itself."""
    return request.type or request.urn.split("::")[2].rsplit("$", 1)[-1]


def _check_response(checked: Checked, secrets: frozenset[str] = frozenset()) -> provider_pb2.CheckResponse:
    failures = [provider_pb2.CheckFailure(property=each.path, reason=each.reason) for each in checked.failures]
    return provider_pb2.CheckResponse(inputs=encode(checked.inputs, secrets), failures=failures)


def _diff_response(found: list[Change], *, delete_first: bool) -> provider_pb2.DiffResponse:
    replaces = [change.path for change in found if change.replaces]
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=replaces,
        deleteBeforeReplace=delete_first and bool(replaces),
        diffs=list(dict.fromkeys(_top(change.path) for change in found)),
        detailedDiff={
            change.path: provider_pb2.PropertyDiff(kind=_KINDS[change.action, change.replaces], inputDiff=True)
            for change in found
        },
        hasDetailedDiff=True,
    )


def _top(path: str) -> str:
    return path.split(".", 1)[0].split("[", 1)[0]


def merged(inputs: Mapping[str, Any], computed: Mapping[str, Any]) -> Properties:
    """Return a resource's outputs: its inputs with `computed` on top, without the provider's own bookkeeping."""
    return {key: value for key, value in {**inputs, **computed}.items() if not key.startswith("__")}


__all__ = ["UNKNOWN", "Plugin", "merged", "plain", "serve", "start"]
