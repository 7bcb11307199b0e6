"""SEC003: GPU services are not public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eks_gpu.facts import load_balancers
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.exposure import is_load_balancer, opening, ports
from eks_gpu_policies.readers.namespaces import namespace_of
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, Subjects, Undecided
from eks_gpu_policies.stack import Stack

_Label = tuple[str, str]


@dataclass(frozen=True)
class _Door:
    """A Service with the GPU pods that may be behind it."""

    service: Resource
    labelled: Mapping[_Label, tuple[PodTemplate, ...]]
    """GPU pods by each of their labels."""
    unlabelled: tuple[tuple[NotKnown, PodTemplate], ...]
    """GPU pods whose labels are not known."""

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
    unlabelled: list[tuple[NotKnown, PodTemplate]] = []
    for pod in stack.pods:
        if attempt(_asks_gpu, pod) is not True:
            continue
        if isinstance(pod.labels, NotKnown):
            unlabelled.append((pod.labels, pod))
            continue
        for label in pod.labels.items():
            labelled.setdefault(label, []).append(pod)
    index = {label: tuple(pods) for label, pods in labelled.items()}
    yield from (_Door(service, index, tuple(unlabelled)) for service in services)


def _asks_gpu(pod: PodTemplate) -> bool:
    return pod.asks_gpu


def _leads_to_gpus(door: _Door, stack: Stack) -> bool:
    if not is_load_balancer(door.service.view["spec"]):
        return False
    selector = _selector(door)
    return bool(selector) and (bool(_behind(door, selector, stack)) or bool(door.unlabelled))


def _selector(door: _Door) -> Mapping[str, str]:
    return door.service.view.at("spec", "selector").text_map()


def _behind(door: _Door, selector: Mapping[str, str], stack: Stack) -> tuple[PodTemplate, ...]:
    """Return the GPU pods that a Service selects: those with all its labels, in its namespace."""
    rarest = min((door.labelled.get(label, ()) for label in selector.items()), key=len)
    alike = [pod for pod in rarest if selector.items() <= need(pod.labels).items()]
    if not alike:
        return ()
    home = namespace_of(door.service, stack)
    return tuple(pod for pod in alike if namespace_of(stack.by_urn[pod.urn], stack) == home)


def _check(door: _Door, stack: Stack) -> Iterator[Outcome]:
    view = door.service.view
    why = opening(view["spec"], view.at("metadata", "annotations"))
    if why is None:
        return
    selector = _selector(door)
    pods = _behind(door, selector, stack)
    chosen = ", ".join(f"{key}={value}" for key, value in selector.items())
    if pods:
        yield Problem(f"opens {ports(view['spec'])} of {pods[0].name}, which it selects by {chosen}: {why}")
        return
    for place, pod in door.unlabelled:
        yield Undecided(place.path, f"whether the Service selects {pod.name} is {place.reason}")


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
