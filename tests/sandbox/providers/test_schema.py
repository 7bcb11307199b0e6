from __future__ import annotations

import pytest

from sandbox.providers.schema import Failure, problems
from sandbox.providers.sdk import Sdk
from sandbox.providers.wire import UNKNOWN, Properties

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def judged(sdk: Sdk, token: str, inputs: Properties) -> list[Failure]:
    resource = sdk.resource(token)
    assert resource is not None
    return problems(sdk, resource, inputs)


def test_a_misspelt_property_is_named_by_its_path_with_the_nearest_valid_name(aws_sdk: Sdk) -> None:
    inputs = {"blockDeviceMappings": [{"ebs": {"volumSize": 100}}]}

    (failure,) = judged(aws_sdk, TEMPLATE, inputs)

    assert failure.path == "blockDeviceMappings[0].ebs.volumSize"
    assert failure.reason == (
        'unknown property "volumSize" of LaunchTemplateBlockDeviceMappingEbs; did you mean "volumeSize"'
    )


def test_every_missing_property_is_named(aws_sdk: Sdk) -> None:
    found = judged(aws_sdk, "aws:eks/nodeGroup:NodeGroup", {"clusterName": "a", "scalingConfig": {"maxSize": 1}})

    assert {failure.path for failure in found} == {
        "nodeRoleArn",
        "subnetIds",
        "scalingConfig.desiredSize",
        "scalingConfig.minSize",
    }
    assert all(failure.reason.startswith("missing required property") for failure in found)


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({"updateDefaultVersion": "true"}, "updateDefaultVersion", "expected a boolean, got a string"),
        ({"defaultVersion": "1"}, "defaultVersion", "expected an integer, got a string"),
        ({"defaultVersion": True}, "defaultVersion", "expected an integer, got a boolean"),
        ({"defaultVersion": 1.5}, "defaultVersion", "expected an integer, got a number"),
        ({"imageId": 7}, "imageId", "expected a string, got an integer"),
        ({"tags": {"size": 7}}, 'tags["size"]', "expected a string, got an integer"),
        ({"vpcSecurityGroupIds": "sg-1"}, "vpcSecurityGroupIds", "expected a list, got a string"),
        ({"metadataOptions": ["x"]}, "metadataOptions", "expected an object, got a list"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_but_not_shown(
    aws_sdk: Sdk, inputs: Properties, path: str, reason: str
) -> None:
    assert judged(aws_sdk, TEMPLATE, inputs) == [Failure(path, reason)]


@pytest.mark.parametrize(
    "inputs",
    [
        {"defaultVersion": 2.0},
        {"defaultVersion": UNKNOWN, "blockDeviceMappings": UNKNOWN},
        {"blockDeviceMappings": [UNKNOWN, {"ebs": UNKNOWN}]},
        {"__defaults": ["name"]},
        {"metadataOptions": {"httpTokens": "required"}, "tags": None},
    ],
)
def test_whole_numbers_unknowns_and_bookkeeping_pass(aws_sdk: Sdk, inputs: Properties) -> None:
    assert judged(aws_sdk, TEMPLATE, inputs) == []


def test_one_of_several_kinds_is_enough(aws_sdk: Sdk, kubernetes_sdk: Sdk) -> None:
    assert judged(aws_sdk, "aws:iam/role:Role", {"assumeRolePolicy": "{}"}) == []
    for port in (80, "http"):
        probe = {"name": "a", "livenessProbe": {"httpGet": {"port": port}}}
        assert judged(kubernetes_sdk, "kubernetes:core/v1:Pod", {"spec": {"containers": [probe]}}) == []


def test_types_of_another_module_are_judged_too(kubernetes_sdk: Sdk) -> None:
    spec = {
        "selector": {},
        "template": {"metadata": {"label": {}}, "spec": {"containers": [{"name": "a", "imge": "b"}]}},
    }

    found = judged(kubernetes_sdk, "kubernetes:apps/v1:Deployment", {"spec": spec})

    assert {failure.path for failure in found} == {
        "spec.template.metadata.label",
        "spec.template.spec.containers[0].imge",
    }
