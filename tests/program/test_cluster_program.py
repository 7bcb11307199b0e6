"""The network and the cluster through the real engine, in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.engine import Bench, Result

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi
import pulumi_aws as aws
from eks_gpu.cluster.assembly import connect as connect_cluster
from eks_gpu.cluster.network import connect as connect_network
from eks_gpu.settings.cluster import NewCluster
from eks_gpu.settings.network import FlowLogs, Nat, NewNetwork
from eks_gpu.settings.system_nodes import SystemNodes

config = pulumi.Config()
zones = tuple(config.require("zones").split(","))
opts = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
settings = NewNetwork(zones=zones, nat=Nat(config.require("nat")), flow_logs=FlowLogs())
network = connect_network("network", settings, opts)
cluster = connect_cluster(NewCluster(version="1.35"), network, system_nodes=SystemNodes(), opts=opts)
pulumi.export("name", cluster.name)
pulumi.export("zones", list(cluster.zones))
"""

LOOK_UP = """
import pulumi
import pulumi_aws as aws
from eks_gpu.foundation.cluster_connection import ClusterConnection

account = aws.Provider("aws", region="us-east-1")
subnets = {"us-east-1a": "subnet-0123456a", "us-east-1b": "subnet-0123456b"}
connection = ClusterConnection.lookup(
    "kubernetes",
    "platform-dev",
    version=pulumi.Config().require("version"),
    private_subnets=subnets,
    opts=pulumi.ResourceOptions(providers=[account]),
)
pulumi.export("vpc", connection.vpc_id)
"""


def _settings(*, nat: str = "none", zones: str = "us-east-1a,us-east-1c") -> dict[str, object]:
    return {"aws:region": "us-east-1", "platform:nat": nat, "platform:zones": zones}


def _changed(result: Result) -> dict[str, str]:
    """Return the operations by resource, without what stays the same."""
    assert result.returncode == 0, result.output
    return {step.name: step.operation for step in result.steps if step.operation not in {"same", "read"}}


@dataclass(frozen=True)
class Deployed:
    """A cluster that is up."""

    engine: Bench
    program: Path

    def preview(self, **settings: str) -> dict[str, str]:
        """Return what other settings would change."""
        return _changed(self.engine.preview(self.program, config=_settings(**settings)))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Bring a cluster up once for all tests of this file; afterwards it must go, and leave nothing."""
    engine = Bench(tmp_path_factory.mktemp("cluster"))
    program = engine.program(PROGRAM, name="platform")
    try:
        assert set(_changed(engine.up(program, config=_settings())).values()) == {"create"}
        yield Deployed(engine, program)
        gone = engine.destroy(program, config=_settings())
        assert gone.returncode == 0, gone.output
        assert engine.export(program)["deployment"].get("resources", []) == []
    finally:
        engine.close()


def test_a_second_deployment_changes_nothing(deployed: Deployed) -> None:
    assert _changed(deployed.engine.up(deployed.program, config=_settings())) == {}


def test_a_further_zone_makes_its_own_subnet_and_moves_no_other(deployed: Deployed) -> None:
    changed = deployed.preview(zones="us-east-1a,us-east-1c,us-east-1b")

    assert {name for name, operation in changed.items() if operation == "create"} == {
        "network-private-us-east-1b",
        "network-private-routes-us-east-1b",
        "network-private-association-us-east-1b",
    }
    assert "network-private-us-east-1a" not in changed
    assert changed.get("cluster-control-plane-eksCluster", "update") == "update"


def test_giving_a_closed_network_a_nat_gateway_replaces_nothing(deployed: Deployed) -> None:
    changed = deployed.preview(nat="single")

    assert changed["network-nat-us-east-1a"] == "create"
    assert changed["network-endpoints-sts"] == "delete"
    assert set(changed.values()) == {"create", "delete"}
    assert not {name for name in changed if name.startswith(("cluster", "network-private-us", "network-vpc"))}


def test_another_program_finds_the_cluster_by_name_and_is_told_of_a_wrong_version(deployed: Deployed) -> None:
    foreign = deployed.engine.program(LOOK_UP, name="foreign")

    found = deployed.engine.preview(foreign, config={"aws:region": "us-east-1", "foreign:version": "1.35"})
    assert found.returncode == 0, found.output

    refused = deployed.engine.preview(foreign, config={"aws:region": "us-east-1", "foreign:version": "1.34"})
    assert refused.returncode != 0
    assert "cluster platform-dev runs Kubernetes 1.35, but version 1.34 is stated" in refused.output
    assert "Traceback" not in refused.output
