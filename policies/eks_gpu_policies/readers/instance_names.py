"""The names of the instance types that a group of nodes may buy, GPUs or not."""

from __future__ import annotations

from eks_gpu.planning.instance_choice import DEFAULT_TYPE
from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.launch_templates import used_by


def named_types(pool: Pool, program: Program) -> tuple[str, ...]:
    """Return the instance types that a group names, itself or in its launch template; EKS's own where it names none.

    A node pool, which buys by requirements, names none here. Raises ``NotKnownError`` when they are not known.
    """
    if pool.kind is PoolKind.NODE_POOL:
        return ()
    view = program.by_urn[pool.urn].view
    template = used_by(pool, program)
    overrides = view.at("mixedInstancesPolicy", "launchTemplate", "overrides").items()
    named = (
        *view["instanceTypes"].texts(),
        *(name for item in overrides if (name := item["instanceType"].text()) is not None),
    )
    if named:
        return named
    of_template = template["instanceType"].text()
    return (DEFAULT_TYPE if of_template is None else of_template,)
