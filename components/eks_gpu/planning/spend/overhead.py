"""What DaemonSets cost: their share of every GPU node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eks_gpu.facts import resources
from eks_gpu.facts.instances import InstanceType
from eks_gpu.planning.placement import requests
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.reading import NotKnown, attempt

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


def overhead(instance: InstanceType, daemons: Iterable[tuple[str, PodTemplate]]) -> Overhead:
    """Return what ``daemons``, all of which run on the node, take of a node of the type; by name, once each."""
    cpu, memory = 0, 0
    counted: list[str] = []
    uncounted: list[str] = []
    for name, daemon in dict(daemons).items():
        asked = attempt(requests, daemon)
        if isinstance(asked, NotKnown):
            uncounted.append(name)
            continue
        cpu += asked.get(resources.CPU, 0)
        memory += asked.get(resources.MEMORY, 0)
        counted.append(name)
    return Overhead(instance, cpu, round(memory / _MIB), tuple(counted), tuple(uncounted))
