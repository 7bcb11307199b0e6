"""An engine that is killed at any moment leaves nothing behind for good."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import aws, stacks
from sandbox.checkout import ROOT, Checkout
from sandbox.cli import main
from sandbox.providers.aws.provider import Aws
from tests.support.killing import Command, Moment, Outcome, Victims, run_and_kill

pytestmark = pytest.mark.engine

PROGRAM = """
import json
import pulumi
import pulumi_aws as aws

tags = {"eks-gpu:stack": pulumi.get_stack()}
opts = pulumi.ResourceOptions(provider=aws.Provider("aws", region="eu-west-1", default_tags={"tags": tags}))
trust = json.dumps({"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}]})
allowed = json.dumps({"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"}]})

network = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", opts=opts)
gateway = aws.ec2.InternetGateway("gateway", vpc_id=network.id, opts=opts)
table = aws.ec2.RouteTable("table", vpc_id=network.id, opts=opts)
route = aws.ec2.Route(
    "out", route_table_id=table.id, destination_cidr_block="0.0.0.0/0", gateway_id=gateway.id, opts=opts)
files = aws.efs.FileSystem("files", encrypted=True, opts=opts)
group = aws.ec2.SecurityGroup("group", name="nodes", vpc_id=network.id, opts=opts)
aws.vpc.SecurityGroupIngressRule(
    "https", security_group_id=group.id, ip_protocol="tcp", from_port=443, to_port=443, cidr_ipv4="10.0.0.0/16",
    opts=opts)
subnets = []
for number, zone in enumerate("ab"):
    subnet = aws.ec2.Subnet(
        f"subnet-{zone}", vpc_id=network.id, cidr_block=f"10.0.{number}.0/24", availability_zone=f"eu-west-1{zone}",
        opts=opts)
    aws.ec2.RouteTableAssociation(f"routes-{zone}", route_table_id=table.id, subnet_id=subnet.id, opts=opts)
    aws.efs.MountTarget(f"files-{zone}", file_system_id=files.id, subnet_id=subnet.id, opts=opts)
    subnets.append(subnet.id)
address = aws.ec2.Eip("address", domain="vpc", opts=opts)
aws.ec2.NatGateway("nat", subnet_id=subnets[0], allocation_id=address.id, opts=opts)
aws.ec2.VpcEndpoint(
    "s3", vpc_id=network.id, service_name="com.amazonaws.eu-west-1.s3", route_table_ids=[table.id], opts=opts)

role = aws.iam.Role(
    "role", name="gpu-cluster", assume_role_policy=trust,
    managed_policy_arns=["arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"], opts=opts)
aws.iam.RolePolicy("may-look", role=role.id, policy=allowed, opts=opts)
policy = aws.iam.Policy("policy", name="gpu-look", policy=allowed, opts=opts)
aws.iam.RolePolicyAttachment("attached", role=role.name, policy_arn=policy.arn, opts=opts)
aws.iam.InstanceProfile("profile", name="gpu-node", role=role.name, opts=opts)
logs = aws.cloudwatch.LogGroup("logs", name="/aws/eks/gpu/cluster", opts=opts)
key = aws.kms.Key("key", opts=opts)
aws.kms.Alias("alias", name="alias/gpu", target_key_id=key.id, opts=opts)
queue = aws.sqs.Queue("jobs", name="interruptions", opts=opts)
rule = aws.cloudwatch.EventRule("rule", name="spot", event_pattern=json.dumps({"source": ["aws.ec2"]}), opts=opts)
aws.cloudwatch.EventTarget("target", rule=rule.name, arn=queue.arn, opts=opts)

cluster = aws.eks.Cluster(
    "cluster", name="gpu", role_arn=role.arn, vpc_config={"subnet_ids": subnets},
    opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[logs])))
aws.eks.NodeGroup(
    "nodes", cluster_name=cluster.name, node_group_name="system", node_role_arn=role.arn, subnet_ids=subnets,
    scaling_config={"min_size": 1, "max_size": 1, "desired_size": 1}, opts=opts)
aws.ec2.LaunchTemplate("template", name="gpu-nodes", image_id="ami-0123456789abcdef0", opts=opts)
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def fine(args, report):
    pass

PolicyPack("pack", [ResourceValidationPolicy("fine", "everything is fine", fine, EnforcementLevel.ADVISORY)])
"""

STAND_IN = ("local", "--kubernetes", "stand-in")

QUICK = ("local", "--", "--skip-preview")

STEPS = 32
"""How many resources the program has, less than one or two, so that the last steps come too."""


@pytest.fixture
def program(in_place_of_ours: Callable[..., Path]) -> Path:
    """Put a program with a bit of everything in the place of this checkout's own."""
    return in_place_of_ours("gpus", program=PROGRAM, pack=PACK, stack_file="config:\n  aws:region: eu-west-1\n")


def kill(program: Path, arguments: list[str], victims: Victims, tmp_path: Path) -> Outcome:
    """Kill the engine of a command at a random moment; the seed that pytest prints gives the same one again."""
    draw = random.Random(random.getrandbits(32))  # noqa: S311 - a moment is no secret
    moment = Moment(draw.randint(1, STEPS), draw.choice((0.0, draw.uniform(0.0, 0.1))))
    sys.stdout.write(f"{arguments[0]}: {victims.name} killed {moment}\n")
    script = (
        "import sys; from pathlib import Path; from sandbox.commands import project; from sandbox.cli import main;"
        f"project.ROOT = Path({str(program)!r}); project.check_command = lambda _program, _stack: ['true'];"
        f"sys.exit(main({arguments!r}))"
    )
    return run_and_kill(Command([sys.executable, "-c", script], ROOT, tmp_path / "output"), moment, victims)


@pytest.mark.parametrize("victims", Victims)
def test_after_a_kill_in_up_and_one_in_destroy_recover_builds_the_stack_and_down_leaves_nothing(
    checkout: Checkout, program: Path, tmp_path: Path, victims: Victims, capfd: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["up", *STAND_IN, "--", "--skip-preview"], ["down", *QUICK]):
        cut_off = kill(program, arguments, victims, tmp_path)
        # Drawn at the very end, the moment may come too late.
        assert cut_off.killed or cut_off.returncode == 0, cut_off.output

        assert main(["recover", *QUICK]) == 0
        cut_off.tidy()
        assert main(["up", *QUICK, "--expect-no-changes"]) == 0

    assert list(checkout.state.rglob("*.attrs")) == [], "they are not written at once, and half of one is refused"
    capfd.readouterr()
    assert main(["down", *QUICK]) == 0
    assert capfd.readouterr().out.endswith("nothing is left in AWS; it is stopped\n")
    assert aws.running(checkout) is None


def test_what_nobody_recorded_is_out_of_the_way_of_names_after_recover_and_of_a_destroy_at_once(
    checkout: Checkout, program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert program.is_dir()
    provider = Aws(endpoint=aws.start(checkout).url)
    provider.configure({"region": "eu-west-1", "defaultTags": {"tags": {"eks-gpu:stack": "local"}}})
    provider.create("aws:iam/role:Role", {"name": "gpu-cluster", "assumeRolePolicy": "{}"})
    provider.create("aws:cloudwatch/logGroup:LogGroup", {"name": "/aws/eks/gpu/cluster"})
    provider.create("aws:ec2/launchTemplate:LaunchTemplate", {"name": "gpu-nodes", "imageId": "ami-0123456789abcdef0"})

    # One at a time: with several the engine may give up on the others before it says why the first one failed.
    assert main(["up", *STAND_IN, "--", "--skip-preview", "--parallel", "1"]) == 1
    assert "EntityAlreadyExists" in capfd.readouterr().out
    assert main(["recover", *QUICK]) == 0
    said = capfd.readouterr().out
    assert "removed global role gpu-cluster (left by an interrupted run)\n" in said
    assert "removed eu-west-1 log group /aws/eks/gpu/cluster (left by an interrupted run)\n" in said

    [network] = [each["id"] for each in stacks.resources(checkout) if each["type"] == "aws:ec2/vpc:Vpc"]
    subnet = provider.create("aws:ec2/subnet:Subnet", {"vpcId": network, "cidrBlock": "10.0.9.0/24"})

    assert main(["down", *QUICK]) == 0
    said = capfd.readouterr().out
    assert f"removed eu-west-1 subnet {subnet.id} (left by an interrupted run)\n" in said
    assert said.endswith("nothing is left in AWS; it is stopped\n")
