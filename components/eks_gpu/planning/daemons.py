"""Which DaemonSets reach the nodes of a pool, given that some wait for labels that others put there.

A DaemonSet comes to a node whose taints it tolerates and whose labels it selects, like any pod. What makes it hard to
see is the order: feature discovery must have come before the device plugin finds its label. So the nodes' labels grow
from those that they have at launch, until nobody else comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from eks_gpu.facts import discovery, labels
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.instances import InstanceType
from eks_gpu.facts.taints import Taint
from eks_gpu.planning.daemon import Circumstances, Daemon, Obstacle, Reach
from eks_gpu.planning.instance_labels import instance_labels
from eks_gpu.planning.placement.space import Space
from eks_gpu.planning.placement.taints import consents_of
from eks_gpu.planning.placement.wishes import Selection, Wish, selection
from eks_gpu.planning.pod_template import PodTemplate
from eks_gpu.planning.pool import Pool, family_of
from eks_gpu.planning.reading import NotKnown, attempt, need


def concerned_with(daemon: Daemon) -> frozenset[str]:
    """Return the labels of a pool that make a difference to a DaemonSet, or to those whom it helps."""
    brought = () if isinstance(daemon.adds, NotKnown) else daemon.adds
    marks = (key for key, _ in discovery.GPU_MARKS)
    by_operator = discovery.BY_OPERATOR if daemon.by_operator else ()
    return _selection(daemon.template).keys.union(daemon.opt_outs, brought, marks, by_operator, (labels.GPU_PRESENT,))


def told_apart(pool: Pool, daemons: Iterable[Daemon]) -> tuple[InstanceType, ...]:
    """Return one of each lot of a pool's instance types that no DaemonSet tells from each other."""
    keys = sorted({key for daemon in daemons for key in _selection(daemon.template).keys})
    lots: dict[tuple[str | None, ...], InstanceType] = {}
    for kind in pool.gpu_types:
        described = instance_labels(kind)
        lots.setdefault(tuple(described.get(key) for key in keys), kind)
    return tuple(lots.values())


def reach(pool: Pool, instance: InstanceType, daemons: tuple[Daemon, ...], around: Circumstances) -> Reach:
    """Return who comes to the nodes of one instance type of a pool, and who does not, and why.

    Raises ``NotKnownError`` when taints or labels of the pool are not known.
    """
    need(pool.taints)
    node = replace(pool, types=(instance,), unlisted=(), labels={**_by_nodeadm(pool, around), **need(pool.labels)})
    perhaps = _perhaps(pool, daemons, around)
    wanted = tuple(daemon for daemon in daemons if not daemon.opted_out(pool))
    arrived, labelled = _settled(node, wanted, hopeful=False)
    at_most, added = (
        arrived,
        {key: value for key, value in need(labelled.labels).items() if key not in need(pool.labels)},
    )
    if perhaps or _is_open(node) or any(_own_doubts(daemon, node) for daemon in wanted):
        hoped = replace(node, labels={**dict.fromkeys(perhaps, "true"), **need(node.labels)})
        at_most, labelled = _settled(hoped, wanted, hopeful=True)
    doubt = next(iter(perhaps.values()), None)
    return Reach(
        instance=instance,
        arrived=arrived,
        kept_off=tuple((daemon, _obstacle(daemon, labelled)) for daemon in wanted if not _among(daemon, at_most)),
        unclear=tuple(
            (daemon, _doubt(daemon, node) or doubt or _NOBODY_SAYS) for daemon in at_most if not _among(daemon, arrived)
        ),
        added=added,
    )


def joins(daemon: Daemon, pool: Pool, found: Reach) -> bool:
    """Return whether one that brings no labels is sure to come to every node of a pool, after those who have.

    ``found`` is who has come to nodes of one of its instance types; that they put the same labels on all is taken for
    granted. Raises ``NotKnownError`` when taints or labels of the pool are not known.
    """
    said, somehow = {**found.added, **need(pool.labels)}, _somehow(found.arrived)
    nodes = (replace(pool, types=(kind,), unlisted=(), labels=said) for kind in told_apart(pool, (daemon,)))
    return all(_welcome(daemon, node, Space(node), somehow) is True for node in nodes)


def _is_open(node: Pool) -> bool:
    """Return whether it is not known which values some labels of a pool can have."""
    return any(isinstance(part, NotKnown) for part in (node.requirements, node.capacity_types, node.zones))


_NOBODY_SAYS = NotKnown("", "labels", "given by DaemonSets of which nobody can tell whether they come")


def _settled(node: Pool, daemons: tuple[Daemon, ...], *, hopeful: bool) -> tuple[tuple[Daemon, ...], Pool]:
    """Return who has come when nobody else comes, and the node with the labels that they have put on it.

    ``hopeful`` takes for true whatever cannot be told.
    """
    arrived: tuple[Daemon, ...] = ()
    while True:
        node = _labelled_by_operator(node, daemons)
        space, somehow = Space(node), _somehow(arrived)
        come = tuple(each for each in daemons if _welcome(each, node, space, somehow) in _ANSWERS[hopeful])
        if len(come) == len(arrived):
            return arrived, node
        arrived = come
        added = {
            key: value
            for daemon in come
            for key, value in _effective(daemon, come, daemons).items()
            if value is not None
        }
        node = replace(node, labels={**added, **need(node.labels)})


_ANSWERS: Mapping[bool, tuple[bool | None, ...]] = {True: (True, None), False: (True,)}


def _welcome(daemon: Daemon, node: Pool, space: Space, somehow: frozenset[str]) -> bool | None:
    """Return whether a DaemonSet comes to a node; None when that cannot be told.

    Labels whose value depends on the node are taken to fit.
    """
    if daemon.doubt is not None:
        return None
    untolerated = _untolerated(daemon, node)
    if isinstance(untolerated, Taint):
        return False
    chosen = _chosen(daemon.template, space, need(node.labels), somehow)
    certain = untolerated is None and not _unknown_parts(daemon)
    return chosen if certain or chosen is False else None


def _untolerated(daemon: Daemon, node: Pool) -> Taint | NotKnown | None:
    return attempt(lambda: consents_of(daemon.template).untolerated(need(node.taints)))


def _chosen(template: PodTemplate, space: Space, said: Mapping[str, str], somehow: frozenset[str]) -> bool | None:
    """Return whether a node is one that a template wants, as far as the template is known."""
    answers = [
        [_met(wish, space, said) for wish in alternative]
        for alternative in _selection(template).without(somehow).alternatives
    ]
    if any(all(answer is True for answer in alternative) for alternative in answers):
        return True
    return None if any(False not in alternative for alternative in answers) else False


def _met(wish: Wish, space: Space, said: Mapping[str, str]) -> bool | None:
    if wish.key not in said and wish.key.startswith(discovery.BY_SOFTWARE):
        return wish.admits(None)
    answer = space.answer(wish)
    return True if answer.sure else None if answer.maybe else False


def _doubt(daemon: Daemon, node: Pool) -> NotKnown | None:
    """Return what is not known about a DaemonSet itself."""
    own = next(iter(_own_doubts(daemon, node)), None)
    parts = (node.requirements, node.capacity_types, node.zones)
    return own or next((part for part in parts if isinstance(part, NotKnown)), None)


def _own_doubts(daemon: Daemon, node: Pool) -> tuple[NotKnown, ...]:
    """Return what is not known about a DaemonSet, and whether it tolerates the taints of a node."""
    untolerated = _untolerated(daemon, node)
    return (*_unknown_parts(daemon), *((untolerated,) if isinstance(untolerated, NotKnown) else ()))


def _unknown_parts(daemon: Daemon) -> tuple[NotKnown, ...]:
    template = daemon.template
    parts = (daemon.doubt, template.tolerations, template.selector, template.affinity, daemon.adds)
    return tuple(part for part in parts if isinstance(part, NotKnown))


def _selection(template: PodTemplate) -> Selection:
    """Return what a template wants of a node's labels, as far as it is known."""
    selector, affinity = template.selector, template.affinity
    return selection(
        () if isinstance(selector, NotKnown) else selector, () if isinstance(affinity, NotKnown) else affinity
    )


def _somehow(come: Iterable[Daemon]) -> frozenset[str]:
    """Return the labels that those who have come put on a node with values that depend on it."""
    return frozenset(
        key
        for daemon in come
        if not isinstance(daemon.adds, NotKnown)
        for key, value in daemon.adds.items()
        if value is None
    )


def _effective(daemon: Daemon, come: tuple[Daemon, ...], daemons: tuple[Daemon, ...]) -> Mapping[str, str | None]:
    """Return the labels that a DaemonSet gets onto a node: GPU feature discovery's pass through the other one."""
    if isinstance(daemon.adds, NotKnown):
        return {}
    through = daemon.role is Role.GFD and any(each.role is Role.NFD for each in daemons)
    return {} if through and not any(each.role is Role.NFD for each in come) else daemon.adds


def _labelled_by_operator(node: Pool, daemons: tuple[Daemon, ...]) -> Pool:
    said = need(node.labels)
    marked = any(said.get(key) == value for key, value in discovery.GPU_MARKS)
    if not marked or said.get(discovery.DEPLOY_OPERANDS) == labels.NOT_DEPLOYED:
        return node
    if not any(daemon.by_operator for daemon in daemons):
        return node
    return replace(node, labels={**discovery.BY_OPERATOR, **said})


def _obstacle(daemon: Daemon, node: Pool) -> Obstacle:
    taint = _untolerated(daemon, node)
    if isinstance(taint, Taint):
        fits = _chosen(daemon.template, Space(node), need(node.labels), frozenset())
        return Obstacle(taint, f"does not tolerate the taint {taint}", wanted=fits is not False)
    space, said = Space(node), need(node.labels)
    unmet = [
        next((str(wish) for wish in alternative if _met(wish, space, said) is False), "")
        for alternative in _selection(daemon.template).alternatives
    ]
    named = " or ".join(dict.fromkeys(filter(None, unmet))) or "an affinity term without conditions"
    return Obstacle(None, f"requires {named}, which no node there has", wanted=False)


def _by_nodeadm(pool: Pool, around: Circumstances) -> dict[str, str]:
    """Return the labels that a node's image puts on it, where that is sure."""
    sure = not isinstance(around.kubernetes, NotKnown) and around.kubernetes >= discovery.NODEADM_LABELS_FROM
    return {labels.GPU_PRESENT: "true"} if sure and attempt(family_of, pool) is AmiFamily.AL2023 else {}


def _perhaps(pool: Pool, daemons: tuple[Daemon, ...], around: Circumstances) -> dict[str, NotKnown]:
    """Return the labels that a node may have from the start or get from elsewhere, with what is not known about it."""
    found: dict[str, NotKnown] = {}
    present = _maybe_present(pool, around)
    if present is not None and labels.GPU_PRESENT not in need(pool.labels):
        found[labels.GPU_PRESENT] = present
    if not around.complete and not any(daemon.role is Role.NFD for daemon in daemons):
        unsaid = NotKnown(pool.urn, "labels", "whether the cluster runs node feature discovery")
        found |= {key: unsaid for key, _ in discovery.GPU_MARKS}
    return found


def _maybe_present(pool: Pool, around: Circumstances) -> NotKnown | None:
    family = attempt(family_of, pool)
    if isinstance(family, NotKnown):
        return family
    if family is None:
        return NotKnown(pool.urn, "image", "somebody's own: nobody says how it labels its nodes")
    return around.kubernetes if family is AmiFamily.AL2023 and isinstance(around.kubernetes, NotKnown) else None


def _among(daemon: Daemon, others: Iterable[Daemon]) -> bool:
    return any(daemon is other for other in others)
