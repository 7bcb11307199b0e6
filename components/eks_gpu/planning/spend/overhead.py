"""What DaemonSets cost: their share of every GPU node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.quantity import quantity
from eks_gpu.planning.reading import NotKnown, attempt, need

_MIB = 2**20
_HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True)
class Overhead:
    """What DaemonSets take of one node."""

    instance: InstanceType
    cpu_millicores: int
    memory_mib: int
    daemons: tuple[str, ...]
    """Names of those that are counted."""
    uncounted: tuple[str, ...] = ()
    """Names of those whose requests are not known."""

    @property
    def share(self) -> float:
        """The larger of their shares of the node's allocatable CPU and memory."""
        return max(
            self.cpu_millicores / self.instance.allocatable_cpu_millicores,
            self.memory_mib / self.instance.allocatable_memory_mib,
        )

    @property
    def usd_per_day(self) -> float | None:
        """That share of what the node costs in a day on demand; None where the price is not known."""
        usd = self.instance.usd_per_hour
        return None if usd is None else self.share * usd * _HOURS_PER_DAY


def overhead(instance: InstanceType, daemons: Sequence[PodTemplate]) -> Overhead:
    """Return what ``daemons``, all of which run on the node, take of a node of the type."""
    cpu, memory = Fraction(0), Fraction(0)
    counted: list[str] = []
    uncounted: list[str] = []
    for daemon in daemons:
        asked = attempt(_asked, daemon)
        if isinstance(asked, NotKnown):
            uncounted.append(daemon.name)
            continue
        cpu, memory = cpu + asked[0], memory + asked[1]
        counted.append(daemon.name)
    return Overhead(instance, round(cpu * 1000), round(memory / _MIB), tuple(counted), tuple(uncounted))


def _asked(pod: PodTemplate) -> tuple[Fraction, Fraction]:
    boxes = need(pod.containers)
    return (
        sum((_request(box, resources.CPU) for box in boxes), Fraction(0)),
        sum((_request(box, resources.MEMORY) for box in boxes), Fraction(0)),
    )


def _request(container: Container, resource: str) -> Fraction:
    """Return a request; where only a limit is set, Kubernetes requests as much."""
    text = need(container.requests).get(resource) or need(container.limits).get(resource)
    return (quantity(text) if text else None) or Fraction(0)
