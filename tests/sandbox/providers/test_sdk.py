from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from sandbox.providers.sdk import Kind, Sdk


@pytest.mark.parametrize(
    ("token", "class_name"),
    [
        ("aws:ec2/launchTemplate:LaunchTemplate", "pulumi_aws.ec2.LaunchTemplate"),
        ("aws:eks/nodeGroup:NodeGroup", "pulumi_aws.eks.NodeGroup"),
        ("aws:efs/fileSystem:FileSystem", "pulumi_aws.efs.FileSystem"),
        ("aws:iam/role:Role", "pulumi_aws.iam.Role"),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "pulumi_aws.vpc.SecurityGroupIngressRule"),
    ],
)
def test_the_text_of_a_class_says_what_the_imported_class_says(aws_sdk: Sdk, token: str, class_name: str) -> None:
    module, _, name = class_name.rpartition(".")
    arguments = getattr(import_module(module), f"{name}Args")
    signature = inspect.signature(arguments.__init__)
    given = {
        parameter.name: parameter
        for parameter in signature.parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }

    resource = aws_sdk.resource(token)

    assert resource is not None
    required = {name for name, field in resource.inputs.items() if field.required}
    assert len(resource.inputs) == len(given)
    assert len(required) == sum(parameter.default is parameter.empty for parameter in given.values())


def test_names_are_those_of_the_wire_and_kinds_are_nested(aws_sdk: Sdk) -> None:
    resource = aws_sdk.resource("aws:ec2/launchTemplate:LaunchTemplate")

    assert resource is not None
    devices = resource.inputs["blockDeviceMappings"].kind
    assert devices == Kind("list", (Kind("object", name="LaunchTemplateBlockDeviceMappingArgs"),))
    nested = aws_sdk.nested(resource.service, "LaunchTemplateBlockDeviceMappingEbsArgs")
    assert nested is not None
    assert nested["volumeSize"].kind == Kind("integer")
    assert resource.outputs["latestVersion"].required
    assert not resource.outputs["description"].required


def test_types_of_another_module_are_found(kubernetes_sdk: Sdk) -> None:
    resource = kubernetes_sdk.resource("kubernetes:apps/v1:Deployment")

    assert resource is not None
    metadata = kubernetes_sdk.nested(resource.service, resource.inputs["metadata"].kind.name)
    assert metadata is not None
    assert "namespace" in metadata


def test_every_type_of_the_services_in_use_can_be_read(aws_sdk: Sdk, kubernetes_sdk: Sdk) -> None:
    services = ("cloudwatch", "ec2", "efs", "eks", "iam", "kms", "sqs", "vpc")
    tokens = [token for token in aws_sdk.tokens() if token.split(":")[1].split("/")[0] in services]
    eks = Sdk("pulumi_eks")

    read = [aws_sdk.resource(token) for token in tokens]
    read += [eks.resource("eks:index:Cluster"), eks.resource("eks:index:ManagedNodeGroup")]
    read += [
        kubernetes_sdk.resource(token)
        for token in kubernetes_sdk.tokens()
        if token.startswith(("kubernetes:core/v1:", "kubernetes:apps/v1:", "kubernetes:storage.k8s.io/v1:"))
    ]

    assert len(tokens) > 200
    assert all(resource is not None and resource.outputs for resource in read)


def test_a_type_that_the_sdk_lacks_is_none_with_its_nearest_neighbour(aws_sdk: Sdk) -> None:
    assert aws_sdk.resource("aws:ec2/launchTemplat:LaunchTemplat") is None
    assert aws_sdk.nearest("aws:ec2/launchTemplat:LaunchTemplat") == "aws:ec2/launchTemplate:LaunchTemplate"
    assert aws_sdk.nearest("something else") is None


def test_an_sdk_that_is_not_installed_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="pulumi_nowhere is not installed"):
        Sdk("pulumi_nowhere")
