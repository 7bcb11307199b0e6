"""What a stack has in AWS and no state holds is found by its tag, and removed; nothing else is touched."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox import aws, leftovers
from sandbox.checkout import Checkout
from sandbox.inventory import LISTINGS, Account
from sandbox.leftovers import interruptions, kinds, removal
from sandbox.programs import Program
from sandbox.providers.aws.kept import keepers
from sandbox.providers.aws.provider import Aws
from sandbox.providers.sdk import Sdk
from sandbox.providers.stand_in import StandInError, Stored

REGION = "eu-west-1"
STACK = "dev"
PROGRAM = Program(Path(), "gpus", "python", {}, Path())
TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})
ALLOWED = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"}]}
)

Made = tuple[str, Mapping[str, Any], Stored]
"""A type, its inputs, and what was made of them."""


@dataclass
class World:
    """A sandbox with its AWS, in which resources are made as the engine's provider makes them."""

    checkout: Checkout
    endpoint: str
    sdk: Sdk
    made: dict[str, Made] = field(default_factory=dict)
    providers: dict[str | None, Aws] = field(default_factory=dict)

    @property
    def contents(self) -> list[str]:
        return Account(self.endpoint).contents([REGION])

    def provider(self, stack: str | None = STACK) -> Aws:
        if stack not in self.providers:
            provider = self.providers[stack] = Aws(self.sdk, self.endpoint)
            tags = {"eks-gpu:stack": stack} if stack else {}
            provider.configure({"region": REGION, "defaultTags": {"tags": tags}})
        return self.providers[stack]

    def make(self, name: str, token: str, stack: str | None = STACK, /, **inputs: object) -> Stored:
        """Make a resource; a value ``@vpc`` stands for the id of the resource ``vpc``."""
        known = {key: self._resolved(value) for key, value in inputs.items()}
        stored = self.provider(stack).create(token, dict(known))
        self.made[name] = token, known, stored
        return stored

    def _resolved(self, value: object) -> object:
        if isinstance(value, list):
            return [self._resolved(each) for each in value]
        if isinstance(value, dict):
            return {key: self._resolved(each) for key, each in value.items()}
        if isinstance(value, str) and value.startswith("@"):
            name, _, output = value[1:].partition(".")
            stored = self.made[name][2]
            return stored.state[output] if output else stored.id
        return value

    def record(self, names: Sequence[str], pending: Mapping[str, str] | None = None, stack: str = STACK) -> None:
        """Write a state that holds some of what was made; ``pending`` are operations that were under way, by name."""
        file = self.checkout.state / ".pulumi" / "stacks" / PROGRAM.name / f"{stack}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        provider = {"type": "pulumi:providers:aws", "urn": "urn:aws", "id": "1", "inputs": {"region": REGION}}
        latest = {
            "resources": [provider, *(self._resource(name) for name in names)],
            "pending_operations": [
                {"type": action, "resource": self._resource(name, whole=action != "creating")}
                for name, action in (pending or {}).items()
            ],
        }
        file.write_text(json.dumps({"version": 3, "checkpoint": {"latest": latest}}))

    def _resource(self, name: str, *, whole: bool = True) -> Mapping[str, Any]:
        token, inputs, stored = self.made[name]
        known = {"type": token, "urn": f"urn:{name}", "custom": True, "provider": "urn:aws::1", "inputs": inputs}
        return {**known, "id": stored.id, "outputs": stored.state} if whole else known

    def settle(self) -> None:
        leftovers.settle(self.endpoint, self.checkout, leftovers.operations(self.checkout, PROGRAM, STACK))

    def clear(self) -> leftovers.Cleared:
        (self.checkout.config / PROGRAM.name).mkdir(exist_ok=True)
        (self.checkout.config / PROGRAM.name / "Pulumi.dev.yaml").write_text(f"config:\n  aws:region: {REGION}\n")
        return leftovers.clear(self.endpoint, self.checkout, STACK)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run one AWS for all tests of this file."""
    own = Checkout(tmp_path_factory.mktemp("aws"))
    yield aws.start(own).url
    aws.stop(own)


@pytest.fixture(scope="module")
def sdk() -> Sdk:
    return Sdk("pulumi_aws")


@pytest.fixture
def world(checkout: Checkout, endpoint: str, sdk: Sdk) -> World:
    """Give a test an AWS in which nobody has made anything yet."""
    server = http.client.HTTPConnection(endpoint.removeprefix("http://"))
    server.request("POST", "/moto-api/reset")
    assert server.getresponse().status == http.client.OK
    server.close()
    return World(checkout, endpoint, sdk)


def network(world: World) -> None:
    world.make("vpc", "aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16")
    world.make("a", "aws:ec2/subnet:Subnet", vpcId="@vpc", cidrBlock="10.0.1.0/24", availabilityZone="eu-west-1a")
    world.make("b", "aws:ec2/subnet:Subnet", vpcId="@vpc", cidrBlock="10.0.2.0/24", availabilityZone="eu-west-1b")
    world.make("gateway", "aws:ec2/internetGateway:InternetGateway", vpcId="@vpc")
    world.make("table", "aws:ec2/routeTable:RouteTable", vpcId="@vpc")
    world.make("group", "aws:ec2/securityGroup:SecurityGroup", vpcId="@vpc", name="nodes")


def everything(world: World) -> None:
    """Make one of every type, each with what needs it."""
    network(world)
    world.make("address", "aws:ec2/eip:Eip", domain="vpc")
    world.make("nat", "aws:ec2/natGateway:NatGateway", subnetId="@a", allocationId="@address")
    world.make(
        "route", "aws:ec2/route:Route", routeTableId="@table", destinationCidrBlock="0.0.0.0/0", natGatewayId="@nat"
    )
    world.make(
        "association", "aws:ec2/routeTableAssociation:RouteTableAssociation", routeTableId="@table", subnetId="@a"
    )
    world.make(
        *("s3", "aws:ec2/vpcEndpoint:VpcEndpoint"),
        vpcId="@vpc",
        serviceName="com.amazonaws.eu-west-1.s3",
        routeTableIds=["@table"],
    )
    world.make(
        *("sts", "aws:ec2/vpcEndpoint:VpcEndpoint"),
        vpcId="@vpc",
        serviceName="com.amazonaws.eu-west-1.sts",
        vpcEndpointType="Interface",
        subnetIds=["@a"],
    )
    world.make("template", "aws:ec2/launchTemplate:LaunchTemplate", name="gpu", imageId="ami-12345678")
    names = {"ingress": "securityGroupIngressRule", "egress": "securityGroupEgressRule"}
    for direction, token in names.items():
        world.make(
            *(direction, f"aws:vpc/{token}:{token[0].upper()}{token[1:]}"),
            securityGroupId="@group",
            ipProtocol="tcp",
            fromPort=443,
            toPort=443,
            cidrIpv4="10.0.0.0/16",
        )
    world.make(
        *("rule of a group", "aws:ec2/securityGroupRule:SecurityGroupRule"),
        securityGroupId="@group",
        type="ingress",
        protocol="tcp",
        fromPort=80,
        toPort=80,
        cidrBlocks=["10.0.0.0/16"],
    )
    identities(world)
    world.make(
        *("cluster", "aws:eks/cluster:Cluster"), name="gpu", roleArn="@role.arn", vpcConfig={"subnetIds": ["@a", "@b"]}
    )
    world.make(
        *("nodes", "aws:eks/nodeGroup:NodeGroup"),
        clusterName="@cluster",
        nodeGroupName="system",
        nodeRoleArn="@role.arn",
        subnetIds=["@a"],
        scalingConfig={"minSize": 1, "maxSize": 1, "desiredSize": 1},
    )
    world.make("files", "aws:efs/fileSystem:FileSystem", encrypted=True)
    world.make("mount", "aws:efs/mountTarget:MountTarget", fileSystemId="@files", subnetId="@a")
    world.make("point", "aws:efs/accessPoint:AccessPoint", fileSystemId="@files")
    world.make("jobs", "aws:sqs/queue:Queue", name="jobs")
    world.make("spot", "aws:cloudwatch/eventRule:EventRule", name="spot", eventPattern='{"source": ["aws.ec2"]}')
    world.make("target", "aws:cloudwatch/eventTarget:EventTarget", rule="@spot", arn="@jobs.arn")
    world.make("logs", "aws:cloudwatch/logGroup:LogGroup", name="/aws/eks/gpu/cluster")
    world.make("key", "aws:kms/key:Key", description="secrets")
    world.make("alias", "aws:kms/alias:Alias", name="alias/gpu", targetKeyId="@key")


def identities(world: World) -> None:
    managed = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
    world.make(
        *("role", "aws:iam/role:Role"),
        name="gpu-cluster",
        path="/gpu/",
        assumeRolePolicy=TRUST,
        managedPolicyArns=[managed],
    )
    world.make("inline", "aws:iam/rolePolicy:RolePolicy", role="@role", name="look", policy=ALLOWED)
    world.make("policy", "aws:iam/policy:Policy", name="gpu-look", policy=ALLOWED)
    world.make("attachment", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", role="@role", policyArn="@policy.arn")
    world.make("profile", "aws:iam/instanceProfile:InstanceProfile", name="gpu-node", role="@role")
    world.make(
        *("issuer", "aws:iam/openIdConnectProvider:OpenIdConnectProvider"),
        url="https://example.org/gpu",
        clientIdLists=["sts.amazonaws.com"],
        thumbprintLists=["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
    )


def test_one_of_everything_that_bears_the_tag_is_removed_with_what_belongs_to_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(world)

    cleared = world.clear()

    said = capsys.readouterr().out.splitlines()
    assert cleared.refused == 0
    assert world.contents == []
    vpc = world.made["vpc"][2].id
    assert f"removed {REGION} VPC {vpc} (left by an interrupted run)" in said
    assert "removed global role gpu-cluster (left by an interrupted run)" in said
    assert len(said) == cleared.removed
    assert world.clear() == leftovers.Cleared(0, 0)


def test_an_order_that_aws_refuses_is_made_good_by_trying_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    network(world)
    worst = {kind.token: place for place, kind in enumerate(reversed(kinds.KINDS))}
    monkeypatch.setattr(removal, "_ORDER", worst)

    assert world.clear() == leftovers.Cleared(6, 0)
    assert world.contents == []


def test_what_any_stacks_state_holds_stays_however_much_else_goes(world: World) -> None:
    everything(world)
    names = list(world.made)
    before = world.contents

    world.record(names[: len(names) // 2], stack="dev")
    world.record(names[len(names) // 2 :], stack="other")

    assert world.clear() == leftovers.Cleared(0, 0)
    assert world.contents == before

    world.record([name for name in names[len(names) // 2 :] if name != "logs"], stack="other")
    assert world.clear() == leftovers.Cleared(1, 0)
    assert set(before) - set(world.contents) == {f"{REGION} log group /aws/eks/gpu/cluster"}


def test_what_bears_no_tag_or_the_tag_of_another_stack_is_never_touched(world: World) -> None:
    for stack in (None, "prod"):
        world.make(f"vpc-{stack}", "aws:ec2/vpc:Vpc", stack, cidrBlock="10.0.0.0/16")
        world.make(f"role-{stack}", "aws:iam/role:Role", stack, name=f"node-{stack}", assumeRolePolicy=TRUST)
        world.make(f"queue-{stack}", "aws:sqs/queue:Queue", stack, name=f"queue-{stack}")
    before = world.contents

    assert world.clear() == leftovers.Cleared(0, 0)
    assert world.contents == before


def test_what_cannot_be_removed_is_named_with_the_reason_and_the_rest_goes(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    vpc = world.make("vpc", "aws:ec2/vpc:Vpc", cidrBlock="10.0.0.0/16").id
    world.make("by-hand", "aws:ec2/subnet:Subnet", None, vpcId="@vpc", cidrBlock="10.0.1.0/24")
    world.make("queue", "aws:sqs/queue:Queue", name="jobs")
    topics = Account(world.endpoint).client("sns", REGION)
    topic = topics.create_topic(Name="alerts", Tags=[{"Key": "eks-gpu:stack", "Value": STACK}])["TopicArn"]

    assert world.clear() == leftovers.Cleared(1, 2)

    said = capsys.readouterr().out.splitlines()
    assert (
        f"not removed: {REGION} sns {topic.rpartition(':')[2]} (the sandbox has nothing that deletes its kind)" in said
    )
    [refused] = [line for line in said if line.startswith(f"not removed: {REGION} VPC {vpc} (ec2 delete_vpc: ")]
    assert "DependencyViolation" in refused


UNTAGGED = {
    "route": "route",
    "association": "route table association",
    "ingress": "security group rule",
    "egress": "security group rule",
    "rule of a group": "security group rule",
    "mount": "mount target",
    "target": "target of a rule",
    "inline": "policy of a role",
    "attachment": "policy attachment",
    "alias": "alias of a key",
}


def test_what_bears_no_tag_goes_if_its_creation_was_under_way_and_can_be_made_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(world)
    before = world.contents
    world.record([name for name in world.made if name not in UNTAGGED], dict.fromkeys(UNTAGGED, "creating"))

    world.settle()

    words = [line.split(" ", 2)[2] for line in capsys.readouterr().out.splitlines()]
    assert len(words) == len(UNTAGGED)
    assert all(any(word.startswith(f"{kind} ") for word in words) for kind in UNTAGGED.values())
    for name in UNTAGGED:
        token, inputs, _ = world.made[name]
        world.provider().create(token, dict(inputs))
    # A mount target has a network interface of its own, which is another one now.
    assert [line for line in world.contents if "interface" not in line] == [
        line for line in before if "interface" not in line
    ]


def test_what_was_under_way_and_is_recorded_all_the_same_stays(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    everything(world)
    before = world.contents
    world.record(list(world.made), dict.fromkeys(UNTAGGED, "creating"))

    world.settle()

    assert world.clear() == leftovers.Cleared(0, 0)
    assert capsys.readouterr().out == ""
    assert world.contents == before


def test_what_was_under_way_and_came_to_nothing_is_no_trouble(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    everything(world)
    world.record([], dict.fromkeys(UNTAGGED, "creating"))
    world.settle()
    assert world.clear().refused == 0
    capsys.readouterr()

    world.settle()

    assert capsys.readouterr().out == ""


def test_an_alias_of_the_same_name_that_somebody_has_for_another_key_stays(world: World) -> None:
    key = world.make("key", "aws:kms/key:Key")
    theirs = world.make("theirs", "aws:kms/key:Key", None)
    world.make("alias", "aws:kms/alias:Alias", name="alias/gpu", targetKeyId="@theirs")
    token, inputs, stored = world.made["alias"]
    world.made["alias"] = token, {**inputs, "targetKeyId": key.id}, stored
    world.record(["key"], {"alias": "creating"})

    world.settle()

    assert world.provider().read(token, Stored(stored.id, {"targetKeyId": theirs.id})) is not None


def test_a_deletion_that_was_cut_off_half_way_is_finished(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    identities(world)
    client = Account(world.endpoint).client("iam", REGION)
    client.detach_role_policy(RoleName="gpu-cluster", PolicyArn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy")
    world.provider().delete(world.made["profile"][0], world.made["profile"][2])
    for name in ("inline", "attachment"):
        world.provider().delete(world.made[name][0], world.made[name][2])
    world.record(["role", "policy", "issuer"], {"role": "deleting"})

    with leftovers.around_refresh(world.endpoint, world.checkout, PROGRAM, STACK):
        assert "global role gpu-cluster" not in world.contents
    assert capsys.readouterr().out == ""


def test_a_deletion_that_aws_refuses_is_said_and_left_to_the_next_attempt(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    identities(world)
    world.record(list(world.made), {"role": "deleting"})

    world.settle()

    assert capsys.readouterr().out.startswith(f"not deleted to the end: {REGION} Role gpu-cluster (iam delete_role: ")


def test_the_security_group_that_eks_made_goes_with_its_cluster_and_not_before(world: World) -> None:
    network(world)
    world.make("role", "aws:iam/role:Role", name="gpu-cluster", assumeRolePolicy=TRUST)
    cluster = world.make(
        *("cluster", "aws:eks/cluster:Cluster"), name="gpu", roleArn="@role.arn", vpcConfig={"subnetIds": ["@a"]}
    )
    world.record(list(world.made))
    assert world.clear() == leftovers.Cleared(0, 0)

    Account(world.endpoint).client("eks", REGION).delete_cluster(name="gpu")
    world.record([name for name in world.made if name != "cluster"])
    group = cluster.state["vpcConfig"]["clusterSecurityGroupId"]
    assert f"{REGION} security group {group}" in world.contents

    assert world.clear() == leftovers.Cleared(1, 0)
    assert f"{REGION} security group {group}" not in world.contents


def test_a_name_that_is_taken_by_what_nobody_recorded_is_free_again(world: World) -> None:
    everything(world)
    taken = ("role", "policy", "profile", "cluster", "nodes", "logs", "template", "group")
    for name in taken:
        token, inputs, _ = world.made[name]
        with pytest.raises(StandInError, match=r"(?i)exist|in use"):
            world.provider().create(token, dict(inputs))

    world.clear()

    network(world)
    for name in taken:
        token, inputs, _ = world.made[name]
        known = {**inputs, "vpcId": world.made["vpc"][2].id} if "vpcId" in inputs else dict(inputs)
        moved = {"vpcConfig": {"subnetIds": [world.made["a"][2].id]}} if name == "cluster" else {}
        subnets = {"subnetIds": [world.made["a"][2].id]} if name == "nodes" else {}
        if name != "group":
            world.provider().create(token, {**known, **moved, **subnets})


def test_every_type_kept_in_moto_is_found_by_its_tag_or_by_what_was_under_way_or_is_a_property_of_another() -> None:
    properties = {"aws:sqs/queuePolicy:QueuePolicy", "aws:efs/fileSystemPolicy:FileSystemPolicy"}

    tagged = {kind.token for kind in kinds.KINDS}

    assert tagged.isdisjoint(interruptions.UNTAGGED)
    assert tagged | set(interruptions.UNTAGGED) | properties == set(keepers())


def test_each_kind_is_called_what_the_inventory_calls_it() -> None:
    named = {listing.kind for listing in LISTINGS}

    assert {kind.word for kind in kinds.KINDS} - named == {"node group"}, "which the inventory counts with its cluster"
