"""The recorder stands in for the engine: what it says of a program must be what the engine would be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as k8s
import pytest

from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu.recording import Recording, record, record_directory


class Pair(pulumi.ComponentResource):
    """A component with a queue that something may wait for."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("test:index:Pair", name, {}, opts)
        self.queue = aws.sqs.Queue(f"{name}-queue", opts=pulumi.ResourceOptions(parent=self))


def namespace(name: str, *depends_on: pulumi.Resource) -> k8s.core.v1.Namespace:
    return k8s.core.v1.Namespace(name, opts=pulumi.ResourceOptions(depends_on=list(depends_on)))


def test_urns_are_those_of_the_engine() -> None:
    recording = record(lambda: Pair("a"), project="p", stack="s")
    assert [resource.urn for resource in recording.resources] == [
        "urn:pulumi:s::p::test:index:Pair$aws:sqs/queue:Queue::a-queue",
        "urn:pulumi:s::p::test:index:Pair::a",
    ]
    assert recording.named("a").parent is None
    assert recording.named("a-queue").parent == recording.named("a").urn


def test_what_only_the_cloud_can_tell_is_unknown_and_keeps_its_dependency() -> None:
    def program() -> None:
        cluster = eks.Cluster("c", vpc_id="vpc-1")
        k8s.Provider("p", kubeconfig=cluster.kubeconfig_json)

    provider = record(program).named("p")
    assert provider["kubeconfig"] is UNKNOWN
    assert provider.property_dependencies["kubeconfig"]


def test_numbers_are_whole_and_secrets_plain() -> None:
    def program() -> None:
        secret = pulumi.Output.secret("hush")
        k8s.apiextensions.CustomResource(
            "cr", api_version="v/v1", kind="K", spec={"size": 100, "rate": 0.5, "token": secret}
        )

    spec = record(program).one("kubernetes:v/v1:K")["spec"]
    assert spec == {"rate": 0.5, "size": 100, "token": "hush"}
    assert isinstance(spec["size"], int)


def test_resources_passed_as_inputs_do_not_hang_the_recorder() -> None:
    def program() -> None:
        role = aws.iam.Role("role", assume_role_policy="{}")
        eks.Cluster("c", instance_roles=[role])

    cluster = record(program).named("c")
    assert cluster["instanceRoles"] == ["role"]


@pytest.mark.parametrize(
    ("wire", "ordered"),
    [
        pytest.param(lambda: namespace("late", Pair("first")), True, id="waits for a component's children"),
        pytest.param(lambda: (Pair("first"), namespace("late")), False, id="does not wait by luck"),
    ],
)
def test_reaching_follows_dependencies(wire: Callable[[], object], ordered: bool) -> None:
    recording = record(wire)
    assert recording.reaches(recording.named("late"), recording.named("first-queue")) is ordered


def test_reaching_follows_the_dependencies_of_every_ancestor() -> None:
    def program() -> None:
        Pair("late", pulumi.ResourceOptions(depends_on=[namespace("first")]))

    recording = record(program)
    assert recording.reaches(recording.named("late-queue"), recording.named("first"))


def test_options_are_recorded() -> None:
    def program() -> None:
        options = pulumi.ResourceOptions(
            protect=True,
            delete_before_replace=True,
            ignore_changes=["tags"],
            aliases=[pulumi.Alias(name="old")],
            custom_timeouts=pulumi.CustomTimeouts(delete="30m"),
        )
        aws.sqs.Queue("q", opts=options)

    options = record(program).named("q").options
    assert options.protect
    assert options.delete_before_replace
    assert options.ignore_changes == ("tags",)
    assert options.aliases == ("old",)
    assert options.custom_timeouts == {"delete": "30m"}


def test_exports_and_configuration() -> None:
    def program() -> None:
        pulumi.export("region", pulumi.Config("aws").require("region"))

    assert record(program, config={"aws:region": "eu-west-1"}).exports == {"region": "eu-west-1"}


def test_known_provider_functions_are_answered_and_others_are_named() -> None:
    def program() -> None:
        pulumi.export("region", aws.get_region().region)
        aws.ec2.get_ami_output(owners=["amazon"])

    recording = record(program)
    assert recording.exports == {"region": "us-east-1"}
    assert recording.unanswered == ("aws:ec2/getAmi:getAmi",)


def test_an_answer_can_be_given() -> None:
    def program() -> None:
        pulumi.export("vpc", aws.ec2.get_vpc(default=True).id)

    answers = {"aws:ec2/getVpc:getVpc": lambda _: {"id": "vpc-7"}}
    assert record(program, answers=answers).exports == {"vpc": "vpc-7"}


def test_a_failed_program_does_not_disturb_the_next() -> None:
    def broken() -> None:
        Pair("a")
        raise RuntimeError("broken")

    for _ in range(3):
        with pytest.raises(RuntimeError, match="broken"):
            record(broken)
        assert len(record(lambda: Pair("a")).resources) == 2


def test_two_runs_compare_equal() -> None:
    def program() -> None:
        for index in range(20):
            Pair(f"p{index}")

    def run() -> Recording:
        return record(program)

    assert run() == run()


def test_a_directory_is_run_as_the_python_host_would(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'queue'\n")
    (tmp_path / "__main__.py").write_text("import pulumi_aws, beside\npulumi_aws.sqs.Queue(beside.NAME)\n")
    recording = record_directory(tmp_path, project="p", stack="s")
    assert [resource.name for resource in recording.resources] == ["queue"]


def test_asking_for_one_of_none_says_what_there_is() -> None:
    recording = record(lambda: Pair("a"))
    with pytest.raises(LookupError, match=r"expected one resource named 'b', found 0; names are \['a', 'a-queue'\]"):
        recording.named("b")
    with pytest.raises(LookupError, match=r"expected one aws:x:Y, found none"):
        recording.one("aws:x:Y")
