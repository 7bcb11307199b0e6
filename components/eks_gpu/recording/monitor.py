"""The recorder: takes the engine's place and writes down what a program registers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import provider_pb2, resource_pb2

from eks_gpu.recording import manifests, wire
from eks_gpu.recording.answers import Answer, identity
from eks_gpu.recording.recorded import RecordedOptions, RecordedResource

STACK_TYPE = "pulumi:pulumi:Stack"


class _NoMocks(mocks.Mocks):
    """The stock monitor wants mocks; this one answers by itself."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise LookupError(f"{args.token} is answered by the recorder")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise LookupError(f"{args.typ} is registered by the recorder")


class RecordingMonitor(mocks.MockMonitor):
    """A resource monitor that records requests and echoes inputs.

    The stock ``MockMonitor`` deserialises inputs on threads with event loops of their own, which hangs when a resource
    is passed as an input; this one never leaves the wire format, and switches resource references off.
    """

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        """Start with nothing recorded; ``answers`` are provider functions by token."""
        super().__init__(_NoMocks())
        self._answers = answers
        self._lock = threading.Lock()  # registrations arrive on several executor threads
        self.recorded: list[RecordedResource] = []
        self.exports: dict[str, Any] = {}
        self.unanswered: set[str] = set()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return the URN as the engine makes it: the types of all parents but the stack, and the name."""
        above = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if above == STACK_TYPE else f"{above}${type_}"
        return f"urn:pulumi:{settings.get_stack()}::{settings.get_project()}::{qualified}::{name}"

    def GetDeploymentInfo(self, request: empty_pb2.Empty) -> resource_pb2.DeploymentInfo:  # noqa: N802 - gRPC's name
        """Offer what the stock monitor offers, but for resource references."""
        references = resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES
        features = super().GetDeploymentInfo(request).supportedFeatures  # type: ignore[no-untyped-call] # the SDK's
        return resource_pb2.DeploymentInfo(supportedFeatures=[each for each in features if each != references])

    def RegisterResource(  # noqa: N802 - gRPC's name
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Record a resource and echo its inputs as outputs."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == STACK_TYPE:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        inputs = wire.properties(request.object)
        recorded = _recorded(urn, request, inputs)
        self._keep(recorded)
        self._keep_members(recorded)
        if not request.custom or request.remote:
            return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        outputs = wire.to_struct(identity(request.type, request.name, inputs))
        return resource_pb2.RegisterResourceResponse(urn=urn, id=request.importId or request.name, object=outputs)

    def ReadResource(  # noqa: N802 - gRPC's name
        self, request: resource_pb2.ReadResourceRequest
    ) -> resource_pb2.ReadResourceResponse:
        """Answer a ``get``: the resource exists, and only what the program said of it is known."""
        urn = self.make_urn(request.parent, request.type, request.name)
        return resource_pb2.ReadResourceResponse(urn=urn, properties=request.properties)

    def RegisterResourceOutputs(  # noqa: N802 - gRPC's name
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the stack's exports."""
        if f"::{STACK_TYPE}::" in request.urn:
            self.exports = wire.properties(request.outputs)
        return empty_pb2.Empty()

    def Invoke(  # noqa: N802 - gRPC's name
        self, request: resource_pb2.ResourceInvokeRequest
    ) -> resource_pb2.ResourceInvokeResponse:
        """Answer a provider function, or note that nobody did and return nothing."""
        response = resource_pb2.ResourceInvokeResponse()
        getattr(response, "return").CopyFrom(self._answer(request.tok, request.args))  # the field's name is a keyword
        return response

    def Call(self, request: resource_pb2.ResourceCallRequest) -> provider_pb2.CallResponse:  # noqa: N802 - gRPC's name
        """Answer a method of a remote component, which the stock monitor cannot."""
        response = provider_pb2.CallResponse()
        getattr(response, "return").CopyFrom(self._answer(request.tok, request.args))
        return response

    def _answer(self, token: str, args: struct_pb2.Struct) -> struct_pb2.Struct:
        answer = self._answers.get(token)
        if answer is not None:
            return wire.to_struct(answer(wire.properties(args)))
        with self._lock:
            self.unanswered.add(token)
        return struct_pb2.Struct()

    def _keep_members(self, component: RecordedResource) -> None:
        """Record what the provider would make of a component of manifests."""
        for member in manifests.members(component.type, component.name, component.inputs):
            self._keep(
                replace(
                    component,
                    urn=self.make_urn(component.urn, member.type, member.name),
                    type=member.type,
                    name=member.name,
                    inputs=member.inputs,
                    parent=component.urn,
                    property_dependencies={},
                    custom=True,
                    remote=False,
                )
            )

    def _keep(self, resource: RecordedResource) -> None:
        with self._lock:
            self.recorded.append(resource)


def _recorded(urn: str, request: resource_pb2.RegisterResourceRequest, inputs: Mapping[str, Any]) -> RecordedResource:
    return RecordedResource(
        urn=urn,
        type=request.type,
        name=request.name,
        inputs=inputs,
        # The stack is the root of every program and says nothing.
        parent=request.parent if request.parent and f"::{STACK_TYPE}::" not in request.parent else None,
        dependencies=frozenset(request.dependencies),
        property_dependencies={
            key: frozenset(found.urns) for key, found in request.propertyDependencies.items() if found.urns
        },
        provider=request.provider or next(iter(request.providers.values()), ""),
        custom=request.custom,
        remote=request.remote,
        options=RecordedOptions(
            protect=request.protect,
            retain_on_delete=request.retainOnDelete,
            delete_before_replace=request.deleteBeforeReplace,
            deleted_with=request.deletedWith or None,
            ignore_changes=tuple(request.ignoreChanges),
            replace_on_changes=tuple(request.replaceOnChanges),
            aliases=tuple(alias.urn or alias.spec.name for alias in request.aliases),
            custom_timeouts={
                key: value for key in ("create", "update", "delete") if (value := getattr(request.customTimeouts, key))
            },
        ),
    )
