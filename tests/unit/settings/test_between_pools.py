from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.settings.between_blocks import problems_between_blocks

MIG = {"mig": {"profile": "all-1g.5gb"}}
P4D = {"instance_types": ["p4d.24xlarge"], "count": 1}
G5 = {"instance_types": ["g5.xlarge"], "count": 1}


def problems(**platform: object) -> list[str]:
    return [str(problem) for problem in problems_between_blocks({"gpu_software": {"kind": "operator"}, **platform})]


def test_g05_partitions_on_the_plain_path_are_refused_where_they_are_wished_for() -> None:
    [problem] = problems(
        gpu_software={"kind": "device_plugin"}, node_groups={"slices": {**P4D, "sharing": MIG}, "whole": G5}
    )
    assert problem.startswith("node_groups.slices.sharing: sharing mig is not kept with kind device_plugin")


def test_g03_a_default_that_karpenter_cannot_buy_nodes_for_is_refused() -> None:
    renamed = {"time_slicing": {"replicas": 2, "rename": True}}
    pools = {"g5": {"instance_types": ["g5.xlarge"], "max_gpus": 2}}
    [problem] = problems(gpu_software={"kind": "operator", "sharing": renamed}, node_pools=pools)
    assert problem.startswith("gpu_software.sharing: sharing time_slicing with rename needs nodes that are there")
    exclusive = {"g5": {**pools["g5"], "sharing": {}}}
    assert problems(gpu_software={"kind": "operator", "sharing": renamed}, node_pools=exclusive) == []
    assert problems(gpu_software={"kind": "operator", "sharing": renamed}, node_groups={"g5": G5}) == []


def test_g03_placeholders_hold_no_shares() -> None:
    sliced = {"kind": "operator", "sharing": {"time_slicing": {"replicas": 2}}}
    warm = {"instance_types": ["g5.xlarge"], "max_gpus": 2, "warm_nodes": 1}
    [problem] = problems(gpu_software=sliced, node_pools={"g5": warm})
    assert problem.startswith("node_pools.g5.warm_nodes: does not go with GPUs that pods share")
    assert problems(gpu_software=sliced, node_pools={"g5": {**warm, "sharing": {}}}) == []


def test_n07_new_nodes_are_not_proven_on_gpus_that_mps_has_for_itself() -> None:
    owner = {"kind": "operator", "validation": {}}
    limited = {"mps": {"replicas": 2}}
    closed = {"instance_types": ["g5.xlarge"], "max_gpus": 2, "validate_new_nodes": True}
    [problem] = problems(gpu_software={**owner, "sharing": limited}, node_pools={"g5": closed})
    assert problem.startswith("node_pools.g5.validate_new_nodes: does not go with sharing mps")
    [own] = problems(gpu_software=owner, node_pools={"g5": {**closed, "sharing": limited}})
    assert own == problem
    assert problems(gpu_software={**owner, "sharing": limited}, node_pools={"g5": {**closed, "sharing": {}}}) == []
    open_ones = {"g5": {**closed, "sharing": limited, "validate_new_nodes": False}, "g6": closed}
    assert problems(gpu_software=owner, node_pools=open_ones) == []


def test_g04_groups_that_one_operator_cannot_serve_are_refused_together() -> None:
    single = {"mig": {"profile": "all-1g.5gb", "strategy": "single"}}
    [problem] = problems(node_groups={"one": {**P4D, "sharing": MIG}, "other": {**P4D, "sharing": single}})
    assert problem.startswith("gpu_software: sharing mig has strategy mixed (one) and single (other)")


def test_w02_a_server_on_partitioned_gpus_says_which_partition() -> None:
    servers = {"vllm": {"gpu_types": ["a100"]}}
    [problem] = problems(node_groups={"slices": {**P4D, "sharing": MIG}}, workloads=servers, model_cache={})
    assert problem == (
        "workloads.vllm.gpu_types: is a100, whose GPUs are partitioned wherever there are any; give mig_profile, one "
        "of 1g.5gb, or a pool with whole GPUs"
    )
    both = {"slices": {**P4D, "sharing": MIG}, "whole": P4D}
    assert problems(node_groups=both, workloads=servers) == []


def test_w02_a_server_finds_the_partition_that_it_asks_for() -> None:
    groups = {"slices": {**P4D, "sharing": MIG}}
    found = {"vllm": {"gpu_types": ["a100"], "mig_profile": "1g.5gb"}}
    assert problems(node_groups=groups, workloads=found) == []
    lost = {"vllm": {"gpu_types": ["a100"], "mig_profile": "3g.20gb"}}
    assert problems(node_groups=groups, workloads=lost) == [
        'workloads.vllm.mig_profile: is "3g.20gb", into which no group with a100 is partitioned; they offer 1g.5gb'
    ]


def test_w03_a_server_with_shared_memory_of_its_own_is_no_client_of_mps() -> None:
    limited = {"mps": {"replicas": 2}}
    server = {"vllm": {"gpu_types": ["a10g"]}}
    [problem] = problems(node_groups={"slots": {**G5, "sharing": limited}}, workloads=server)
    assert problem == (
        "workloads.vllm.gpu_types: is a10g, which slots shares by mps: the server's own /dev/shm would hide the one by "
        "which a client of MPS finds its daemon; share that pool by time_slicing or mig, or not at all, or give the "
        "server another GPU model"
    )
    by_default = {"kind": "operator", "sharing": limited}
    [same] = problems(gpu_software=by_default, node_groups={"slots": G5}, workloads=server)
    assert same == problem
    assert problems(gpu_software=by_default, node_groups={"slots": {**G5, "sharing": {}}}, workloads=server) == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["all-1g.5gb", "mixed", "device_plugin", "a100", ""]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["kind", "sharing", "mig", "mps", "profile", "layout", "replicas", "time_slicing"]), inner
        )
    ),
    max_leaves=12,
)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_whatever_is_written_of_sharing_is_borne(owner: object, sharing: object, profile: object) -> None:
    written = {
        "gpu_software": owner,
        "node_groups": {"slices": {**P4D, "sharing": sharing}},
        "node_pools": {"g5": {"instance_types": ["g5.xlarge"], "sharing": sharing}, "other": sharing},
        "workloads": {"vllm": {"gpu_types": ["a100"], "mig_profile": profile}},
    }
    assert all(str(problem) for problem in problems_between_blocks(written))
