"""Who can reach a Service: whether its load balancer faces the internet, and for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import load_balancers as aws
from eks_gpu.planning.reading import NotKnownError, View

_LOAD_BALANCER: Final = "LoadBalancer"
_NO_PREFIX: Final = "/0"


def is_load_balancer(spec: View) -> bool:
    """Return whether a Service, or the values that make one, ask for a load balancer."""
    return spec["type"].text() == _LOAD_BALANCER


def opening(spec: View, annotations: View) -> str | None:
    """Return why anybody on the internet can reach a load balancer, or None when not everybody can.

    Raises ``NotKnownError`` where security groups of its own decide that, or somebody makes it who is not known here.
    """
    if not is_load_balancer(spec) or _is_internal(spec, annotations):
        return None
    maker = spec["loadBalancerClass"]
    if maker.text() not in {None, *aws.CLASSES_OF_CONTROLLER}:
        raise NotKnownError(maker.not_known(f"{maker.text()}, which is not known to face the internet"))
    ranges = tuple(_ranges(spec, annotations))
    everybody = [item for item in ranges if item.endswith(_NO_PREFIX)]
    if everybody:
        return f"its load balancer faces the internet and its source ranges admit everybody ({everybody[0]})"
    if ranges:
        return None
    own = annotations[aws.SECURITY_GROUPS]
    if own.exists:
        raise NotKnownError(own.not_known("what decides who gets in, and its rules are not read"))
    return "its load balancer faces the internet and has no source ranges"


def _is_internal(spec: View, annotations: View) -> bool:
    scheme = annotations[aws.SCHEME].text()
    if scheme is not None:
        return scheme == aws.SCHEME_INTERNAL
    internal = annotations[aws.INTERNAL].text()
    if internal:
        return internal.lower() != "false"
    return (
        spec["loadBalancerClass"].text() in aws.CLASSES_OF_CONTROLLER
        or annotations[aws.TYPE].text() in aws.TYPES_OF_CONTROLLER
    )


def _ranges(spec: View, annotations: View) -> Iterator[str]:
    yield from (text.strip() for text in spec["loadBalancerSourceRanges"].texts())
    listed = annotations[aws.SOURCE_RANGES].text() or ""
    yield from (text.strip() for text in listed.split(",") if text.strip())


def ports(spec: View) -> str:
    """Return a Service's ports as messages name them: ``port 8000``."""
    numbers = [text for item in spec["ports"].items() if (text := item["port"].text()) is not None]
    return f"port{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}" if numbers else "its ports"
