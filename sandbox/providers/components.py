"""Components that a provider builds for a program: registered with the engine, their members below them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import grpc

from sandbox.providers.protocol import provider_pb2, resource_pb2
from sandbox.providers.wire import Properties, encode

_MONITOR: Final = "/pulumirpc.ResourceMonitor/"


@dataclass(frozen=True, slots=True)
class Member:
    """A resource that a component is made of."""

    token: str
    name: str
    inputs: Properties


def build(request: provider_pb2.ConstructRequest, members: Iterable[Member], version: str) -> str:
    """Register the component that `request` asks for with its `members`, and return its URN.

    Members use the provider that the component was given, at `version`, and wait for what the component waits for.
    """
    package = request.type.split(":", 1)[0]
    with grpc.insecure_channel(request.monitorEndpoint) as channel:
        register = channel.unary_unary(
            f"{_MONITOR}RegisterResource",
            request_serializer=resource_pb2.RegisterResourceRequest.SerializeToString,
            response_deserializer=resource_pb2.RegisterResourceResponse.FromString,
        )
        component = register(
            resource_pb2.RegisterResourceRequest(
                type=request.type,
                name=request.name,
                parent=request.parent,
                object=request.inputs,
                dependencies=request.dependencies,
                providers=request.providers,
                protect=request.protect,
                aliases=request.aliases,
                aliasSpecs=True,
            )
        )
        for member in members:
            register(_member(member, component.urn, request, request.providers.get(package, ""), version))
        _finish(channel, component.urn)
    urn: str = component.urn
    return urn


def _member(
    member: Member, parent: str, request: provider_pb2.ConstructRequest, provider: str, version: str
) -> resource_pb2.RegisterResourceRequest:
    return resource_pb2.RegisterResourceRequest(
        type=member.token,
        name=member.name,
        parent=parent,
        custom=True,
        object=encode(member.inputs),
        dependencies=request.dependencies,
        provider=provider,
        version="" if provider else version,
    )


def _finish(channel: grpc.Channel, urn: str) -> None:
    finish: Any = channel.unary_unary(
        f"{_MONITOR}RegisterResourceOutputs",
        request_serializer=resource_pb2.RegisterResourceOutputsRequest.SerializeToString,
        response_deserializer=lambda answer: answer,
    )
    finish(resource_pb2.RegisterResourceOutputsRequest(urn=urn, outputs=encode({})))
