"""STOR002: every pool zone can mount."""

from __future__ import annotations

import dataclasses

import pytest

from eks_gpu.facts import labels
from eks_gpu.facts.storage import EFS_ACCESS_POINTS, EFS_DRIVER, NFS_PORT
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, messages, not_concerned, passes

SUBNETS = {
    zone: examples.resource(
        tokens.SUBNET, zone, {"availabilityZone": f"us-east-1{zone}", "tags": {"nodes": "gpu", "zone": zone}}
    )
    for zone in "abc"
}
FILE_SYSTEM = examples.resource(tokens.FILE_SYSTEM, "models", {"encrypted": True})
NFS = {"protocol": "tcp", "fromPort": NFS_PORT, "toPort": NFS_PORT}
GROUP = examples.resource(tokens.SECURITY_GROUP, "nfs", {"ingress": [NFS]})


def target(zone: str, group: Resource = GROUP) -> Resource:
    props = {"fileSystemId": UNKNOWN, "subnetId": UNKNOWN, "securityGroups": [UNKNOWN]}
    return examples.resource(
        tokens.MOUNT_TARGET,
        f"target-{zone}",
        props,
        fileSystemId=(FILE_SYSTEM,),
        subnetId=(SUBNETS[zone],),
        securityGroups=(group,),
    )


def storage(zones: str, group: Resource = GROUP) -> tuple[Resource, ...]:
    return (*SUBNETS.values(), FILE_SYSTEM, group, *(target(zone, group) for zone in zones))


def group(zones: str) -> Resource:
    subnets = tuple(SUBNETS[zone] for zone in zones)
    return examples.node_group(None, "inference", {"subnetIds": subnets}, subnetIds=[UNKNOWN] * len(zones))


def test_s01_a_target_in_every_zone_of_the_pool_passes() -> None:
    assert passes(judge("STOR002", *storage("abc"), group("abc")))
    assert passes(judge("STOR002", *storage("abc"), group("b")))


def test_s01_a_zone_without_target_fails() -> None:
    message = complaint(judge("STOR002", *storage("ab"), group("abc")))
    assert message == "has no mount target in us-east-1c, where nodes of inference may be"


def test_s01_a_file_system_without_any_target_fails() -> None:
    assert "has no mount target in the stack" in complaint(judge("STOR002", *storage(""), group("a")))


def node_pool(terms: list[dict[str, object]], zones: list[str] | None = None) -> tuple[Resource, Resource]:
    pool = examples.node_pool()
    if zones is not None:
        template = pool.view.at("spec", "template", "spec", "requirements").data
        assert isinstance(template, list)
        wanted = [*template, {"key": labels.ZONE, "operator": "In", "values": zones}]
        pool = changed(pool, "spec.template.spec.requirements", wanted)
    return examples.node_class(subnetSelectorTerms=terms), pool


def test_s01_a_node_pool_is_where_its_subnet_tags_select() -> None:
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), *node_pool([{"tags": {"nodes": "gpu"}}])))
    assert passes(judge("STOR002", *storage("ab"), *node_pool([{"tags": {"zone": "a"}}, {"tags": {"zone": "b"}}])))
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), *node_pool([{"tags": {"nodes": "*"}}])))


def test_s01_a_zone_requirement_cuts_the_subnets_of_a_node_pool() -> None:
    pool = node_pool([{"tags": {"nodes": "gpu"}}], zones=["us-east-1a", "us-east-1b"])
    assert passes(judge("STOR002", *storage("ab"), *pool))


def test_s01_a_node_pool_may_name_subnets_by_id() -> None:
    node_class, pool = node_pool([{"id": UNKNOWN}, {"id": UNKNOWN}])
    linked = dataclasses.replace(
        node_class, property_dependencies={"spec": frozenset({SUBNETS["a"].urn, SUBNETS["c"].urn})}
    )
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), linked, pool))


def test_s01_pools_and_targets_in_the_same_looked_up_subnets_pass() -> None:
    existing = dataclasses.replace(
        target("a"),
        props={"fileSystemId": UNKNOWN, "subnetId": "subnet-1", "securityGroups": [UNKNOWN]},
        property_dependencies={
            "fileSystemId": frozenset({FILE_SYSTEM.urn}),
            "securityGroups": frozenset({GROUP.urn}),
        },
    )
    here, elsewhere = (examples.node_group(subnetIds=[name]) for name in ("subnet-1", "subnet-2"))
    assert passes(judge("STOR002", FILE_SYSTEM, GROUP, existing, here))
    assert left_open(judge("STOR002", FILE_SYSTEM, GROUP, existing, elsewhere)) == ["subnetIds[0]"]


@pytest.mark.parametrize(
    "ingress",
    [
        [],
        [{"protocol": "udp", "fromPort": NFS_PORT, "toPort": NFS_PORT}],
        [{"protocol": "tcp", "fromPort": 443, "toPort": 443}],
    ],
)
def test_s01_a_security_group_that_lets_no_nfs_in_fails(ingress: list[object]) -> None:
    closed = examples.resource(tokens.SECURITY_GROUP, "closed", {"ingress": ingress})
    report = judge("STOR002", *storage("a", closed), group("a"))
    assert messages(report) == {"target-a": ["no rule of the security group closed admits TCP 2049"]}


@pytest.mark.parametrize("ingress", [{"protocol": "-1"}, {"protocol": "tcp", "fromPort": 0, "toPort": 65535}])
def test_s01_a_wide_rule_lets_nfs_in(ingress: dict[str, object]) -> None:
    wide = examples.resource(tokens.SECURITY_GROUP, "wide", {"ingress": [ingress]})
    assert passes(judge("STOR002", *storage("a", wide), group("a")))


@pytest.mark.parametrize(
    ("token", "props", "admitted"),
    [
        (tokens.SECURITY_GROUP_INGRESS, {"ipProtocol": "tcp", "fromPort": NFS_PORT, "toPort": NFS_PORT}, True),
        (tokens.SECURITY_GROUP_RULE, {"type": "ingress", **NFS}, True),
        (tokens.SECURITY_GROUP_RULE, {"type": "egress", **NFS}, False),
    ],
)
def test_s01_rules_may_be_resources_of_their_own(token: str, props: dict[str, object], admitted: bool) -> None:
    bare = examples.resource(tokens.SECURITY_GROUP, "bare", {})
    rule = examples.resource(token, "rule", props, securityGroupId=(bare,))
    assert passes(judge("STOR002", *storage("a", bare), rule, group("a"))) is admitted


def test_s01_the_clusters_own_group_admits_its_nodes() -> None:
    cluster = examples.resource("aws:eks/cluster:Cluster", "ml", {})
    assert passes(judge("STOR002", *storage("a", cluster), group("a")))


def claim_of(pod: Resource) -> tuple[Resource, ...]:
    parameters = {"provisioningMode": EFS_ACCESS_POINTS, "fileSystemId": UNKNOWN, "directoryPerms": "700"}
    storage_class = examples.resource(
        tokens.STORAGE_CLASS,
        "efs",
        {"metadata": {"name": "efs"}, "provisioner": EFS_DRIVER, "parameters": parameters},
        parameters=(FILE_SYSTEM,),
    )
    claim = examples.resource(
        tokens.CLAIM, "cache", {"metadata": {"name": "cache"}, "spec": {"storageClassName": "efs"}}
    )
    return storage_class, claim, pod


def test_s01_only_pools_that_admit_a_pod_which_mounts_it_are_asked() -> None:
    volumes = [{"name": "shm", "persistentVolumeClaim": {"claimName": "cache"}}]
    here = claim_of(examples.deployment(volumes=volumes))
    elsewhere = claim_of(examples.deployment(volumes=volumes, nodeSelector={labels.WORKLOAD: "training"}))
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), group("abc"), *here))
    assert passes(judge("STOR002", *storage("ab"), group("abc"), *elsewhere))


def test_security_groups_that_are_looked_up_are_left_open() -> None:
    unclear = dataclasses.replace(
        target("a"),
        property_dependencies={
            "fileSystemId": frozenset({FILE_SYSTEM.urn}),
            "subnetId": frozenset({SUBNETS["a"].urn}),
        },
    )
    assert left_open(judge("STOR002", *SUBNETS.values(), FILE_SYSTEM, unclear, group("a"))) == ["securityGroups"]


def test_a_stack_without_file_system_is_not_concerned() -> None:
    assert not_concerned(judge("STOR002", *SUBNETS.values(), group("abc")))


# --- from whom --------------------------------------------------------------------------------------------------------

NODES = examples.resource(tokens.SECURITY_GROUP, "nodes", {"ingress": []})
BASTION = examples.resource(tokens.SECURITY_GROUP, "bastion", {"ingress": []})
CLUSTER = examples.resource("aws:eks/cluster:Cluster", "ml", {})


def behind(source: Resource | None, members: Resource | None, **settings: object) -> tuple[Resource, ...]:
    """Return storage whose group lets in ``source``, and a pool whose template is in ``members``."""
    closed = examples.resource(tokens.SECURITY_GROUP, "closed", {})
    named = {} if source is None else {"referencedSecurityGroupId": UNKNOWN}
    origins = {} if source is None else {"referencedSecurityGroupId": (source,)}
    rule = examples.resource(
        tokens.SECURITY_GROUP_INGRESS,
        "rule",
        {"ipProtocol": "tcp", "fromPort": NFS_PORT, "toPort": NFS_PORT, **named, **settings},
        securityGroupId=(closed,),
        **origins,
    )
    return (*storage("a", closed), rule, NODES, BASTION, CLUSTER, *pool_in(members))


def pool_in(members: Resource | None, zones: str = "a") -> tuple[Resource, Resource]:
    template = examples.launch_template()
    if members is not None:
        sound = {**template.props, "vpcSecurityGroupIds": [UNKNOWN]}
        template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound, vpcSecurityGroupIds=(members,))
    subnets = tuple(SUBNETS[zone] for zone in zones)
    links = {"subnetIds": subnets}
    return template, examples.node_group(template, "inference", links, subnetIds=[UNKNOWN] * len(zones))


@pytest.mark.parametrize(
    ("source", "members"),
    [(NODES, NODES), (CLUSTER, None), (CLUSTER, CLUSTER)],
    ids=["the nodes' group", "the cluster's, by default", "the cluster's, by name"],
)
def test_s01_the_nodes_group_is_let_in(source: Resource, members: Resource | None) -> None:
    assert passes(judge("STOR002", *behind(source, members)))


@pytest.mark.parametrize(
    ("source", "members"),
    [(BASTION, NODES), (CLUSTER, NODES), (NODES, None)],
    ids=["a third one's", "the cluster's, in which these nodes are not", "one in which no node is"],
)
def test_s01_somebody_elses_group_does_not_let_nodes_in(source: Resource, members: Resource | None) -> None:
    assert messages(judge("STOR002", *behind(source, members))) == {
        "target-a": ["no rule of the security group closed admits TCP 2049 from the nodes of inference"]
    }


def test_s01_nodes_may_be_in_the_clusters_group_and_in_another() -> None:
    both = pool_in(None)
    sound = {**both[0].props, "vpcSecurityGroupIds": [UNKNOWN, UNKNOWN]}
    template = examples.resource(tokens.LAUNCH_TEMPLATE, "gpu", sound, vpcSecurityGroupIds=(NODES, CLUSTER))
    for source in (NODES, CLUSTER):
        assert passes(judge("STOR002", *behind(source, None)[:-2], template, both[1]))
    assert "from the nodes" in complaint(judge("STOR002", *behind(BASTION, None)[:-2], template, both[1]))


def test_s01_groups_by_tags_or_by_an_id_from_elsewhere_may_be_any() -> None:
    template, pool = pool_in(None)
    looked_up = changed(template, "vpcSecurityGroupIds", ["sg-0123"])
    assert passes(judge("STOR002", *behind(BASTION, None)[:-2], looked_up, pool))
    terms = [{"tags": {"karpenter.sh/discovery": "ml"}}]
    node_class = examples.node_class(securityGroupSelectorTerms=terms, subnetSelectorTerms=[{"tags": {"zone": "a"}}])
    assert passes(judge("STOR002", *behind(BASTION, None)[:-2], node_class, examples.node_pool()))


def test_s01_a_group_that_is_looked_up_may_be_the_nodes() -> None:
    assert passes(judge("STOR002", *behind(None, NODES, referencedSecurityGroupId="sg-0123")))
    assert passes(judge("STOR002", *behind(None, NODES, prefixListId="pl-0123")))


def test_s01_members_of_the_targets_own_group_are_let_in_when_nodes_are_among_them() -> None:
    shared = examples.resource(tokens.SECURITY_GROUP, "shared", {"ingress": [{**NFS, "self": True}]})
    assert passes(judge("STOR002", *storage("a", shared), *pool_in(shared)))
    assert "from the nodes of inference" in complaint(judge("STOR002", *storage("a", shared), NODES, *pool_in(NODES)))


@pytest.mark.parametrize(
    ("let_in", "own", "admitted"),
    [
        ("10.0.0.0/16", "10.0.1.0/24", True),
        ("10.9.0.0/16", "10.0.1.0/24", False),
        ("0.0.0.0/0", "10.0.1.0/24", True),
        ("10.9.0.0/16", None, True),
        (UNKNOWN, "10.0.1.0/24", True),
        ("no range", "10.0.1.0/24", True),
    ],
)
def test_s01_address_ranges_are_those_of_the_nodes_subnets(let_in: object, own: str | None, admitted: bool) -> None:
    group_ = examples.resource(tokens.SECURITY_GROUP, "nfs", {"ingress": [{**NFS, "cidrBlocks": [let_in]}]})
    subnet = changed(SUBNETS["a"], "cidrBlock", own)
    report = judge("STOR002", *storage("a", group_), subnet, *pool_in(None))
    assert passes(report) if admitted else "from the nodes of inference" in complaint(report)


def test_s01_a_target_without_a_group_is_in_the_default_one() -> None:
    bare = dataclasses.replace(
        target("a"),
        props={"fileSystemId": UNKNOWN, "subnetId": UNKNOWN},
        property_dependencies={
            "fileSystemId": frozenset({FILE_SYSTEM.urn}),
            "subnetId": frozenset({SUBNETS["a"].urn}),
        },
    )
    program = (SUBNETS["a"], FILE_SYSTEM, bare, group("a"))
    assert "the VPC's default one applies" in complaint(judge("STOR002", *program))
    taken_over = examples.resource(tokens.DEFAULT_SECURITY_GROUP, "default", {})
    assert left_open(judge("STOR002", *program, taken_over)) == ["securityGroups"]


def test_s01_the_worked_example_pool_in_three_zones_and_targets_in_two() -> None:
    report = judge("STOR002", *storage("ab"), group("abc"))
    assert [finding.message for finding in report.findings] == [
        "has no mount target in us-east-1c, where nodes of inference may be"
    ]


def of_component(**cluster: object) -> tuple[Resource, Resource]:
    """Return a component's node group that names no subnets, and the component's cluster."""
    own = examples.resource(
        tokens.CLUSTER_COMPONENT, "ai", cluster, **dict.fromkeys(cluster, (SUBNETS["a"], SUBNETS["c"]))
    )
    plain = examples.node_group(None, "inference")
    links = {"cluster": (own,)}
    return own, examples.resource(tokens.MANAGED_NODE_GROUP, "inference", plain.props, **links)


@pytest.mark.parametrize("prop", ["privateSubnetIds", "subnetIds"])
def test_s01_a_node_group_without_subnets_is_in_those_of_its_cluster_component(prop: str) -> None:
    pool = of_component(**{prop: [UNKNOWN, UNKNOWN]})
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), *pool))
    assert passes(judge("STOR002", *storage("abc"), *pool))


def test_a_node_group_of_which_nobody_says_the_subnets_is_not_evaluated() -> None:
    assert left_open(judge("STOR002", *storage("abc"), *of_component())) == ["subnetIds"]


def test_s01_a_node_group_that_the_engine_made_in_a_component_is_in_the_subnets_of_the_cluster_component() -> None:
    own, around = of_component(privateSubnetIds=[UNKNOWN, UNKNOWN])
    cluster = dataclasses.replace(
        examples.resource("aws:eks/cluster:Cluster", "ai-eksCluster", {"name": UNKNOWN}), parent=own.urn
    )
    links = {"clusterName": (cluster,)}
    group = examples.node_group(None, "inference", links, clusterName=UNKNOWN, subnetIds=UNKNOWN)
    made = dataclasses.replace(group, parent=around.urn)
    assert "us-east-1c" in complaint(judge("STOR002", *storage("ab"), own, around, cluster, made))
    assert left_open(judge("STOR002", *storage("ab"), own, cluster, group)) == ["subnetIds"]
