"""CPU and memory beside a GPU: floors, shares of nodes, and GPUs that are left over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts.instances import CATALOGUE, InstanceType
from eks_gpu.planning.feeding import INFERENCE, TRAINING, Portion, floor, share, stranded, used

GIB = 2**30
KINDS = st.sampled_from([kind for kind in CATALOGUE.values() if kind.gpu_count])


def test_w07_the_floors_are_those_of_the_field() -> None:
    large = [CATALOGUE["p5.48xlarge"]]
    assert floor(INFERENCE, large) == Portion(4000, 8 * GIB)
    assert floor(TRAINING, large) == Portion(8000, 32 * GIB)
    assert floor(INFERENCE, []) == INFERENCE.least


def test_w07_a_g5_xlarge_has_less_than_four_cpu_for_its_gpu() -> None:
    assert share(CATALOGUE["g5.xlarge"]).cpu == 3920
    assert floor(INFERENCE, [CATALOGUE["g5.xlarge"], CATALOGUE["p5.48xlarge"]]).cpu == 2940


@given(st.lists(KINDS, min_size=1, max_size=4))
def test_a_floor_is_never_above_what_every_node_has(kinds: list[InstanceType]) -> None:
    least = floor(TRAINING, kinds)
    assert all(least.cpu <= share(kind).cpu and least.memory <= share(kind).memory for kind in kinds)


@given(KINDS, st.integers(1, 8), st.integers(0, 200_000), st.integers(0, 2048))
def test_gpus_are_used_or_left_over(kind: InstanceType, gpus: int, cpu: int, memory_gib: int) -> None:
    asked = Portion(cpu, memory_gib * GIB)
    assert used(kind, gpus, asked) + stranded(kind, gpus, asked) == kind.gpu_count // gpus * gpus
    assert used(kind, gpus, asked) >= 0


def test_pods_that_ask_nothing_leave_nothing_over() -> None:
    assert stranded(CATALOGUE["g5.48xlarge"], 1, Portion(0, 0)) == 0
    assert stranded(CATALOGUE["g5.12xlarge"], 1, Portion(30_000, 0)) == 3
