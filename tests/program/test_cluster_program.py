"""The network and the cluster through the real engine, in the sandbox."""

from __future__ import annotations

import pytest

from tests.support.engine import Bench, Result

pytestmark = pytest.mark.engine

PROGRAM = """
import pulumi
import pulumi_aws as aws
from eks_gpu.cluster.assembly import connect as connect_cluster
from eks_gpu.cluster.network import connect as connect_network
from eks_gpu.settings.cluster import NewCluster
from eks_gpu.settings.network import Nat, NewNetwork
from eks_gpu.settings.system_nodes import SystemNodes

config = pulumi.Config()
zones = tuple(config.require("zones").split(","))
opts = pulumi.ResourceOptions(providers=[aws.Provider("aws", region="us-east-1")])
network = connect_network("network", NewNetwork(zones=zones, nat=Nat(config.require("nat"))), opts)
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
    assert result.returncode == 0, result.output
    return {step.name: step.operation for step in result.steps if step.operation not in {"same", "read"}}


def test_a_cluster_comes_up_stays_as_it_is_grows_by_a_zone_and_goes(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="platform")

    assert set(_changed(engine.up(program, config=_settings())).values()) == {"create"}
    assert _changed(engine.up(program, config=_settings())) == {}

    further = _changed(engine.preview(program, config=_settings(zones="us-east-1a,us-east-1c,us-east-1b")))
    assert {name for name, operation in further.items() if operation == "create"} == {
        "network-private-us-east-1b",
        "network-private-routes-us-east-1b",
        "network-private-association-us-east-1b",
    }
    assert "network-private-us-east-1a" not in further
    assert further.get("cluster-control-plane-eksCluster", "update") == "update"

    _look_up(engine)
    gone = engine.destroy(program, config=_settings())
    assert gone.returncode == 0, gone.output
    assert engine.export(program)["deployment"].get("resources", []) == []


def _look_up(engine: Bench) -> None:
    foreign = engine.program(LOOK_UP, name="foreign")

    found = engine.preview(foreign, config={"aws:region": "us-east-1", "foreign:version": "1.35"})
    assert found.returncode == 0, found.output
    refused = engine.preview(foreign, config={"aws:region": "us-east-1", "foreign:version": "1.34"})
    assert refused.returncode != 0
    assert "cluster platform-dev runs Kubernetes 1.35, but version 1.34 is stated" in refused.output
    assert "Traceback" not in refused.output


def test_giving_a_closed_network_a_nat_gateway_replaces_nothing(engine: Bench) -> None:
    program = engine.program(PROGRAM, name="platform")
    assert engine.up(program, config=_settings(nat="none")).returncode == 0

    changed = _changed(engine.preview(program, config=_settings(nat="single")))

    assert changed["network-nat-us-east-1a"] == "create"
    assert changed["network-endpoints-sts"] == "delete"
    assert "replace" not in set(changed.values())
    assert not {name for name in changed if name.startswith(("cluster", "network-private-us", "network-vpc"))}
    assert engine.destroy(program, config=_settings()).returncode == 0
