"""Network: a VPC for a GPU platform.

Builds
    Vpc, subnets        a private subnet per zone for nodes and pods; a public one where there is a way to the internet
    gateways, routes    internet gateway and NAT as chosen; a route table per zone, so that the choice can be changed
    endpoints           S3 always; the AWS services that nodes need where there is no way to the internet
    security group      the default one, emptied
    flow logs           records of connections, if they are asked for

Needs
    Nothing. Whoever has a VPC makes a ``NetworkConnection`` from its ids instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from eks_gpu.cluster.cidr_plan import plan
from eks_gpu.cluster.flow_logs import FlowLogs, FlowLogsArgs
from eks_gpu.cluster.network_connection import NetworkConnection
from eks_gpu.cluster.service_endpoints import ServiceEndpoints, ServiceEndpointsArgs
from eks_gpu.facts import labels
from eks_gpu.facts import network as facts
from eks_gpu.foundation.component import Component
from eks_gpu.settings.network import ExistingNetwork, Nat, NewNetwork

_ANYWHERE = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """What a network is built from."""

    settings: NewNetwork
    """Range, zones and the way to the internet."""

    discovery: str | None = None
    """Value of the ``karpenter.sh/discovery`` tag of private subnets, for node classes that select by tag; the
    project's and the stack's name by default, so that two stacks in one account do not find each other's."""


class Network(Component):
    """A VPC with private subnets in each zone."""

    connection: NetworkConnection
    """What a cluster needs to know of it."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the VPC, its subnets, the ways out of it, then the endpoints of AWS services."""
        super().__init__(name, opts)
        self._settings = args.settings
        self._plan = plan(args.settings.cidr, args.settings.zones)
        vpc = self._vpc()
        self._locked_default_security_group(vpc)
        private = self._private_subnets(vpc, args.discovery or f"{pulumi.get_project()}-{pulumi.get_stack()}")
        tables = self._private_route_tables(vpc, private)
        routes = self._ways_out(vpc, tables)
        endpoints = self._endpoints(vpc, private, tables)
        self._flow_logs(vpc)
        self.connection = NetworkConnection(
            vpc_id=vpc.id,
            private_subnets={zone: subnet.id for zone, subnet in private.items()},
            isolated=args.settings.nat is Nat.NONE,
            ready=(*tables.associations, *routes, *endpoints.ready),
        )
        self.register_outputs({"vpc_id": vpc.id})

    def _vpc(self) -> aws.ec2.Vpc:
        return aws.ec2.Vpc(
            self.child_name("vpc"),
            cidr_block=self._settings.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=self._tags("vpc"),
            opts=self.child_opts(),
        )

    def _locked_default_security_group(self, vpc: aws.ec2.Vpc) -> aws.ec2.DefaultSecurityGroup:
        """Take all rules from the group that AWS gives to whatever names no group."""
        return aws.ec2.DefaultSecurityGroup(
            self.child_name("default-security-group"),
            vpc_id=vpc.id,
            ingress=[],
            egress=[],
            tags=self._tags("default-locked"),
            opts=self.child_opts(),
        )

    def _private_subnets(self, vpc: aws.ec2.Vpc, discovery: str) -> dict[str, aws.ec2.Subnet]:
        found_by = {**facts.TAG_INTERNAL_LOAD_BALANCER, labels.KARPENTER_DISCOVERY: discovery}
        return {
            zone: self._subnet(vpc, f"private-{zone}", zone, ranges.private, found_by)
            for zone, ranges in self._plan.items()
        }

    def _subnet(self, vpc: aws.ec2.Vpc, suffix: str, zone: str, cidr: str, tags: Mapping[str, str]) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            self.child_name(suffix),
            vpc_id=vpc.id,
            availability_zone=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags={**self._tags(suffix), **tags},
            opts=self.child_opts(),
        )

    def _private_route_tables(self, vpc: aws.ec2.Vpc, subnets: Mapping[str, aws.ec2.Subnet]) -> _RouteTables:
        tables = {zone: self._route_table(vpc, f"private-routes-{zone}") for zone in subnets}
        associations = tuple(
            self._association(f"private-association-{zone}", subnet, tables[zone]) for zone, subnet in subnets.items()
        )
        return _RouteTables(tables, associations)

    def _route_table(self, vpc: aws.ec2.Vpc, suffix: str) -> aws.ec2.RouteTable:
        return aws.ec2.RouteTable(
            self.child_name(suffix), vpc_id=vpc.id, tags=self._tags(suffix), opts=self.child_opts()
        )

    def _association(
        self, suffix: str, subnet: aws.ec2.Subnet, table: aws.ec2.RouteTable
    ) -> aws.ec2.RouteTableAssociation:
        return aws.ec2.RouteTableAssociation(
            self.child_name(suffix), subnet_id=subnet.id, route_table_id=table.id, opts=self.child_opts()
        )

    def _ways_out(self, vpc: aws.ec2.Vpc, private: _RouteTables) -> tuple[pulumi.Resource, ...]:
        """Define public subnets and gateways, and return the routes by which private subnets reach the internet."""
        if self._settings.nat is Nat.NONE:
            return ()
        public, public_routes = self._public_subnets(vpc)
        gateway_zones = nat_gateway_zones(self._settings)
        gateways = {
            zone: self._nat_gateway(zone, public[zone], public_routes) for zone in dict.fromkeys(gateway_zones.values())
        }
        return tuple(
            aws.ec2.Route(
                self.child_name(f"private-internet-{zone}"),
                route_table_id=private.tables[zone].id,
                destination_cidr_block=_ANYWHERE,
                nat_gateway_id=gateways[gateway_zone].id,
                opts=self.child_opts(),
            )
            for zone, gateway_zone in gateway_zones.items()
        )

    def _public_subnets(self, vpc: aws.ec2.Vpc) -> tuple[dict[str, aws.ec2.Subnet], tuple[pulumi.Resource, ...]]:
        gateway = aws.ec2.InternetGateway(
            self.child_name("internet-gateway"),
            vpc_id=vpc.id,
            tags=self._tags("internet-gateway"),
            opts=self.child_opts(),
        )
        table = self._route_table(vpc, "public-routes")
        route = aws.ec2.Route(
            self.child_name("public-internet"),
            route_table_id=table.id,
            destination_cidr_block=_ANYWHERE,
            gateway_id=gateway.id,
            opts=self.child_opts(),
        )
        subnets = {
            zone: self._subnet(vpc, f"public-{zone}", zone, ranges.public, facts.TAG_PUBLIC_LOAD_BALANCER)
            for zone, ranges in self._plan.items()
        }
        associations = tuple(
            self._association(f"public-association-{zone}", subnet, table) for zone, subnet in subnets.items()
        )
        return subnets, (route, *associations)

    def _nat_gateway(
        self, zone: str, subnet: aws.ec2.Subnet, public_routes: tuple[pulumi.Resource, ...]
    ) -> aws.ec2.NatGateway:
        address = aws.ec2.Eip(
            self.child_name(f"nat-address-{zone}"),
            domain="vpc",
            tags=self._tags(f"nat-{zone}"),
            opts=self.child_opts(depends_on=public_routes),
        )
        return aws.ec2.NatGateway(
            self.child_name(f"nat-{zone}"),
            subnet_id=subnet.id,
            allocation_id=address.id,
            tags=self._tags(f"nat-{zone}"),
            opts=self.child_opts(depends_on=public_routes),
        )

    def _endpoints(
        self, vpc: aws.ec2.Vpc, private: Mapping[str, aws.ec2.Subnet], tables: _RouteTables
    ) -> ServiceEndpoints:
        return ServiceEndpoints(
            self.child_name("endpoints"),
            ServiceEndpointsArgs(
                region=facts.region_of(self._settings.zones[0]),
                vpc_id=vpc.id,
                cidr=self._settings.cidr,
                subnets={zone: subnet.id for zone, subnet in private.items()},
                route_tables={zone: table.id for zone, table in tables.tables.items()},
                interfaces=facts.PRIVATE_SERVICES if self._settings.nat is Nat.NONE else (),
            ),
            self.child_opts(),
        )

    def _flow_logs(self, vpc: aws.ec2.Vpc) -> None:
        if self._settings.flow_logs is not None:
            FlowLogs(
                self.child_name("flow-logs"),
                FlowLogsArgs(settings=self._settings.flow_logs, vpc_id=vpc.id, account_id=vpc.owner_id),
                self.child_opts(),
            )

    def _tags(self, suffix: str) -> dict[str, str]:
        """Return the tag by which people find a resource in AWS's console."""
        return {"Name": self.child_name(suffix)}


@dataclass(frozen=True, slots=True)
class _RouteTables:
    """The private route tables by zone, and what joins them to subnets."""

    tables: Mapping[str, aws.ec2.RouteTable]
    associations: tuple[aws.ec2.RouteTableAssociation, ...]


def connect(
    name: str, settings: NewNetwork | ExistingNetwork, opts: pulumi.ResourceOptions | None = None
) -> NetworkConnection:
    """Return the network that the ``network`` block asks for: a new one called ``name``, or the one that exists."""
    if isinstance(settings, ExistingNetwork):
        vpc = settings.existing
        # By name, because the engine hands a mapping over without its order.
        subnets = dict(sorted(vpc.private_subnets.items()))
        return NetworkConnection(vpc_id=vpc.vpc_id, private_subnets=subnets, isolated=vpc.isolated)
    return Network(name, NetworkArgs(settings=settings), opts).connection


def nat_gateway_zones(settings: NewNetwork) -> dict[str, str]:
    """Return, for each zone, the zone whose NAT gateway it uses; nothing where there is no gateway.

    A single gateway is in the first zone by name and not by order, so that reordering zones does not move it.
    """
    if settings.nat is Nat.NONE:
        return {}
    if settings.nat is Nat.PER_ZONE:
        return {zone: zone for zone in settings.zones}
    return dict.fromkeys(settings.zones, min(settings.zones))
