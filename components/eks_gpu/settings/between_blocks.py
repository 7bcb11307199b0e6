"""What must hold between blocks: checks that no block can make alone.

They read the plain data and not the validated blocks, so that a file's other mistakes do not hide these.
Whatever is not of the right type is somebody else's problem here and counts as not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eks_gpu.facts import instances
from eks_gpu.facts.network import ZONE, region_of
from eks_gpu.settings.between_pools import (
    SharingPool,
    models_of,
    problems_of_server,
    problems_of_sharing,
    sharing_of,
)
from eks_gpu.settings.explain import nearest
from eks_gpu.settings.instance_types import names_in
from eks_gpu.settings.network import EXISTING
from eks_gpu.settings.problems import Location, Problem

Data = Mapping[str, object]

_POOL_BLOCKS: Final = ("node_groups", "node_pools")

_NEEDING_GPUS: Final = (*_POOL_BLOCKS, "model_cache", "monitoring", "workloads")
"""Blocks that are nothing without GPUs that pods can see."""


def problems_between_blocks(data: object, region: str | None = None) -> Iterator[Problem]:
    """Yield what does not fit together in the data of ``eks-gpu:platform``, deployed to ``region`` if that is known."""
    platform = _block(data)
    if region is not None:
        yield from _zones_are_in_the_region(platform, region)
    yield from _names_are_unique(platform)
    yield from _former_names_are_gone(platform)
    yield from _zones_are_the_networks(platform)
    yield from _existing_cluster_has_its_network(platform)
    yield from _system_nodes_are_the_new_clusters(platform)
    yield from _gpus_have_an_owner(platform)
    yield from _servers_find_their_gpus(platform)
    yield from _gpus_are_shared_as_their_owner_can(platform)
    yield from _new_nodes_are_validated(platform)
    yield from _waivers_are_given_once(platform)


def _new_nodes_are_validated(platform: Data) -> Iterator[Problem]:
    if "validation" in _at(platform, "gpu_software"):
        yield from _validation_finds_something(platform)
        return
    for name, pool in _at(platform, "node_pools").items():
        if _block(pool).get("validate_new_nodes") is True:
            yield Problem(
                ("node_pools", name, "validate_new_nodes"),
                "keeps workloads off new nodes until they are validated, and nothing validates them; add "
                "validation: {} under gpu_software",
            )


def _validation_finds_something(platform: Data) -> Iterator[Problem]:
    pools = _at(platform, "node_pools")
    closed = any(_block(pool).get("validate_new_nodes") is True for pool in pools.values())
    all_pools = _at(platform, "gpu_software", "validation").get("node_pools") is True
    if pools and not (_at(platform, "node_groups") or closed or all_pools):
        yield Problem(
            ("gpu_software", "validation"),
            "proves nothing, because there is no node group and Karpenter's pools are left out; set node_pools: true, "
            "which buys a node of each, or validate_new_nodes: true on a pool, or remove validation",
        )


def _names_are_unique(platform: Data) -> Iterator[Problem]:
    groups = _at(platform, "node_groups")
    for name in _at(platform, "node_pools"):
        if name in groups:
            yield Problem(
                ("node_pools", name),
                "is also the name of a node group; name one of the two differently, because workloads, waivers and "
                "alerts know a pool by its name",
            )


def _former_names_are_gone(platform: Data) -> Iterator[Problem]:
    for location, pool in _pools(platform):
        block = _at(platform, str(location[0]))
        for former in _texts(pool.get("previously")):
            if former in block:
                yield Problem(
                    (*location, "previously"),
                    f'names "{former}", which is still there; a former name is one that nothing has any more',
                )


def _zones_are_the_networks(platform: Data) -> Iterator[Problem]:
    network = _at(platform, "network")
    zones = _texts(network.get("zones")) or tuple(_at(network, EXISTING, "private_subnets"))
    if not zones:
        return
    for location, pool in _pools(platform):
        named = dict.fromkeys(_texts(_at(pool, "reservation").get("zone")), (*location, "reservation", "zone"))
        named |= {zone: (*location, "zones", index) for index, zone in enumerate(_texts(pool.get("zones")))}
        for zone, place in named.items():
            if zone not in zones:
                yield Problem(place, f'is "{zone}"; the network has {", ".join(zones)}{nearest(zone, zones)}')


def _zones_are_in_the_region(platform: Data, region: str) -> Iterator[Problem]:
    network = _at(platform, "network")
    places: dict[Location, tuple[str, ...]] = {
        ("network", "zones"): _texts(network.get("zones")),
        ("network", EXISTING, "private_subnets"): tuple(_at(network, EXISTING, "private_subnets")),
    }
    for location, zones in places.items():
        elsewhere = [zone for zone in zones if ZONE.fullmatch(zone) and region_of(zone) != region]
        if elsewhere:
            yield Problem(
                location, f"has {', '.join(elsewhere)}, but aws:region is {region}; give zones of it, or another region"
            )


def _existing_cluster_has_its_network(platform: Data) -> Iterator[Problem]:
    network = _at(platform, "network")
    if EXISTING in _at(platform, "cluster") and network and EXISTING not in network:
        yield Problem(
            ("network",),
            "is a new one, but the cluster exists and cannot move into it; give network: {existing: {vpc_id: …, "
            "private_subnets: …}} with the cluster's own VPC",
        )


def _system_nodes_are_the_new_clusters(platform: Data) -> Iterator[Problem]:
    cluster = _at(platform, "cluster")
    if EXISTING in cluster and platform.get("system_nodes") is not None:
        yield Problem(
            ("system_nodes",), "belongs to a new cluster, but the cluster exists and has nodes of its own; remove it"
        )
    if cluster and EXISTING not in cluster and platform.get("system_nodes") is None:
        yield Problem(
            ("system_nodes",),
            "is missing: a new cluster needs CPU nodes for its controllers, and they cost money all day; give for "
            "example {instance_types: [m7i.xlarge], size: {min: 2, max: 4}}",
        )


def _gpus_have_an_owner(platform: Data) -> Iterator[Problem]:
    needing = [key for key in _NEEDING_GPUS if platform.get(key)]
    if needing and platform.get("gpu_software") is None:
        yield Problem(
            ("gpu_software",),
            f"is missing, but {', '.join(needing)} {'need' if needing[1:] else 'needs'} it: without it no pod sees a "
            "GPU; give {kind: operator} or {kind: device_plugin}",
        )


def _servers_find_their_gpus(platform: Data) -> Iterator[Problem]:
    offered = {
        instances.CATALOGUE[name].gpu_name
        for _, pool in _pools(platform)
        for name in names_in(pool.get("instance_types"))
    }
    for location, server in _servers(platform):
        wanted = _texts(server.get("gpu_types"))
        if wanted and not offered.intersection(wanted):
            yield Problem(
                (*location, "gpu_types"),
                f"is {', '.join(wanted)}, which no group or pool has; they have {', '.join(sorted(offered)) or 'none'}",
            )


def _gpus_are_shared_as_their_owner_can(platform: Data) -> Iterator[Problem]:
    pools = [
        SharingPool(
            location,
            sharing_of(pool),
            models_of(names_in(pool.get("instance_types"))),
            warm=bool(pool.get("warm_nodes")),
            closed=pool.get("validate_new_nodes") is True,
        )
        for location, pool in _pools(platform)
    ]
    owner = _at(platform, "gpu_software")
    yield from problems_of_sharing(owner, pools)
    for location, server in _servers(platform):
        asked = (_texts(server.get("gpu_types")), server.get("mig_profile"))
        yield from problems_of_server(location, asked, owner, pools)


def _waivers_are_given_once(platform: Data) -> Iterator[Problem]:
    waivers = platform.get("waivers")
    seen: set[tuple[object, object]] = set()
    for index, waiver in enumerate(waivers if isinstance(waivers, list | tuple) else ()):
        rule, resource = _block(waiver).get("rule"), _block(waiver).get("resource")
        if isinstance(rule, str) and isinstance(resource, str):
            if (rule, resource) in seen:
                yield Problem(
                    ("waivers", index), f"waives {rule} for {resource} a second time; keep the one that is meant"
                )
            seen.add((rule, resource))


# --- reading plain data that may be anything ---------------------------------------------------------------------


def _block(value: object) -> Data:
    return value if isinstance(value, Mapping) else {}


def _at(block: Data, *keys: str) -> Data:
    for key in keys:
        block = _block(block.get(key))
    return block


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _pools(platform: Data) -> Iterator[tuple[Location, Data]]:
    """Yield node groups and node pools with their places."""
    for kind in _POOL_BLOCKS:
        for name, pool in _at(platform, kind).items():
            yield (kind, name), _block(pool)


def _servers(platform: Data) -> Iterator[tuple[Location, Data]]:
    """Yield the model servers with their places."""
    for kind, server in _at(platform, "workloads").items():
        yield ("workloads", kind), _block(server)
