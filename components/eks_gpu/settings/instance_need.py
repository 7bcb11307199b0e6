"""Instance types by need: what a node must have, resolved from the catalogue to one list of types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from eks_gpu.facts import ami, instances
from eks_gpu.facts.instances import InstanceType
from eks_gpu.settings.block import Block

MIB_PER_GIB: Final = 1024

_Test = Callable[[InstanceType], bool]


class InstanceNeed(Block):
    """What every node must have. It becomes the list of all instance types that have it, cheapest first.

    The list comes from the catalogue of this release, so the same file gives the same list everywhere. A need that
    GPUs of several models meet is refused with the choices: a pool has one model, so that a pod knows what it gets.
    """

    gpus: int | None = Field(default=None, ge=1)
    """GPUs of a node, exactly."""

    gpu: str | None = None
    """GPU model, as Karpenter names it: ``a10g``, ``l40s``, ``h100``."""

    gpu_memory_gib: int | None = Field(default=None, ge=1)
    """Memory of one GPU in GiB, at least. A model that comes in several sizes is taken in the smallest that is enough:
    ``{gpu: a100, gpu_memory_gib: 40}`` is p4d and never p4de."""

    arch: Literal["amd64", "arm64"] | None = None
    """Architecture of the processor; whichever the GPU model comes with when left out."""

    vcpu: Annotated[int, Field(ge=1)] | None = None
    """Virtual processors of a node, at least."""

    memory_gib: int | None = Field(default=None, ge=1)
    """Main memory of a node in GiB, at least."""

    local_nvme_gb: int | None = Field(default=None, ge=1)
    """Local NVMe disks of a node in GB all together, at least."""

    efa: bool = False
    """Whether a node must be able to have Elastic Fabric Adapters."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self._tests():
            raise ValueError(
                "needs nothing, so every GPU would do; give gpus and gpu, such as {gpus: 8, gpu: a100, "
                "gpu_memory_gib: 40}, or a list of instance types"
            )
        return self

    def __str__(self) -> str:
        """Return the need as a stack file writes it."""
        return "{" + ", ".join(f"{key}: {_written(getattr(self, key))}" for key in self._tests()) + "}"

    def resolve(self) -> tuple[str, ...]:
        """Return the names of the instance types, cheapest first; raise ``ValueError`` unless one GPU model has all."""
        found = self._one_memory_size(_meeting(self._tests().values()))
        if not found:
            raise ValueError(f"{self} is met by no instance type; {self._advice()}")
        models = _grouped(found)
        if len(models) > 1:
            choices = ", ".join(_model(types) for types in models.values())
            raise ValueError(
                f"{self} is met by several GPU models, and a pod could not tell which one it gets: {choices}; choose "
                "one by gpu and, where it comes in several sizes, gpu_memory_gib, and make one pool for each"
            )
        return tuple(kind.name for kind in sorted(found, key=_cheapest_first))

    def _one_memory_size(self, found: tuple[InstanceType, ...]) -> tuple[InstanceType, ...]:
        """Keep the smallest memory that is enough, where model and memory are both said."""
        if self.gpu is None or self.gpu_memory_gib is None or not found:
            return found
        smallest = min(kind.gpu_memory_mib for kind in found)
        return tuple(kind for kind in found if kind.gpu_memory_mib == smallest)

    def _tests(self) -> Mapping[str, _Test]:
        """Return what is asked of an instance type, by key."""
        asked: dict[str, _Test] = {
            "gpus": lambda kind: kind.gpu_count == self.gpus,
            "gpu": lambda kind: kind.gpu_name == self.gpu,
            "gpu_memory_gib": lambda kind: kind.gpu_memory_mib >= (self.gpu_memory_gib or 0) * MIB_PER_GIB,
            "arch": lambda kind: kind.arch == self.arch,
            "vcpu": lambda kind: kind.vcpu >= (self.vcpu or 0),
            "memory_gib": lambda kind: kind.memory_mib >= (self.memory_gib or 0) * MIB_PER_GIB,
            "local_nvme_gb": lambda kind: kind.local_nvme_gb >= (self.local_nvme_gb or 0),
            "efa": lambda kind: kind.efa_interfaces > 0,
        }
        return {key: test for key, test in asked.items() if getattr(self, key)}

    def _advice(self) -> str:
        """Return what one key alone could be changed to, with all others as they are."""
        tests = self._tests()
        ways = []
        for key in tests:
            rest = _meeting(test for other, test in tests.items() if other != key)
            if rest:
                ways.append(f"{key} {_OFFERS[key](rest)}")
        return f"with all else as it is, {', or '.join(ways)}" if ways else "ask for less"


def _meeting(tests: Iterable[_Test]) -> tuple[InstanceType, ...]:
    """Return the usable types of the catalogue that pass every test."""
    wanted = tuple(tests)
    return tuple(kind for kind in _usable() if all(test(kind) for test in wanted))


def _usable() -> Iterable[InstanceType]:
    """Return the types of which a pool can be made: with whole GPUs that the pinned image can drive."""
    return (
        kind for kind in instances.CATALOGUE.values() if kind.gpu_count and kind.family not in ami.AL2023_RELEASE_LACKS
    )


def _grouped(types: Iterable[InstanceType]) -> dict[tuple[str, int, str], list[InstanceType]]:
    groups: dict[tuple[str, int, str], list[InstanceType]] = {}
    for kind in sorted(types, key=_cheapest_first):
        groups.setdefault((*kind.gpu_model, kind.arch), []).append(kind)
    return groups


def _model(types: list[InstanceType]) -> str:
    first = types[0]
    return f"{first.gpu_name} {first.gpu_memory_mib // MIB_PER_GIB} GiB ({', '.join(kind.name for kind in types)})"


def _cheapest_first(kind: InstanceType) -> tuple[float, str]:
    """Order by price; types without one (capacity blocks only) come last."""
    return (kind.usd_per_hour if kind.usd_per_hour is not None else float("inf"), kind.name)


def _written(value: object) -> str:
    return "true" if value is True else str(value)


def _one_of(attribute: str) -> Callable[[tuple[InstanceType, ...]], str]:
    def offer(types: tuple[InstanceType, ...]) -> str:
        values = sorted({getattr(kind, attribute) for kind in types})
        return f"can be {' or '.join(str(value) for value in values)}"

    return offer


def _at_most(attribute: str, unit: int = 1) -> Callable[[tuple[InstanceType, ...]], str]:
    return lambda types: f"can be at most {max(getattr(kind, attribute) for kind in types) // unit}"


_OFFERS: Final[Mapping[str, Callable[[tuple[InstanceType, ...]], str]]] = {
    "gpus": _one_of("gpu_count"),
    "gpu": _one_of("gpu_name"),
    "gpu_memory_gib": _at_most("gpu_memory_mib", MIB_PER_GIB),
    "arch": _one_of("arch"),
    "vcpu": _at_most("vcpu"),
    "memory_gib": _at_most("memory_mib", MIB_PER_GIB),
    "local_nvme_gb": _at_most("local_nvme_gb"),
    "efa": lambda _: "must be left out",
}
"""What could stand at each key instead, given the types that meet all other keys."""
