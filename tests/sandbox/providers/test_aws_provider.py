from __future__ import annotations

import pytest

from sandbox.providers.aws.api import Api
from sandbox.providers.aws.provider import Aws
from sandbox.providers.naming import NameRequest, NamingMode
from sandbox.providers.stand_in import StandInError, Stored
from sandbox.providers.wire import UNKNOWN, Properties

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
ROLE = "aws:iam/role:Role"
QUEUE = "aws:sqs/queue:Queue"
ADD_ON = "aws:eks/addon:Addon"
NAME = NameRequest("pool", b"seed")


def checked(aws: Aws, token: str, inputs: Properties, old: Properties | None = None) -> Properties:
    result = aws.check(token, old or {}, inputs, NAME)
    assert result.failures == []
    return result.inputs


def test_a_type_that_the_sdk_lacks_is_refused_by_its_name_and_the_nearest_one(aws: Aws) -> None:
    (failure,) = aws.check("aws:ec2/launchTemplat:LaunchTemplat", {}, {}, NAME).failures

    assert 'has no resource type "aws:ec2/launchTemplat:LaunchTemplat"' in failure.reason
    assert failure.reason.endswith('did you mean "aws:ec2/launchTemplate:LaunchTemplate"')
    with pytest.raises(StandInError, match="has no resource type"):
        aws.create("aws:nowhere/thing:Thing", {})


def test_a_name_is_made_up_where_the_real_provider_does_and_kept_afterwards(aws: Aws) -> None:
    first = checked(aws, QUEUE, {})
    second = aws.check(QUEUE, first, {"delaySeconds": 1}, NameRequest("pool", b"another seed")).inputs

    assert first["name"].startswith("pool-")
    assert len(first["name"]) == len("pool-1234567")
    assert second["name"] == first["name"]


@pytest.mark.parametrize(
    ("token", "inputs", "field", "pattern"),
    [
        ("aws:eks/nodeGroup:NodeGroup", {}, "nodeGroupName", "pool-"),
        ("aws:kms/alias:Alias", {"targetKeyId": "k"}, "name", "alias/pool-"),
        (TEMPLATE, {"namePrefix": "x-"}, "name", None),
        (TEMPLATE, {"name": "given"}, "name", "given"),
        ("aws:ec2/vpc:Vpc", {}, "name", None),
        (ADD_ON, {"addonName": "a", "clusterName": "c"}, "name", None),
    ],
)
def test_which_property_takes_the_name_depends_on_the_type(
    aws: Aws, token: str, inputs: Properties, field: str, pattern: str | None
) -> None:
    made = aws.check(token, {}, inputs, NAME).inputs.get(field)

    assert made is None if pattern is None else str(made).startswith(pattern)


def test_a_fifo_queue_s_name_ends_as_aws_wants_it(aws: Aws) -> None:
    assert checked(aws, QUEUE, {"fifoQueue": True})["name"].endswith(".fifo")


def test_a_name_too_long_for_the_service_is_a_failure_of_the_check(aws: Aws) -> None:
    name = NameRequest("r" * 60, b"", NamingMode.PROPOSE)

    (failure,) = aws.check(ROLE, {}, {"assumeRolePolicy": "{}"}, name).failures

    assert failure.path == "name"
    assert "longer than the 64 the service takes" in failure.reason


def test_a_policy_given_as_an_object_becomes_text(aws: Aws) -> None:
    inputs = checked(aws, ROLE, {"assumeRolePolicy": {"Version": "2012-10-17"}})

    assert inputs["assumeRolePolicy"] == '{"Version": "2012-10-17"}'


def test_a_preview_echoes_inputs_and_leaves_what_aws_decides_unknown(aws: Aws) -> None:
    outputs = aws.preview_create(TEMPLATE, checked(aws, TEMPLATE, {"imageId": "ami-1", "tags": {"a": "b"}}))

    assert outputs["imageId"] == "ami-1"
    assert outputs["latestVersion"] is UNKNOWN
    assert outputs["arn"] is UNKNOWN
    assert outputs["region"] == "us-east-1"
    assert outputs["tagsAll"] == {"owner": "platform", "stage": "test", "a": "b"}
    assert "__defaults" not in outputs


def test_what_aws_adds_inside_an_input_is_unknown_at_first_and_kept_afterwards(aws: Aws) -> None:
    token = "aws:eks/cluster:Cluster"  # noqa: S105 - a type token
    inputs = checked(aws, token, {"roleArn": "arn:r", "vpcConfig": {"subnetIds": ["subnet-1"]}})

    first = aws.preview_create(token, inputs)["vpcConfig"]
    known = {"vpcConfig": {"subnetIds": ["subnet-1"], "vpcId": "vpc-1", "clusterSecurityGroupId": "sg-1"}}
    new = {**inputs, "vpcConfig": {"subnetIds": ["subnet-1", "subnet-2"]}}
    later = aws.preview_update(token, {**inputs, **known}, inputs, new)["vpcConfig"]

    assert first == {"subnetIds": ["subnet-1"], "vpcId": UNKNOWN, "clusterSecurityGroupId": UNKNOWN}
    assert later == {"subnetIds": ["subnet-1", "subnet-2"], "vpcId": "vpc-1", "clusterSecurityGroupId": "sg-1"}


def test_a_preview_of_a_changed_launch_template_has_an_unknown_next_version(aws: Aws) -> None:
    old = checked(aws, TEMPLATE, {"imageId": "ami-1"})
    state = {**old, "latestVersion": 3, "defaultVersion": 1, "arn": "arn:x"}

    changed = aws.preview_update(TEMPLATE, state, old, {**old, "imageId": "ami-2"})
    tagged = aws.preview_update(TEMPLATE, state, old, {**old, "tags": {"a": "b"}})

    assert changed["latestVersion"] is UNKNOWN
    assert changed["defaultVersion"] == 1
    assert changed["arn"] == "arn:x"
    assert tagged["latestVersion"] == 3


def test_default_tags_reach_aws_beside_the_resource_s_own(aws: Aws, api: Api) -> None:
    made = aws.create(QUEUE, checked(aws, QUEUE, {"tags": {"stage": "mine"}}))

    assert api.call("sqs", "list_queue_tags", QueueUrl=made.id)["Tags"] == {"owner": "platform", "stage": "mine"}
    assert made.state["tags"] == {"stage": "mine"}
    assert made.state["tagsAll"] == {"owner": "platform", "stage": "mine"}


def test_a_changed_launch_template_gets_a_whole_new_version(aws: Aws, api: Api) -> None:
    device = {
        "deviceName": "/dev/xvda",
        "ebs": {"volumeSize": 100, "encrypted": "true", "deleteOnTermination": "false"},
    }
    old = checked(aws, TEMPLATE, {"blockDeviceMappings": [device], "imageId": "ami-1"})
    made = aws.create(TEMPLATE, old)

    after = aws.update(TEMPLATE, made, old, {**old, "imageId": "ami-2", "updateDefaultVersion": True})

    assert (made.state["latestVersion"], after["latestVersion"], after["defaultVersion"]) == (1, 2, 2)
    versions = api.call("ec2", "describe_launch_template_versions", LaunchTemplateId=made.id, Versions=["2"])
    data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    assert data["ImageId"] == "ami-2"
    assert data["BlockDeviceMappings"][0]["Ebs"] == {"VolumeSize": 100, "Encrypted": True, "DeleteOnTermination": False}


def test_an_input_taken_away_leaves_the_outputs_too(aws: Aws) -> None:
    old = checked(aws, QUEUE, {"delaySeconds": 5, "tags": {"a": "b"}})
    made = aws.create(QUEUE, old)
    new = {key: value for key, value in old.items() if key not in {"delaySeconds", "tags"}}

    after = aws.update(QUEUE, made, old, new)

    assert "delaySeconds" not in after
    assert after["tagsAll"] == {"owner": "platform", "stage": "test"}
    assert after["url"] == made.id


def test_what_moto_does_not_know_is_kept_in_state_with_made_up_outputs(aws: Aws) -> None:
    made = aws.create(ADD_ON, checked(aws, ADD_ON, {"addonName": "coredns", "clusterName": "c"}))

    assert made.id == "c:coredns"
    assert made.state["arn"].startswith("arn:aws:eks:us-east-1:123456789012:addon/")
    assert made.state["createdAt"].startswith("sandbox:")
    assert aws.read(ADD_ON, made) == made
    assert aws.read(ADD_ON, Stored("c:other", {})) is None
    aws.delete(ADD_ON, made)


def test_a_refusal_of_aws_is_told_with_its_code(aws: Aws) -> None:
    inputs = {"name": "a", "assumeRolePolicy": "{}"}
    aws.create(ROLE, inputs)

    with pytest.raises(StandInError, match=r"iam create_role: .* \(EntityAlreadyExists\)"):
        aws.create(ROLE, inputs)


def test_a_resource_of_another_region_goes_there(aws: Aws, endpoint: str) -> None:
    made = aws.create(QUEUE, checked(aws, QUEUE, {"region": "eu-west-1"}))

    assert made.state["arn"].split(":")[3] == "eu-west-1"
    assert Api("eu-west-1", endpoint).call("sqs", "list_queues")["QueueUrls"] == [made.id]
    assert "QueueUrls" not in Api("us-east-1", endpoint).call("sqs", "list_queues")


def test_the_region_is_required_unless_the_environment_names_one(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)

    assert [failure.path for failure in aws.check_config({}).failures] == ["region"]
    assert aws.check_config({"region": "us-east-1"}).failures == []
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert aws.check_config({}).failures == []


def test_a_prefix_leaves_the_rest_of_the_name_to_the_provider(aws: Aws) -> None:
    inputs = checked(aws, QUEUE, {"namePrefix": "interruptions-"})

    first, second = aws.create(QUEUE, inputs), aws.create(QUEUE, inputs)

    assert "name" not in inputs
    assert first.state["name"].startswith("interruptions-")
    assert first.state["name"] != second.state["name"]
