"""SEC003: GPU services are not public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import labels, load_balancers
from eks_gpu.planning.pod_template import PodTemplate, asks_gpu
from eks_gpu.planning.reading import NotKnown, attempt
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.questions.disruption_budgets import labels_of
from eks_gpu_policies.readers.exposure import is_load_balancer, opening, ports
from eks_gpu_policies.readers.namespaces import namespace_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided
from eks_gpu_policies.stack import Stack

_Label = tuple[str, str, str]
"""Namespace, key and value."""


@dataclass(frozen=True)
class _Door:
    """A Service with the GPU pods that may be behind it."""

    service: Resource
    labelled: Mapping[_Label, tuple[PodTemplate, ...]]
    """GPU pods by namespace and each of their labels."""
    unclear: tuple[tuple[NotKnown, PodTemplate], ...]
    """Pods of which it is not known whether they ask for GPUs, or which labels or namespace they have."""

    @property
    def urn(self) -> str:
        """The Service."""
        return self.service.urn

    @property
    def name(self) -> str:
        """The Service's logical name."""
        return self.service.name


def _doors(stack: Stack) -> Iterator[_Door]:
    services = stack.of_type(tokens.SERVICE)
    if not services:
        return
    labelled: dict[_Label, list[PodTemplate]] = {}
    unclear: list[tuple[NotKnown, PodTemplate]] = []
    for pod in stack.pods:
        asks = asks_gpu(pod)
        if asks is False:
            continue
        found = attempt(_labels, pod, stack) if asks is True else asks
        if isinstance(found, NotKnown):
            unclear.append((found, pod))
            continue
        for label in found:
            labelled.setdefault(label, []).append(pod)
    index = {label: tuple(pods) for label, pods in labelled.items()}
    yield from (_Door(service, index, tuple(unclear)) for service in services)


def _labels(pod: PodTemplate, stack: Stack) -> tuple[_Label, ...]:
    owner = stack.by_urn[pod.urn]
    home = namespace_of(owner, stack)
    return tuple((home, key, value) for key, value in labels_of(pod, owner).items())


def _leads_to_gpus(door: _Door, stack: Stack) -> bool:
    nobody = not door.labelled and not door.unclear
    if nobody or not is_load_balancer(door.service.view["spec"]):
        return False
    selector = _selector(door)
    return bool(selector) and (
        next(_behind(door, selector, stack), None) is not None or any(_may_be_behind(door, selector, stack))
    )


def _selector(door: _Door) -> Mapping[str, str]:
    return door.service.view.at("spec", "selector").text_map()


def _behind(door: _Door, selector: Mapping[str, str], stack: Stack) -> Iterator[PodTemplate]:
    """Yield the GPU pods that a Service selects: those with all its labels, in its namespace."""
    home = namespace_of(door.service, stack)
    rarest = min((door.labelled.get((home, *label), ()) for label in selector.items()), key=len, default=())
    return (pod for pod in rarest if selector.items() <= labels_of(pod, stack.by_urn[pod.urn]).items())


def _may_be_behind(door: _Door, selector: Mapping[str, str], stack: Stack) -> Iterator[tuple[NotKnown, PodTemplate]]:
    """Yield the GPU pods of which nobody can tell whether a Service selects them."""
    seen = {key: value for key, value in selector.items() if not _is_set_later(key)}
    for pod in _behind(door, seen, stack) if len(seen) < len(selector) else ():
        yield pod.spec.not_known("said by labels that its controller sets"), pod
    for place, pod in door.unclear:
        if isinstance(pod.labels, NotKnown) or selector.items() <= pod.labels.items():
            yield place, pod


def _is_set_later(key: str) -> bool:
    """Return whether a label is one that controllers set, and whose value is not to be seen here."""
    return key.startswith(labels.BY_CONTROLLERS) and not any(key in given for given in labels.OWNER_NAME.values())


def _check(door: _Door, stack: Stack) -> Iterator[Outcome]:
    view = door.service.view
    why = opening(view["spec"], view.at("metadata", "annotations"))
    if why is None:
        return
    selector = _selector(door)
    pod = next(_behind(door, selector, stack), None)
    chosen = ", ".join(f"{key}={value}" for key, value in selector.items())
    if pod is not None:
        yield Problem(f"opens {ports(view['spec'])} of {pod.name}, which it selects by {chosen}: {why}")
        return
    for place, other in _may_be_behind(door, selector, stack):
        yield Undecided(place.path, f"whether the Service selects {other.name} is {place.reason}")


def _service(**annotations: str) -> Resource:
    return examples.resource(
        tokens.SERVICE,
        "llm",
        {
            "metadata": {"name": "llm", "annotations": annotations},
            "spec": {"type": "LoadBalancer", "selector": {"app": "llm"}, "ports": [{"port": 80, "targetPort": 8000}]},
        },
    )


RULE: Final = Rule(
    id="SEC003",
    title="GPU services are not public",
    severity=Severity.HIGH,
    why=(
        "Model servers ask nobody who they are. Behind a public load balancer everybody computes on GPUs that you "
        "pay for, and Triton's model control or a debug port is open to everybody as well."
    ),
    fix=(
        f"annotate the Service with {load_balancers.SCHEME}: {load_balancers.SCHEME_INTERNAL} (or "
        f'{load_balancers.INTERNAL}: "true"), list loadBalancerSourceRanges, or keep it a ClusterIP behind a gateway '
        "that authenticates, as TritonServer and VllmServer do"
    ),
    lessons=("W14",),
    looks_at=Subjects[_Door]("load balancers before GPU pods", frozenset({tokens.SERVICE}), _doors, _leads_to_gpus),
    check=_check,
    failing=Example((_service(), examples.deployment())),
    passing=Example((_service(**{load_balancers.INTERNAL: "true"}), examples.deployment())),
)
