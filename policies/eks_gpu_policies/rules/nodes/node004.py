"""NODE004: GPU pools repel pods that asked for no GPU.

A pool that keeps other pods off by a taint of its own words gets advice only: it does what is asked, and the price,
tolerations in every chart and pod, is its owner's to pay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.taints import GPU, Effect
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import need
from eks_gpu_policies import examples
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_POOLS


def _check(pool: Pool, _stack: Stack) -> Iterator[Outcome]:
    repelling = [taint.key for taint in need(pool.taints) if taint.effect is not Effect.PREFER_NO_SCHEDULE]
    if GPU.key in repelling:
        return
    if repelling:
        yield Problem(
            f"keeps other pods off by {', '.join(repelling)} only, which charts for GPU nodes do not tolerate by "
            "default and which every GPU pod must tolerate by itself",
            advisory=True,
        )
        return
    remedy = "; nothing but omission lets it buy GPUs, so exclude them or add the taint" if pool.by_omission else ""
    yield Problem(f"buys {_bought(pool)} but has no taint {GPU.key} that keeps other pods off{remedy}")


def _bought(pool: Pool) -> str:
    dearest = pool.dearest
    if dearest is None:
        return ", ".join((*pool.unlisted, *(item.name for item in pool.gpu_types)))
    return f"nodes of up to ${dearest.usd_per_hour:.2f}/h ({dearest.name})"


_TEMPLATE = examples.launch_template()

RULE: Final = Rule(
    id="NODE004",
    title="GPU pools repel pods that asked for no GPU",
    severity=Severity.HIGH,
    why=(
        "Without a taint the scheduler fills GPU nodes with ordinary pods. The node cannot scale in while they run, "
        "so its GPUs are paid for and idle, and pods that need them find no CPU left."
    ),
    fix=f"give the pool the taint {GPU}, as GpuNodeGroup and GpuNodePool do",
    lessons=("N05",),
    looks_at=GPU_POOLS,
    check=_check,
    failing=Example((_TEMPLATE, examples.node_group(_TEMPLATE, taints=None))),
    passing=Example((_TEMPLATE, examples.node_group(_TEMPLATE))),
)
