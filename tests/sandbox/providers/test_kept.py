"""Every type that is kept in moto goes through its whole life, and nothing is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from sandbox.inventory import Account
from sandbox.providers.aws.kept import keepers
from sandbox.providers.aws.provider import Aws
from sandbox.providers.naming import NameRequest
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import Properties

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)


def policy(resource: str, action: str = "sqs:SendMessage") -> str:
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@dataclass
class World:
    """Makes what a resource needs, once, and takes all of it away again, newest first."""

    aws: Aws
    made: dict[str, tuple[str, Stored]] = field(default_factory=dict)

    def make(self, label: str, token: str, inputs: Properties) -> Stored:
        if label not in self.made:
            checked = self.aws.check(token, {}, inputs, NameRequest(label, b""))
            assert checked.failures == []
            self.made[label] = (token, self.aws.create(token, checked.inputs))
        return self.made[label][1]

    def clear(self) -> None:
        for token, stored in reversed(self.made.values()):
            self.aws.delete(token, stored)

    def vpc(self) -> str:
        return self.make("net", "aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16"}).id

    def subnet(self, number: int = 0) -> str:
        inputs = {
            "vpcId": self.vpc(),
            "cidrBlock": f"10.0.{number}.0/24",
            "availabilityZone": f"us-east-1{'abc'[number]}",
        }
        return self.make(f"subnet{number}", "aws:ec2/subnet:Subnet", inputs).id

    def table(self, number: int = 0) -> str:
        return self.make(f"table{number}", "aws:ec2/routeTable:RouteTable", {"vpcId": self.vpc()}).id

    def gateway(self) -> str:
        return self.make("gateway", "aws:ec2/internetGateway:InternetGateway", {"vpcId": self.vpc()}).id

    def group(self) -> str:
        return self.make("group", "aws:ec2/securityGroup:SecurityGroup", {"vpcId": self.vpc()}).id

    def role(self) -> Stored:
        return self.make("role", "aws:iam/role:Role", {"assumeRolePolicy": TRUST})

    def policy(self) -> str:
        return self.make("policy", "aws:iam/policy:Policy", {"policy": policy("*")}).id

    def queue(self) -> Stored:
        return self.make("queue", "aws:sqs/queue:Queue", {})

    def rule(self) -> str:
        inputs = {"eventPattern": json.dumps({"source": ["aws.ec2"]})}
        return self.make("rule", "aws:cloudwatch/eventRule:EventRule", inputs).id

    def key(self) -> str:
        return self.make("key", "aws:kms/key:Key", {}).id

    def file_system(self) -> Stored:
        return self.make("files", "aws:efs/fileSystem:FileSystem", {"encrypted": True})

    def cluster(self) -> str:
        inputs = {"roleArn": self.role().state["arn"], "vpcConfig": {"subnetIds": [self.subnet(0), self.subnet(1)]}}
        return self.make("cluster", "aws:eks/cluster:Cluster", {**inputs, "version": "1.35"}).id


LEFT_TO_ANOTHER = ("aws:efs/fileSystemPolicy:FileSystemPolicy",)
"""Types that moto cannot delete: they go with what they belong to."""


@pytest.fixture
def world(aws: Aws) -> World:
    return World(aws)


Inputs = Callable[[World], Properties]


@dataclass(frozen=True)
class Life:
    """The inputs of a type, and a change that is made in place (None: the type has none)."""

    inputs: Inputs
    change: Inputs | None = None


def nodes(world: World) -> Properties:
    return {
        "clusterName": world.cluster(),
        "nodeRoleArn": world.role().state["arn"],
        "subnetIds": [world.subnet(0)],
        "scalingConfig": {"desiredSize": 1, "minSize": 1, "maxSize": 1},
        "labels": {"a": "b"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "tags": {"a": "b"},
    }


LIVES: Mapping[str, Life] = {
    "aws:cloudwatch/eventRule:EventRule": Life(
        lambda _: {"scheduleExpression": "rate(1 hour)", "tags": {"a": "b"}},
        lambda _: {"scheduleExpression": "rate(2 hours)", "state": "DISABLED"},
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Life(
        lambda world: {"rule": world.rule(), "arn": world.queue().state["arn"]}, lambda _: {"input": "{}"}
    ),
    "aws:cloudwatch/logGroup:LogGroup": Life(
        lambda _: {"retentionInDays": 30, "tags": {"a": "b"}}, lambda _: {"retentionInDays": 0, "tags": {"c": "d"}}
    ),
    "aws:ec2/eip:Eip": Life(lambda _: {"domain": "vpc"}, lambda _: {"tags": {"a": "b"}}),
    "aws:ec2/internetGateway:InternetGateway": Life(lambda world: {"vpcId": world.vpc()}, lambda _: {"vpcId": None}),
    "aws:ec2/launchTemplate:LaunchTemplate": Life(
        lambda _: {"networkInterfaces": [{"securityGroups": ["sg-1"], "associatePublicIpAddress": "false"}]},
        lambda _: {"tagSpecifications": [{"resourceType": "instance", "tags": {"a": "b"}}]},
    ),
    "aws:ec2/natGateway:NatGateway": Life(
        lambda world: {"subnetId": world.subnet(), "connectivityType": "private"}, lambda _: {"tags": {"a": "b"}}
    ),
    "aws:ec2/route:Route": Life(
        lambda world: {
            "routeTableId": world.table(),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": world.gateway(),
        },
        lambda world: {"gatewayId": None, "natGatewayId": nat(world)},
    ),
    "aws:ec2/routeTable:RouteTable": Life(
        lambda world: {"vpcId": world.vpc(), "routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": world.gateway()}]},
        lambda world: {"routes": [{"cidrBlock": "10.8.0.0/16", "gatewayId": world.gateway()}]},
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Life(
        lambda world: {"routeTableId": world.table(), "subnetId": world.subnet()},
        lambda world: {"routeTableId": world.table(1)},
    ),
    "aws:ec2/securityGroup:SecurityGroup": Life(
        lambda world: {
            "vpcId": world.vpc(),
            "ingress": [{"protocol": "tcp", "fromPort": 1, "toPort": 2, "self": True}],
            "egress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}],
        },
        lambda _: {"ingress": [{"protocol": "tcp", "fromPort": 3, "toPort": 4, "cidrBlocks": ["10.0.0.0/8"]}]},
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": Life(
        lambda world: {
            "securityGroupId": world.group(),
            "type": "ingress",
            "protocol": "tcp",
            "fromPort": 443,
            "toPort": 443,
            "sourceSecurityGroupId": world.group(),
        }
    ),
    "aws:ec2/subnet:Subnet": Life(
        lambda world: {"vpcId": world.vpc(), "cidrBlock": "10.0.7.0/24", "mapPublicIpOnLaunch": True},
        lambda _: {"mapPublicIpOnLaunch": False, "tags": {"a": "b"}},
    ),
    "aws:ec2/vpc:Vpc": Life(
        lambda _: {"cidrBlock": "10.3.0.0/16", "tags": {"a": "b"}},
        lambda _: {"enableDnsHostnames": True, "tags": None},
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Life(
        lambda world: {"vpcId": world.vpc(), "serviceName": "com.amazonaws.us-east-1.s3"},
        lambda world: {"routeTableIds": [world.table()]},
    ),
    "aws:efs/accessPoint:AccessPoint": Life(
        lambda world: {
            "fileSystemId": world.file_system().id,
            "posixUser": {"uid": 1000, "gid": 1000},
            "rootDirectory": {"path": "/a", "creationInfo": {"ownerUid": 1, "ownerGid": 1, "permissions": "0755"}},
        },
        lambda _: {"tags": {"a": "b"}},
    ),
    "aws:efs/fileSystem:FileSystem": Life(
        lambda _: {"encrypted": True, "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}]},
        lambda _: {"lifecyclePolicies": [{"transitionToIa": "AFTER_60_DAYS"}], "tags": {"a": "b"}},
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Life(
        lambda world: {"fileSystemId": world.file_system().id, "policy": policy("*", "elasticfilesystem:ClientMount")},
        lambda _: {"policy": policy("*", "elasticfilesystem:ClientWrite")},
    ),
    "aws:efs/mountTarget:MountTarget": Life(
        lambda world: {"fileSystemId": world.file_system().id, "subnetId": world.subnet()},
        lambda world: {"securityGroups": [world.group()]},
    ),
    "aws:eks/cluster:Cluster": Life(
        lambda world: {
            "roleArn": world.role().state["arn"],
            "vpcConfig": {"subnetIds": [world.subnet(0), world.subnet(1)], "endpointPrivateAccess": True},
            "enabledClusterLogTypes": ["api"],
            "encryptionConfig": {"provider": {"keyArn": "arn:key"}, "resources": ["secrets"]},
            "version": "1.34",
        },
        lambda _: {"version": "1.35", "tags": {"a": "b"}},
    ),
    "aws:eks/nodeGroup:NodeGroup": Life(
        nodes,
        lambda _: {"labels": {"c": "d"}, "taints": [], "scalingConfig": {"desiredSize": 2, "minSize": 1, "maxSize": 3}},
    ),
    "aws:iam/instanceProfile:InstanceProfile": Life(lambda world: {"role": world.role().id}, lambda _: {"role": None}),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": Life(
        lambda _: {"url": "https://oidc.example.com/id", "clientIdLists": ["sts.amazonaws.com"]}
    ),
    "aws:iam/policy:Policy": Life(lambda _: {"policy": policy("*")}, lambda _: {"policy": policy("arn:aws:sqs:::a")}),
    "aws:iam/role:Role": Life(
        lambda world: {
            "assumeRolePolicy": TRUST,
            "managedPolicyArns": [world.policy()],
            "inlinePolicies": [{"name": "in", "policy": policy("*")}],
        },
        lambda _: {"description": "nodes", "managedPolicyArns": [], "tags": {"a": "b"}},
    ),
    "aws:iam/rolePolicy:RolePolicy": Life(
        lambda world: {"role": world.role().id, "policy": policy("*")},
        lambda _: {"policy": policy("arn:aws:sqs:::a")},
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Life(
        lambda world: {"role": world.role().state["arn"], "policyArn": world.policy()}
    ),
    "aws:kms/alias:Alias": Life(
        lambda world: {"targetKeyId": world.key()}, lambda world: {"targetKeyId": second_key(world)}
    ),
    "aws:kms/key:Key": Life(
        lambda _: {"enableKeyRotation": True, "deletionWindowInDays": 7},
        lambda _: {"description": "cache", "enableKeyRotation": False, "tags": {"a": "b"}},
    ),
    "aws:sqs/queue:Queue": Life(
        lambda _: {"messageRetentionSeconds": 300, "sqsManagedSseEnabled": True, "tags": {"a": "b"}},
        lambda _: {"messageRetentionSeconds": 600, "tags": {"c": "d"}},
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Life(
        lambda world: {"queueUrl": world.queue().id, "policy": policy("*")},
        lambda _: {"policy": policy("arn:aws:sqs:::a")},
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Life(
        lambda world: {"securityGroupId": world.group(), "ipProtocol": "-1", "cidrIpv4": "0.0.0.0/0"},
        lambda _: {"cidrIpv4": "10.0.0.0/8"},
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Life(
        lambda world: {
            "securityGroupId": world.group(),
            "ipProtocol": "tcp",
            "fromPort": 2049,
            "toPort": 2049,
            "referencedSecurityGroupId": world.group(),
            "description": "files",
        },
        lambda _: {"tags": {"a": "b"}},
    ),
}


def nat(world: World) -> str:
    inputs = {"subnetId": world.subnet(), "connectivityType": "private"}
    return world.make("nat", "aws:ec2/natGateway:NatGateway", inputs).id


def second_key(world: World) -> str:
    return world.make("key2", "aws:kms/key:Key", {}).id


def test_a_life_is_written_for_every_type_that_is_kept() -> None:
    assert set(LIVES) == set(keepers())


@pytest.mark.parametrize("token", sorted(LIVES))
def test_a_resource_is_made_found_changed_and_gone_and_nothing_is_left(
    world: World, aws: Aws, account: Account, token: str
) -> None:
    life = LIVES[token]
    checked = aws.check(token, {}, life.inputs(world), NameRequest("it", b""))
    assert checked.failures == []

    made = aws.create(token, checked.inputs)

    resource = aws.sdk.resource(token)
    assert resource is not None
    always = {name for name, output in resource.outputs.items() if output.required}
    assert always <= set(made.state)
    found = aws.read(token, made)
    assert found is not None
    assert found.id == made.id
    assert {key: found.state[key] for key in checked.inputs if key in found.state} == {
        key: made.state[key] for key in checked.inputs if key in made.state
    }

    last = made
    if life.change is not None:
        new = {key: value for key, value in {**checked.inputs, **life.change(world)}.items() if value is not None}
        assert aws.check(token, checked.inputs, new, NameRequest("it", b"")).failures == []
        assert not any(change.replaces for change in aws.diff(token, made.state, checked.inputs, new).changes)
        last = Stored(made.id, aws.update(token, made, checked.inputs, new))
        assert aws.read(token, last) is not None

    aws.delete(token, last)
    if token not in LEFT_TO_ANOTHER:
        assert aws.read(token, last) is None
        aws.delete(token, last)
    world.clear()
    assert account.contents(["us-east-1"]) == []


def test_what_is_not_deleted_is_listed(world: World, account: Account) -> None:
    vpc, queue, role = world.vpc(), world.queue(), world.role()

    left = account.contents(["us-east-1"])

    names = (vpc, queue.id, role.id)
    assert [name for name in names if not any(name in line for line in left)] == []


def test_deleting_what_is_in_use_is_refused(world: World, aws: Aws) -> None:
    subnet = world.subnet()
    vpc = world.vpc()

    with pytest.raises(StandInError, match="DependencyViolation"):
        aws.delete("aws:ec2/vpc:Vpc", Stored(vpc, {}))
    assert subnet
