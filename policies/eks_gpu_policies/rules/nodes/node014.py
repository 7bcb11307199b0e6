"""NODE014: EFA fits the type.

Karpenter attaches adapters by itself for pods that ask for them, where its class lists no interfaces. The cluster's own
security group, which EKS gives nodes that name none, lets its members talk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import efa, resources
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.readers.network_interfaces import Interface, adapters_given, interfaces
from eks_gpu_policies.readers.security_groups import lacks, node_groups_of
from eks_gpu_policies.rule import EVERYWHERE, Example, Outcome, Problem, Rule, Severity, Subjects, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

_Subject = Pool | PodTemplate
_FIRST: Final = (0, 0)
_SHOWN: Final = 3


def _subjects(stack: Stack) -> Iterator[_Subject]:
    yield from stack.pools
    yield from stack.pods


def _concerns(subject: _Subject, stack: Stack) -> bool:
    if isinstance(subject, PodTemplate):
        return subject.asks_gpu and resources.EFA in subject.extended_resources
    return GPU_NODE_MAKERS.concerns(subject, stack)


def _check(subject: _Subject, stack: Stack) -> Iterator[Outcome]:
    if isinstance(subject, PodTemplate):
        yield from _pod(subject, stack)
    else:
        listed = interfaces(subject, stack)
        yield from clauses(_counted(subject, listed), _arranged(subject, listed), _let_through(subject, listed, stack))


def _counted(pool: Pool, listed: tuple[Interface, ...]) -> Iterator[Outcome]:
    wanted = sum(item.is_adapter for item in listed)
    short = [item for item in pool.gpu_types if item.efa_interfaces < wanted]
    if short:
        has = ", ".join(f"{item.name} has {item.efa_interfaces or 'none'}" for item in short[:_SHOWN])
        more = f", and {len(short) - _SHOWN} more have too few" if len(short) > _SHOWN else ""
        yield Problem(f"attaches {_adapters(wanted)} to each node, and {has}{more}")


def _adapters(count: int) -> str:
    return f"{count} Elastic Fabric Adapter{'' if count == 1 else 's'}"


def _arranged(pool: Pool, listed: tuple[Interface, ...]) -> Iterator[Outcome]:
    """Judge how interfaces are put on network cards, which EC2 and Karpenter refuse at launch only."""
    if not listed:
        return
    places = Counter((item.card, item.device) for item in listed)
    for card, device in sorted(place for place, count in places.items() if count > 1):
        yield Problem(f"lists several interfaces as device {device} of network card {card}", fix=_ARRANGE)
    cards = Counter(item.card for item in listed if item.is_adapter)
    for card in sorted(card for card, count in cards.items() if count > 1):
        yield Problem(f"puts {cards[card]} adapters on network card {card}, which has room for one", fix=_ARRANGE)
    yield from _primary(pool, listed)
    if len(listed) > 1 and any(item.public for item in listed):
        yield Problem(
            f"asks for a public address with {len(listed)} interfaces: EC2 gives one to a single interface only, and "
            "the launch fails",
            fix="leave the public address out; nodes reach the internet through a NAT gateway",
        )


def _primary(pool: Pool, listed: tuple[Interface, ...]) -> Iterator[Outcome]:
    kinds = sorted(item.kind for item in listed if (item.card, item.device) == _FIRST)
    if not kinds:
        yield Problem("lists interfaces but none as device 0 of network card 0, the node's own", fix=_ARRANGE)
    elif efa.EFA_ONLY in kinds:
        yield Problem(f"makes {_OWN} an {efa.EFA_ONLY} one, which takes no IP address", fix=_ARRANGE)
    elif pool.kind is PoolKind.NODE_POOL and efa.INTERFACE not in kinds:
        yield Problem(f"makes {_OWN} an {kinds[0]} one, where an EC2NodeClass takes an ordinary one", fix=_ARRANGE)


_OWN: Final = "device 0 of network card 0, the node's own interface,"
_ARRANGE: Final = (
    "list one ordinary interface as device 0 of card 0 and one efa-only interface as device 1 of each card, as "
    "GpuNodeGroup and GpuNodePool do with efa: true"
)


def _let_through(pool: Pool, listed: tuple[Interface, ...], stack: Stack) -> Iterator[Outcome]:
    if not any(item.is_adapter for item in listed) and not _asked_for(pool, listed, stack):
        return
    groups = node_groups_of(pool, stack)
    if groups is None:
        return
    missing = lacks(groups, stack)
    if missing:
        names = f"security group{'' if len(groups) == 1 else 's'} {', '.join(group.name for group in groups)}"
        yield Problem(
            f"has adapters, and no rule of its {names} lets all traffic of the group's own members through "
            f"({' and '.join(missing)}); a rule for an address range does not reach them",
            fix="add rules of every protocol from and to the group itself, as the components do with efa: true",
        )


def _asked_for(pool: Pool, listed: tuple[Interface, ...], stack: Stack) -> bool:
    """Return whether Karpenter attaches adapters to a pool's nodes because pods ask for some."""
    left_to_karpenter = pool.kind is PoolKind.NODE_POOL and not listed and adapters_given(pool, stack) > 0
    return left_to_karpenter and any(attempt(_wants_adapters, pod) is True for pod in stack.lodgers(pool))


def _wants_adapters(pod: PodTemplate) -> bool:
    return resources.EFA in pod.extended_resources


def _pod(pod: PodTemplate, stack: Stack) -> Iterator[Outcome]:
    wanted = _amount(pod)
    given: dict[str, int | NotKnown] = {}
    for pool in stack.landing(pod):
        amount = attempt(adapters_given, pool, stack)
        if pool.unlisted or (not isinstance(amount, NotKnown) and amount >= wanted):
            return
        given[pool.name] = amount
    if not given:
        return
    known = {name: need(amount) for name, amount in given.items()}
    has = ", ".join(f"{name} gives {amount or 'none'}" for name, amount in sorted(known.items()))
    yield Problem(f"asks for {_adapters(wanted)} ({resources.EFA}), and of the pools that let it on, {has}")


def _amount(pod: PodTemplate) -> int:
    asked = (quantity(need(box.limits).get(resources.EFA, "0")) for box in need(pod.containers))
    return int(sum(amount for amount in asked if amount is not None))


def _group(count: int, *types: str) -> Example:
    """Return a node group of ``types`` that attaches ``count`` adapters."""
    listed = [{"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": efa.INTERFACE}]
    listed += [
        {"networkCardIndex": card, "deviceIndex": 1, "interfaceType": efa.EFA_ONLY, "securityGroups": ["sg-1"]}
        for card in range(count)
    ]
    itself = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]
    group = examples.resource(tokens.SECURITY_GROUP, "adapters", {"ingress": itself, "egress": itself})
    sound = examples.launch_template(networkInterfaces=listed)
    template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound.props, networkInterfaces=(group,))
    return Example((group, template, examples.node_group(template, instanceTypes=list(types))))


RULE: Final = Rule(
    id="NODE014",
    title="EFA fits the type",
    severity=Severity.HIGH,
    why=(
        "EC2 refuses a launch with more adapters than the type has, two on one card, or a public address beside them: "
        "no node ever comes. Adapters whose security group does not let its own members talk come up and carry "
        "nothing: NCCL falls back to TCP or hangs, on nodes that cost the most."
    ),
    fix=(
        "attach as many adapters as the type has (p4d 4, p5 32, p5en 16, g5 from 8xlarge on 1), or ask for fewer; "
        "GpuNodeGroup and GpuNodePool do with efa: true"
    ),
    lessons=("G09",),
    levels=EVERYWHERE,
    looks_at=Subjects("GPU pools, and pods with adapters", GPU_NODE_MAKERS.types, _subjects, _concerns),
    check=_check,
    failing=_group(4, "g5.2xlarge"),
    passing=_group(4, "p4d.24xlarge"),
)
