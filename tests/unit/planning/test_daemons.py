"""Which DaemonSets reach a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.facts import discovery, labels
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.chart_defaults import Role
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.taints import GPU, Effect, Taint
from eks_gpu.planning.daemon import Circumstances, Daemon, Reach
from eks_gpu.planning.daemons import concerned_with, reach, told_apart
from eks_gpu.planning.pod_template import PodTemplate, Toleration
from eks_gpu.planning.pool import Image, Pool, PoolKind
from eks_gpu.planning.reading import NotKnown, NotKnownError
from eks_gpu.planning.requirements import Requirement

G5 = CATALOGUE["g5.xlarge"]
HIDDEN = NotKnown("urn", "values")
TOLERANT = (Toleration(key=None, operator="Exists", value="", effect=None),)
HERE = Circumstances(kubernetes=(1, 34), complete=True)
ELSEWHERE = Circumstances(kubernetes=(1, 34), complete=False)


def wants(key: str, *values: str) -> Requirement:
    return Requirement(key, "In" if values else "Exists", values)


def daemon(
    name: str,
    *selector: Requirement,
    role: Role | None = Role.EXPORTER,
    adds: Mapping[str, str | None] | NotKnown | None = None,
    tolerations: tuple[Toleration, ...] | NotKnown = TOLERANT,
    **more: object,
) -> Daemon:
    template = PodTemplate(name=name, owner_kind="DaemonSet", containers=(), tolerations=tolerations, selector=selector)
    own = Daemon(urn=name, owner=name, name=name, role=role, template=template, adds={} if adds is None else adds)
    return replace(own, **more)  # type: ignore[arg-type] # whatever field a test is about


def pool(
    *taints: Taint,
    carries: Mapping[str, str] | NotKnown | None = None,
    types: tuple[str, ...] = ("g5.xlarge",),
    family: AmiFamily | NotKnown | None = AmiFamily.AL2023,
    kind: PoolKind = PoolKind.NODE_GROUP,
) -> Pool:
    return Pool(
        urn="pool",
        name="pool",
        kind=kind,
        types=tuple(CATALOGUE[name] for name in types),
        taints=taints,
        labels={} if carries is None else carries,
        image=Image(family=family, choices=()),
    )


def names(daemons: tuple[Daemon, ...]) -> list[str]:
    return [each.name for each in daemons]


def of(place: Pool, *daemons: Daemon, around: Circumstances = HERE) -> Reach:
    return reach(place, G5, daemons, around)


def reaching(place: Pool, daemons: Iterable[Daemon], around: Circumstances) -> tuple[Daemon, ...]:
    """Return who is sure to come to nodes of every type that a pool may buy."""
    found = tuple(daemons)
    reaches = [reach(place, kind, found, around) for kind in told_apart(place, found)]
    everywhere = (each for each in found if all(any(each is one for one in here.arrived) for here in reaches))
    return tuple(everywhere) if reaches else ()


# --- taints and labels -----------------------------------------------------------------------------------------------


def test_without_conditions_everybody_comes() -> None:
    assert names(reaching(pool(GPU), [daemon("a"), daemon("b")], HERE)) == ["a", "b"]


def test_a_taint_keeps_off_who_does_not_tolerate_it() -> None:
    found = of(pool(GPU), daemon("a", tolerations=()), daemon("b"))
    assert names(found.arrived) == ["b"]
    ((kept, obstacle),) = found.kept_off
    assert (kept.name, obstacle.taint, obstacle.refusal) == ("a", GPU, f"does not tolerate the taint {GPU}")
    assert obstacle.wanted


def test_of_who_would_not_want_the_node_either_it_is_said() -> None:
    ((_, obstacle),) = of(pool(GPU), daemon("a", wants("role", "cpu"), tolerations=())).kept_off
    assert (obstacle.taint, obstacle.wanted) == (GPU, False)


def test_preferring_no_schedule_keeps_nobody_off() -> None:
    soft = Taint(GPU.key, GPU.value, Effect.PREFER_NO_SCHEDULE)
    assert names(reaching(pool(soft), [daemon("a", tolerations=())], HERE)) == ["a"]


def test_a_label_that_nobody_sets_is_named() -> None:
    ((_, obstacle),) = of(pool(), daemon("a", wants("role", "gpu"))).kept_off
    assert obstacle.refusal == "requires role=gpu, which no node there has"
    assert names(reaching(pool(carries={"role": "gpu"}), [daemon("a", wants("role", "gpu"))], HERE)) == ["a"]


def test_of_several_terms_one_is_enough_and_each_is_named() -> None:
    terms = ((wants("x", "1"),), (wants("y", "2"), wants("z")))
    either = replace(daemon("a"), template=replace(daemon("a").template, affinity=terms))
    assert names(reaching(pool(carries={"y": "2", "z": ""}), [either], HERE)) == ["a"]
    ((_, obstacle),) = of(pool(carries={"y": "2"}), either).kept_off
    assert obstacle.refusal == "requires x=1 or a label z, which no node there has"


def test_an_empty_term_matches_nothing() -> None:
    none = daemon("a")
    none = replace(none, template=replace(none.template, affinity=((),)))
    ((_, obstacle),) = of(pool(), none).kept_off
    assert obstacle.refusal == "requires an affinity term without conditions, which no node there has"


# --- labels that others bring ----------------------------------------------------------------------------------------


def test_who_waits_for_a_label_comes_after_who_brings_it_in_whatever_order() -> None:
    chain = [daemon("c", wants("two")), daemon("b", wants("one"), adds={"two": "2"}), daemon("a", adds={"one": "1"})]
    assert names(reaching(pool(), chain, HERE)) == ["c", "b", "a"]


def test_who_is_kept_off_brings_nothing() -> None:
    found = of(pool(GPU), daemon("b", wants("one")), daemon("a", adds={"one": "1"}, tolerations=()))
    assert names(found.arrived) == []
    assert [kept.name for kept, _ in found.kept_off] == ["b", "a"]


def test_the_pools_own_labels_win() -> None:
    said = pool(carries={"one": "own"})
    assert names(reaching(said, [daemon("a", adds={"one": "1"}), daemon("b", wants("one", "1"))], HERE)) == ["a"]


def test_a_value_that_depends_on_the_node_fits() -> None:
    product = wants(labels.GFD_PRODUCT, "NVIDIA-A10G")
    found = [daemon("gfd", adds={labels.GFD_PRODUCT: None}), daemon("a", product)]
    assert names(reaching(pool(), found, HERE)) == ["gfd", "a"]
    assert names(reaching(pool(), [daemon("a", product)], HERE)) == []


def test_gpu_discovery_passes_through_node_discovery() -> None:
    gfd = daemon("gfd", role=Role.GFD, adds={"x": "1"})
    nfd = daemon("nfd", role=Role.NFD, tolerations=())
    waiting = daemon("a", wants("x"))
    assert names(reaching(pool(GPU), [gfd, nfd, waiting], HERE)) == ["gfd"]
    assert names(reaching(pool(), [gfd, nfd, waiting], HERE)) == ["gfd", "nfd", "a"]


# --- the operator ----------------------------------------------------------------------------------------------------


def operand(name: str = "plugin", operand_: str = "device-plugin") -> Daemon:
    key = discovery.deploy(operand_)
    return daemon(name, wants(key, "true"), role=Role.DEVICE_PLUGIN, opt_outs=(discovery.DEPLOY_OPERANDS, key))


NFD = daemon("nfd", role=Role.NFD, adds={discovery.PCI_VENDOR: "true"})


@pytest.mark.parametrize("mark", [discovery.PCI_VENDOR, *discovery.PCI_CLASS_AND_VENDOR])
def test_the_operator_labels_what_looks_like_a_gpu_node(mark: str) -> None:
    nfd = replace(NFD, adds={mark: "true"})
    assert names(reaching(pool(), [operand(), nfd], HERE)) == ["plugin", "nfd"]


def test_without_discovery_the_operator_labels_nothing() -> None:
    assert [kept.name for kept, _ in of(pool(), operand()).kept_off] == ["plugin"]


def test_what_a_pool_opts_out_of_is_not_missed() -> None:
    for key in (discovery.DEPLOY_OPERANDS, discovery.deploy("device-plugin")):
        found = of(pool(carries={key: "false"}), operand(), NFD)
        assert (names(found.arrived), found.kept_off) == (["nfd"], ())


def test_the_operator_says_that_gpus_are_there() -> None:
    waiting = daemon("a", wants(labels.GPU_PRESENT, "true"))
    assert names(reaching(pool(), [operand(), NFD, waiting], HERE)) == ["plugin", "nfd", "a"]


# --- what the image puts there, and what nobody can tell -------------------------------------------------------------

PRESENT = daemon("a", wants(labels.GPU_PRESENT, "true"))


@pytest.mark.parametrize(("version", "comes"), [((1, 34), False), ((1, 35), True), ((1, 36), True)])
def test_al2023_labels_itself_from_1_35_on(version: tuple[int, int], *, comes: bool) -> None:
    around = Circumstances(kubernetes=version, complete=True)
    assert bool(reaching(pool(), [PRESENT], around)) is comes
    assert not reaching(pool(family=AmiFamily.BOTTLEROCKET), [PRESENT], around)


@pytest.mark.parametrize("family", [None, HIDDEN])
def test_of_an_image_that_is_not_known_nobody_can_tell(family: NotKnown | None) -> None:
    found = of(pool(family=family), PRESENT)
    assert (found.arrived, found.kept_off) == ((), ())
    assert [each.name for each, _ in found.unclear] == ["a"]


def test_of_a_version_that_is_not_known_nobody_can_tell() -> None:
    found = of(pool(), PRESENT, around=Circumstances(kubernetes=HIDDEN, complete=True))
    assert [(each.name, doubt) for each, doubt in found.unclear] == [("a", HIDDEN)]
    said = of(
        pool(carries={labels.GPU_PRESENT: "true"}), PRESENT, around=Circumstances(kubernetes=HIDDEN, complete=True)
    )
    assert names(said.arrived) == ["a"]


def test_discovery_may_be_in_a_cluster_that_is_not_seen_whole() -> None:
    waiting = daemon("a", wants(discovery.PCI_VENDOR, "true"))
    assert [each.name for each, _ in of(pool(), waiting, around=ELSEWHERE).unclear] == ["a"]
    assert [each.name for each, _ in of(pool(), waiting).kept_off] == ["a"]
    with_own = of(pool(GPU), waiting, replace(NFD, template=replace(NFD.template, tolerations=())), around=ELSEWHERE)
    assert [each.name for each, _ in with_own.kept_off] == ["a", "nfd"]


def test_unknown_tolerations_labels_and_presence_are_unclear() -> None:
    for unknown in (daemon("a", tolerations=HIDDEN), daemon("a", adds=HIDDEN), daemon("a", doubt=HIDDEN)):
        found = of(pool(GPU), unknown)
        assert (found.arrived, found.kept_off) == ((), ())
        assert [(each.name, doubt) for each, doubt in found.unclear] == [("a", HIDDEN)]


def test_who_waits_for_somebody_unclear_is_unclear() -> None:
    found = of(pool(GPU), daemon("a", adds={"x": "1"}, tolerations=HIDDEN), daemon("b", wants("x")))
    assert [each.name for each, _ in found.unclear] == ["a", "b"]


def test_a_taint_that_is_not_tolerated_is_sure_whatever_else_is_not() -> None:
    ((kept, obstacle),) = of(pool(GPU), daemon("a", tolerations=(), adds=HIDDEN)).kept_off
    assert (kept.name, obstacle.taint) == ("a", GPU)


def test_unknown_taints_labels_and_types_of_a_pool_are_errors() -> None:
    for unknown in (replace(pool(), taints=HIDDEN), pool(carries=HIDDEN), replace(pool(), types=HIDDEN)):
        with pytest.raises(NotKnownError):
            reaching(unknown, [daemon("a")], HERE)


# --- instance types --------------------------------------------------------------------------------------------------


def test_types_are_told_apart_only_where_somebody_does() -> None:
    several = pool(types=("g5.xlarge", "g5.2xlarge", "g5g.xlarge"))
    assert len(told_apart(several, [daemon("a")])) == 1
    assert len(told_apart(several, [daemon("a", wants(labels.ARCH, "amd64"))])) == 2
    assert len(told_apart(several, [daemon("a", wants(labels.INSTANCE_TYPE, "g5.xlarge"))])) == 3


def test_it_reaches_a_pool_that_reaches_all_its_types() -> None:
    one = daemon("a", wants(labels.INSTANCE_TYPE, "g5.xlarge"))
    assert not reaching(pool(types=("g5.xlarge", "g5.2xlarge")), [one], HERE)
    assert names(reaching(pool(types=("g5.xlarge",)), [one], HERE)) == ["a"]


def test_a_pool_without_known_types_is_reached_by_nobody_for_sure() -> None:
    assert reaching(pool(types=()), [daemon("a")], HERE) == ()


# --- an algebra ------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["one", "two", "three"])
DAEMONS = st.lists(
    st.builds(
        lambda number, wanted, added, tolerant: daemon(
            str(number),
            *(wants(key) for key in wanted),
            adds=dict.fromkeys(added, "1"),
            tolerations=TOLERANT if tolerant else (),
        ),
        st.integers(0, 99),
        st.frozensets(KEYS, max_size=2),
        st.frozensets(KEYS, max_size=2),
        st.booleans(),
    ),
    max_size=6,
)


@given(DAEMONS, st.data())
def test_the_order_of_daemon_sets_does_not_matter(daemons: list[Daemon], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(daemons))
    first = {id(each) for each in reaching(pool(GPU), daemons, HERE)}
    assert first == {id(each) for each in reaching(pool(GPU), shuffled, HERE)}


@given(DAEMONS)
def test_everybody_is_either_there_or_kept_off_where_all_is_known(daemons: list[Daemon]) -> None:
    found = of(pool(GPU), *daemons)
    assert found.unclear == ()
    assert len(found.arrived) + len(found.kept_off) == len(daemons)


@given(DAEMONS, DAEMONS)
def test_more_daemon_sets_never_keep_one_away(daemons: list[Daemon], more: list[Daemon]) -> None:
    alone = {id(each) for each in reaching(pool(GPU), daemons, HERE)}
    assert alone <= {id(each) for each in reaching(pool(GPU), [*daemons, *more], HERE)}


# --- which labels of a pool matter -----------------------------------------------------------------------------------


def test_the_labels_that_matter_are_those_that_somebody_wants_brings_or_goes_by() -> None:
    marks = {key for key, _ in discovery.GPU_MARKS}
    own = daemon("a", wants("role", "gpu"), adds={"brought": "1"}, opt_outs=("out",))
    assert concerned_with(own) == {"role", "brought", "out", labels.GPU_PRESENT, *marks}
    assert concerned_with(replace(own, adds=HIDDEN)) == {"role", "out", labels.GPU_PRESENT, *marks}
    by_operator = replace(own, opt_outs=(discovery.DEPLOY_OPERANDS,))
    assert concerned_with(by_operator) == {
        "role",
        "brought",
        discovery.DEPLOY_OPERANDS,
        labels.GPU_PRESENT,
        *marks,
        *discovery.BY_OPERATOR,
    }
