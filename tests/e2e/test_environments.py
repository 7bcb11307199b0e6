"""The stacks of staging and production, each lived through once: up, up again, down, with nothing left.

Production protects what is dear, so it is deleted as docs/operations.md says: after a deployment as another
environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from eks_gpu.facts import gpu_software, labels, resources
from sandbox import aws
from sandbox.checkout import Checkout
from sandbox.kubernetes import audit, control_plane
from sandbox.kubernetes.audit import AuditEvent
from sandbox.kubernetes.rest import Kind, Object, Rest
from tests.e2e.local_stack.living import (
    WITHOUT_PREVIEW,
    Said,
    command,
    config_file,
    engine_command,
    has_gpu_taint,
    is_ready,
    look,
    names,
    waiting,
)
from tests.e2e.order import created, first, last, told_to_go

ENVIRONMENTS = ("staging", "prod")
PROTECTED = "prod"
SLICES = 56
"""Partitions of a p4d.24xlarge in layout all-1g.5gb: seven of each of its eight GPUs."""

CLUSTER_POLICIES = Kind(gpu_software.CLUSTER_POLICY_API, "clusterpolicies")


@dataclass(frozen=True)
class Stay:
    """What was seen of a stack."""

    stack: str
    up: Said
    again: Said
    refused: Said | None
    """What `down` said while the stack was protected."""
    opened: Said | None
    """The deployment that took the protection away."""
    down: Said
    built: dict[str, list[Object]]
    """What was in the cluster after the second ``up``, by kind."""
    policies: list[Object]
    """The operator's ClusterPolicies."""
    events: list[AuditEvent]
    """Every change that the API server was asked for."""

    def nodes(self, label: str, value: str) -> list[Object]:
        """Return the nodes with a label."""
        return [node for node in self.built["Node"] if node["metadata"]["labels"].get(label) == value]


@pytest.fixture(scope="session", params=ENVIRONMENTS)
def stay(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stay]:
    """Live through one of the stacks, for every test that asks about it."""
    checkout = Checkout(tmp_path_factory.mktemp(request.param) / "sandbox")
    try:
        yield live(checkout, request.param)
    finally:
        control_plane.wipe(checkout)
        aws.stop(checkout)


def live(checkout: Checkout, stack: str) -> Stay:
    """Live through it; fails at once if the stack does not come up."""
    up = command(checkout, "up", stack, *WITHOUT_PREVIEW)
    assert up.code == 0, up.output
    plane = control_plane.running(checkout)
    assert plane is not None
    again = command(checkout, "up", stack, *WITHOUT_PREVIEW, "--expect-no-changes")
    rest = Rest.of(plane)
    built = look(rest)
    policies = rest.list(CLUSTER_POLICIES)["items"] if "ClusterPolicy" in definitions(built) else []
    refused = opened = None
    if stack == PROTECTED:
        refused = command(checkout, "down", stack, *WITHOUT_PREVIEW)
        opened = open_for_deletion(checkout, stack)
    down = command(checkout, "down", stack, *WITHOUT_PREVIEW)
    return Stay(stack, up, again, refused, opened, down, built, policies, audit.events(checkout))


def open_for_deletion(checkout: Checkout, stack: str) -> Said:
    """Deploy it once as another environment."""
    config = config_file(checkout, stack)
    config.write_text(re.sub(r"(?m)^(\s+environment: )prod$", r"\1staging", config.read_text()))
    return engine_command(checkout, "up", "--yes", "--skip-preview", stack=stack)


def definitions(objects: dict[str, list[Object]]) -> set[str]:
    """Return the kinds that are defined."""
    return {each["spec"]["names"]["kind"] for each in objects["CustomResourceDefinition"]}


def test_the_stack_comes_up_on_the_real_api_server_and_the_rules_agree(stay: Stay) -> None:
    assert stay.up.code == 0
    assert re.search(rf"rules \({stay.stack}\) on \d+ resources: \d+ checks passed, 0 findings", stay.up.output)


def test_a_second_up_changes_nothing(stay: Stay) -> None:
    assert stay.again.code == 0, stay.again.output


def test_down_leaves_no_object_and_no_aws_resource(stay: Stay) -> None:
    assert stay.down.code == 0, stay.down.output
    assert "nothing is left in Kubernetes; it is stopped\n" in stay.down.output
    assert stay.down.output.endswith("nothing is left in AWS; it is stopped\n")


def test_what_production_protects_is_deleted_only_after_a_deployment_as_another_environment(stay: Stay) -> None:
    if stay.refused is None or stay.opened is None:
        assert stay.stack != PROTECTED
        return
    assert stay.refused.code == 2
    assert stay.refused.output.count("\n") == 1, "one sentence, and nothing of the engine"
    for part in ("cluster-control-plane", "cluster-secrets-key", "model-cache-file-system", "another environment"):
        assert part in stay.refused.output
    assert stay.opened.code == 0, stay.opened.output


def test_every_deployment_is_ready_and_the_pools_too(stay: Stay) -> None:
    assert waiting(stay.built) == []
    for kind in ("NodePool", "EC2NodeClass"):
        assert names(stay.built[kind]) == (["g5", "p4d"] if stay.stack == "prod" else ["g5"])
        for each in stay.built[kind]:
            ready = [one for one in each["status"]["conditions"] if one["type"] == "Ready"]
            assert [one["status"] for one in ready] == ["True"], each["metadata"]["name"]


def test_g02_each_environment_has_the_owner_of_its_gpus_that_it_chose(stay: Stay) -> None:
    if stay.stack == "prod":
        assert [policy["status"]["state"] for policy in stay.policies] == ["ready"]
        assert "nvidia-device-plugin" not in names(stay.built["DaemonSet"])
    else:
        assert stay.policies == []
        assert {"nvidia-device-plugin", "dcgm-exporter"} <= set(names(stay.built["DaemonSet"]))


def test_n05_every_gpu_node_advertises_gpus_and_no_other_does(stay: Stay) -> None:
    """They do only where the device plugin runs, so that it reaches every one of them."""
    assert any(map(has_gpu_taint, stay.built["Node"]))
    for node in stay.built["Node"]:
        allocatable = node["status"]["allocatable"]
        counts = [int(count) for name, count in allocatable.items() if name.startswith("nvidia.com/")]
        assert any(counts) == has_gpu_taint(node), node["metadata"]["name"]


def test_g04_the_static_group_of_production_advertises_slices_and_no_whole_gpu(stay: Stay) -> None:
    sliced = stay.nodes(labels.GPU_TYPE, "a100-mig")
    assert len(sliced) == (1 if stay.stack == "prod" else 0)
    for node in sliced:
        assert node["status"]["allocatable"][resources.mig("1g.5gb")] == str(SLICES)
        assert node["status"]["allocatable"].get(resources.GPU, "0") == "0"


def test_servers_run_on_the_static_floor_and_karpenter_bought_nothing_for_them(stay: Stay) -> None:
    floor = {node["metadata"]["name"] for node in stay.nodes(labels.GPU_TYPE, "a10g")}
    servers = [pod for pod in stay.built["Pod"] if pod["metadata"]["name"].startswith("vllm-") and is_ready(pod)]
    assert servers
    assert {pod["spec"]["nodeName"] for pod in servers} <= floor
    assert stay.built["NodeClaim"] == []


def test_g08_the_result_of_the_proof_is_an_output(stay: Stay) -> None:
    assert "gpu_validation" in stay.up.output


def test_servers_come_last_and_go_first(stay: Stay) -> None:
    assert last(created(stay, "persistentvolumeclaims", "model-cache")) < first(created(stay, "deployments", "vllm"))
    assert first(told_to_go(stay, "deployments", "vllm")) < first(told_to_go(stay, "nodepools"))


def test_the_pools_go_before_the_controller_that_alone_can_remove_their_nodes(stay: Stay) -> None:
    controller = first(told_to_go(stay, "deployments", "karpenter"))
    assert last(told_to_go(stay, "nodepools")) < controller
    assert last(told_to_go(stay, "ec2nodeclasses")) < controller


def test_the_gpu_software_comes_after_the_pools_and_goes_before_them(stay: Stay) -> None:
    owner = ("deployments", "gpu-operator") if stay.stack == "prod" else ("daemonsets", "nvidia-device-plugin")
    assert last(created(stay, "nodepools")) < first(created(stay, *owner))
    assert first(told_to_go(stay, *owner)) < first(told_to_go(stay, "nodepools"))
