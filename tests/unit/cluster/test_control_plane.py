from __future__ import annotations

import pulumi
import pytest

from eks_gpu.cluster.control_plane import LOG_TYPES, Cluster, ClusterArgs, connect, control_plane_subnets, endpoint
from eks_gpu.cluster.network_connection import NetworkConnection
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import Recording, record
from eks_gpu.settings.cluster import EndpointAccess, ExistingCluster, ExistingControlPlane, NewCluster
from tests.support.clusters import SUBNETS

EKS_CLUSTER = "eks:index:Cluster"


def _network(*, outputs: bool = False) -> NetworkConnection:
    def identity(value: str) -> pulumi.Input[str]:
        return pulumi.Output.from_input(value) if outputs else value

    return NetworkConnection(
        vpc_id=identity("vpc-1"), private_subnets={zone: identity(subnet) for zone, subnet in SUBNETS.items()}
    )


def _record(*, outputs: bool = False, protected: bool = False, public_cidrs: tuple[str, ...] = ()) -> Recording:
    settings = NewCluster(version="1.35", endpoint_access=EndpointAccess(public_cidrs=public_cidrs))

    def program() -> None:
        Cluster("cluster", ClusterArgs(settings=settings, network=_network(outputs=outputs), protected=protected))

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_the_control_plane_is_in_the_private_subnets_of_the_network(*, outputs: bool) -> None:
    control_plane = _record(outputs=outputs).one(EKS_CLUSTER)

    assert control_plane["vpcId"] == "vpc-1"
    assert control_plane["privateSubnetIds"] == list(SUBNETS.values())[:2]
    assert control_plane["version"] == "1.35"


def test_a_further_zone_leaves_the_control_plane_alone_because_eks_would_refuse_it() -> None:
    before = {"us-east-1b": "subnet-b", "us-east-1a": "subnet-a"}

    assert control_plane_subnets(before) == ["subnet-b", "subnet-a"]
    assert control_plane_subnets({**before, "us-east-1c": "subnet-c"}) == control_plane_subnets(before)


def test_nothing_of_the_control_plane_floats() -> None:
    control_plane = _record().one(EKS_CLUSTER)

    assert control_plane["skipDefaultNodeGroup"] is True
    assert control_plane["skipDefaultSecurityGroups"] is True
    assert control_plane["createInstanceRole"] is False
    assert control_plane["bootstrapSelfManagedAddons"] is False
    # "use the default" means: install no add-on, which would be the newest at every run.
    assert control_plane["useDefaultVpcCni"] is True
    assert control_plane["kubeProxyAddonOptions"]["enabled"] is False
    assert control_plane["corednsAddonOptions"]["enabled"] is False
    assert control_plane["createOidcProvider"] is False
    assert control_plane["authenticationMode"] == "API"


def test_an_upgrade_is_never_aws_decision() -> None:
    assert _record().one(EKS_CLUSTER)["upgradePolicy"] == {"supportType": "EXTENDED"}


def test_secrets_are_encrypted_with_a_key_that_rotates() -> None:
    recording = _record()

    key, control_plane = recording.one("aws:kms/key:Key"), recording.one(EKS_CLUSTER)
    assert key["enableKeyRotation"] is True
    assert key.urn in control_plane.property_dependencies["encryptionConfigKeyArn"]


def test_m11_every_control_plane_log_is_kept_for_a_stated_time() -> None:
    recording = _record()

    group, control_plane = recording.one("aws:cloudwatch/logGroup:LogGroup"), recording.one(EKS_CLUSTER)
    assert control_plane["enabledClusterLogTypes"] == list(LOG_TYPES)
    assert group["name"] == f"/aws/eks/{control_plane['name']}/cluster"
    assert group["retentionInDays"] == 90
    assert recording.reaches(control_plane, group)


def test_the_endpoint_is_private_unless_ranges_are_listed() -> None:
    assert endpoint(EndpointAccess()) == {"endpoint_private_access": True, "endpoint_public_access": False}
    assert endpoint(EndpointAccess(public_cidrs=("203.0.113.0/24",))) == {
        "endpoint_private_access": True,
        "endpoint_public_access": True,
        "public_access_cidrs": ["203.0.113.0/24"],
    }


def test_listed_ranges_reach_the_control_plane() -> None:
    assert "publicAccessCidrs" not in _record().one(EKS_CLUSTER).inputs
    assert _record(public_cidrs=("203.0.113.0/24",)).one(EKS_CLUSTER)["publicAccessCidrs"] == ["203.0.113.0/24"]


@pytest.mark.parametrize("protected", [False, True])
def test_a_protected_cluster_and_its_key_cannot_be_deleted(*, protected: bool) -> None:
    recording = _record(protected=protected)

    control_plane = recording.one(EKS_CLUSTER)
    assert control_plane["deletionProtection"] is protected
    assert control_plane.options.protect is protected
    assert recording.one("aws:kms/key:Key").options.protect is protected


def _with_administrators(*, outputs: bool = False, **administrators: str) -> Recording:
    settings = NewCluster(version="1.35", administrators={"platform": "arn:aws:iam::123456789012:role/platform"})

    def program() -> None:
        given = {key: pulumi.Output.from_input(arn) if outputs else arn for key, arn in administrators.items()}
        Cluster("cluster", ClusterArgs(settings=settings, network=_network(), administrators=given))

    return record(program)


@pytest.mark.parametrize("outputs", [False, True])
def test_others_than_the_creator_may_administer_the_cluster(*, outputs: bool) -> None:
    recording = _with_administrators(outputs=outputs, breakglass="arn:aws:iam::123456789012:user/breakglass")

    entries = recording.of_type("aws:eks/accessEntry:AccessEntry")
    policies = recording.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    assert {entry["principalArn"] for entry in entries} == {
        "arn:aws:iam::123456789012:role/platform",
        "arn:aws:iam::123456789012:user/breakglass",
    }
    assert {(policy["policyArn"], policy["accessScope"]["type"]) for policy in policies} == {
        ("arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy", "cluster")
    }
    by_name = {entry.name: entry for entry in entries}
    assert all(recording.reaches(policy, by_name[policy.name.removesuffix("-policy")]) for policy in policies)


def test_an_administrator_is_named_once() -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"administrators\.platform: is also in the settings"):
        _with_administrators(platform="arn:aws:iam::123456789012:role/other")


def test_names_and_parents_are_stable() -> None:
    recording = _record()

    component = recording.one("eks-gpu:index:Cluster")
    assert {child.name for child in recording.children(component)} == {
        "cluster-secrets-key",
        "cluster-logs",
        "cluster-control-plane",
        "cluster-kubernetes",
    }


def test_the_connection_holds_the_network_and_waits_for_it() -> None:
    def program() -> None:
        gate = pulumi.ComponentResource("test:index:Gate", "gate")
        network = NetworkConnection(vpc_id="vpc-1", private_subnets=SUBNETS, ready=(gate,))
        connection = connect("cluster", NewCluster(version="1.34"), network)
        assert (connection.version, connection.zones, connection.vpc_id) == ("1.34", tuple(SUBNETS), "vpc-1")
        assert gate in connection.ready

    record(program)


@pytest.mark.parametrize("isolated", [False, True])
def test_the_connection_says_whether_nodes_reach_the_internet(*, isolated: bool) -> None:
    def program() -> None:
        network = NetworkConnection(vpc_id="vpc-1", private_subnets=SUBNETS, isolated=isolated)
        existing = ExistingCluster(existing=ExistingControlPlane(name="theirs", version="1.35"))
        assert connect("cluster", NewCluster(version="1.34"), network).isolated is isolated
        assert connect("theirs", existing, network).isolated is isolated

    record(program)


@pytest.mark.parametrize(("project", "cluster_name"), [("bad project", None), ("eks-gpu", "-starts-badly")])
def test_an_impossible_cluster_name_is_refused(project: str, cluster_name: str | None) -> None:
    def program() -> None:
        args = ClusterArgs(settings=NewCluster(version="1.35"), network=_network(), cluster_name=cluster_name)
        Cluster("cluster", args)

    with pytest.raises(pulumi.InputPropertiesError, match=r"cluster_name: .* is no cluster name; give up to 100"):
        record(program, project=project)


def test_a_network_without_subnets_is_refused_by_property() -> None:
    def program() -> None:
        network = NetworkConnection(vpc_id="vpc-1", private_subnets={})
        Cluster("cluster", ClusterArgs(settings=NewCluster(version="1.35"), network=network))

    with pytest.raises(pulumi.InputPropertiesError, match=r"network\.private_subnets: is missing"):
        record(program)


@pytest.mark.parametrize("cni_uses_node_role", [False, True])
def test_an_existing_cluster_says_whose_rights_its_cni_has(*, cni_uses_node_role: bool) -> None:
    there = ExistingControlPlane(name="theirs", version="1.35", cni_uses_node_role=cni_uses_node_role)

    def program() -> None:
        connection = connect("cluster", ExistingCluster(existing=there), _network())
        assert connection.cni_uses_node_role is cni_uses_node_role

    record(program)


def test_an_existing_cluster_is_only_pointed_to() -> None:
    existing = ExistingCluster(existing=ExistingControlPlane(name="theirs", version="1.35"))

    recording = record(lambda: connect("cluster", existing, _network()))

    assert [resource.type for resource in recording.resources] == ["pulumi:providers:kubernetes"]
    assert recording.resources[0]["kubeconfig"] is not UNKNOWN
