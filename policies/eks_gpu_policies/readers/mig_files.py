"""How GPUs are partitioned: the layouts that the MIG manager is given, and commands that make partitions by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts import labels, mig
from eks_gpu.facts.gpu_software import MIG_CONFIG_FILE
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu.planning.sharing.mig_layouts import LayoutFile, created, read_layout_file
from eks_gpu_policies import charts
from eks_gpu_policies.program import Program, once
from eks_gpu_policies.readers.sharing import config_map, parsed
from eks_gpu_policies.readers.user_data import user_data_of
from eks_gpu_policies.resource import Resource

MANAGER_CONFIG: Final = ("migManager", "config")
_COMMAND: Final = ("command", "args")
_MIG: Final = "mig"


def operators(program: Program) -> tuple[Resource, ...]:
    """Return the releases of the GPU Operator."""
    return charts.releases(program, GPU_OPERATOR.name)


def own_layouts(release: Resource, program: Program) -> LayoutFile | None:
    """Return the layouts that an operator's MIG manager is given; None where it makes its own.

    Raises ``NotKnownError`` when they are in a ConfigMap that is not in the stack.
    """
    config = charts.values(release).at(*MANAGER_CONFIG)
    inline = config["data"][MIG_CONFIG_FILE]
    if inline.exists:
        return read_layout_file(parsed(inline))
    if not config["name"].exists or config["name"].data == "":
        return None
    return read_layout_file(parsed(config_map(release, config["name"], program).view["data"][MIG_CONFIG_FILE]))


@once
def layout_files(program: Program) -> tuple[LayoutFile | NotKnown, ...]:
    """Return the layouts of each operator whose MIG manager is given some, or what is not known of them."""
    found = (attempt(own_layouts, item, program) for item in operators(program))
    return tuple(file for file in found if file is not None)


def default_layout(release: Resource) -> str:
    """Return the layout of nodes that name none."""
    return charts.values(release).at(*MANAGER_CONFIG)["default"].text() or mig.ALL_DISABLED


def strategy_of(release: Resource) -> str:
    """Return the MIG strategy of an operator."""
    return charts.values(release).at("mig", "strategy").text() or mig.SINGLE


def made_by(pod: PodTemplate) -> Iterator[tuple[str, ...]]:
    """Yield the partitions that a pod's commands make."""
    for container in pod.all_containers:
        yield from created(_said(container))


def _said(container: Container) -> str:
    return " ".join(_text(container.place[part]) for part in _COMMAND)


def _text(place: View) -> str:
    text = place.text()
    return " ".join(place.texts()) if text is None else text


def makes_partitions(pod: PodTemplate) -> bool:
    """Return whether a pod's commands are known to make partitions."""
    found = attempt(lambda: tuple(made_by(pod)))
    return isinstance(found, tuple) and bool(found)


def commands_of(pool: Pool, program: Program) -> tuple[tuple[str, ...], ...]:
    """Return the partitions that a pool's user data makes; none where it is not known."""
    data = attempt(user_data_of, pool, program)
    return () if isinstance(data, NotKnown) else tuple(made for line in data.lines for made in created(line))


def bottlerocket_profiles(pool: Pool, program: Program) -> tuple[str, ...] | None:
    """Return the profiles that Bottlerocket's own settings ask for; None where they do not partition GPUs.

    A profile may also be a number of slices, which is left out: no model is short of a slice.
    """
    data = attempt(user_data_of, pool, program)
    settings = View(None, "") if isinstance(data, NotKnown) else data.settings["kubelet-device-plugins"]["nvidia"]
    if settings["device-partitioning-strategy"].text() != _MIG:
        return None
    named = (place.text() or "" for _, place in settings.at("mig", "profile").entries())
    return tuple(name for name in named if "g." in name)


def layout_of(pool: Pool) -> str | None:
    """Return the layout that a pool's nodes are labelled with; None where none is, or MIG is to be off."""
    name = need(pool.labels).get(labels.MIG_CONFIG)
    return None if name == mig.ALL_DISABLED else name


def models_of(pool: Pool) -> tuple[InstanceType, ...]:
    """Return one instance type of each GPU model that a pool may buy."""
    return tuple({kind.gpu_model: kind for kind in pool.gpu_types}.values())
