"""Service endpoints: how a VPC reaches AWS without the internet.

Builds
    VpcEndpoint     S3 as a gateway, always: it costs nothing and keeps image layers off the NAT gateway
    VpcEndpoint     an interface for each other service that is asked for
    SecurityGroup   HTTPS from inside the VPC to the interfaces

Needs
    A VPC with DNS support and host names on, because the services keep their public names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from eks_gpu.facts import network as facts
from eks_gpu.foundation.arguments import missing, missing_entries, refuse
from eks_gpu.foundation.component import Component

_HTTPS = 443


@dataclass(frozen=True, kw_only=True)
class ServiceEndpointsArgs:
    """What service endpoints are built from."""

    region: str
    """Region of the VPC."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""

    cidr: pulumi.Input[str]
    """Addresses of the VPC; only they may use the interfaces."""

    subnets: Mapping[str, pulumi.Input[str]]
    """Private subnet ids by zone. An interface is put into each, so that a zone's failure stays its own."""

    route_tables: Mapping[str, pulumi.Input[str]]
    """Ids of the private route tables by zone, which get the route to S3."""

    interfaces: tuple[str, ...] = ()
    """Services that get an interface endpoint, such as ``ecr.api``. Each costs by the hour and zone, so none by
    default; a VPC without a way to the internet needs ``facts.network.PRIVATE_SERVICES``."""


class ServiceEndpoints(Component):
    """Private ways from a VPC to services of AWS."""

    ready: tuple[pulumi.Resource, ...]
    """What nodes must wait for."""

    def __init__(self, name: str, args: ServiceEndpointsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Define the gateway to S3, then the interfaces to the other services."""
        problems = [*missing(args, "region", "vpc_id", "cidr"), *missing_entries(args, "subnets", "route_tables")]
        refuse(problems, component=name)
        super().__init__(name, opts)
        gateway = self._gateway(args)
        self.ready = (gateway, *(self._interfaces(args) if args.interfaces else ()))
        self.register_outputs({})

    def _gateway(self, args: ServiceEndpointsArgs) -> aws.ec2.VpcEndpoint:
        return aws.ec2.VpcEndpoint(
            self.child_name("s3"),
            vpc_id=args.vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=facts.service_name(args.region, facts.S3_SERVICE),
            route_table_ids=list(args.route_tables.values()),
            tags={"Name": self.child_name("s3")},
            opts=self.child_opts(),
        )

    def _interfaces(self, args: ServiceEndpointsArgs) -> tuple[aws.ec2.VpcEndpoint, ...]:
        group = self._security_group(args)
        return tuple(self._interface(args, service, group) for service in args.interfaces)

    def _interface(self, args: ServiceEndpointsArgs, service: str, group: aws.ec2.SecurityGroup) -> aws.ec2.VpcEndpoint:
        suffix = service.replace(".", "-")
        return aws.ec2.VpcEndpoint(
            self.child_name(suffix),
            vpc_id=args.vpc_id,
            vpc_endpoint_type="Interface",
            service_name=facts.service_name(args.region, service),
            private_dns_enabled=True,
            subnet_ids=list(args.subnets.values()),
            security_group_ids=[group.id],
            tags={"Name": self.child_name(suffix)},
            opts=self.child_opts(),
        )

    def _security_group(self, args: ServiceEndpointsArgs) -> aws.ec2.SecurityGroup:
        return aws.ec2.SecurityGroup(
            self.child_name("security-group"),
            vpc_id=args.vpc_id,
            description="HTTPS from inside the VPC to the endpoints of AWS services",
            ingress=[
                {
                    "protocol": "tcp",
                    "from_port": _HTTPS,
                    "to_port": _HTTPS,
                    "cidr_blocks": [args.cidr],
                    "description": "HTTPS from inside the VPC",
                }
            ],
            egress=[],
            tags={"Name": self.child_name("security-group")},
            opts=self.child_opts(),
        )
