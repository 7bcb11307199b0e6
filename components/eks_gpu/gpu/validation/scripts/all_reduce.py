# ruff: noqa: INP001, T201 - a program that speaks by its output, and no module of the package
"""An all-reduce by NCCL over every GPU of the job: the sum must be right, and arrive as fast as it should.

Started by torchrun once for each GPU. EXPECTED_GB_PER_SECOND is the least bus bandwidth, NAME what the result is
called.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from typing import Any

# Only the image has them.
torch: Any = import_module("torch")
dist: Any = import_module("torch.distributed")

ELEMENTS = 2**28
"""Of four bytes each: one GiB, so that latency is nothing."""

WARM_UP = 5
ROUNDS = 20
GB = 10**9


def bus_bandwidth(seconds: float, ranks: int) -> float:
    """Return GB/s as nccl-tests count them: what each GPU sends, however many there are."""
    return ELEMENTS * 4 / seconds * 2 * (ranks - 1) / ranks / GB


def measure(ranks: int) -> tuple[bool, float]:
    """Return whether the sum was right, and the bus bandwidth."""
    data = torch.ones(ELEMENTS, dtype=torch.float32, device="cuda")
    dist.all_reduce(data)
    right = bool((data == ranks).all().item())
    for _ in range(WARM_UP):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(ROUNDS):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    return right, bus_bandwidth((time.perf_counter() - started) / ROUNDS, ranks)


def main() -> int:
    """Run, print one line on the first rank, and return the exit code."""
    name, expected = os.environ["NAME"], float(os.environ["EXPECTED_GB_PER_SECOND"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    ranks = dist.get_world_size()
    right, found = measure(ranks)
    passed = right and found >= expected
    if dist.get_rank() == 0:
        result = f"{found:.1f} GB/s over {ranks} GPUs" if right else f"a wrong sum over {ranks} GPUs"
        print(f"{name}: {'PASS' if passed else 'FAIL'} expected at least {expected:g} GB/s, got {result}", flush=True)
    dist.destroy_process_group()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
