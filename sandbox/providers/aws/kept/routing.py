"""Route tables, their routes, and what they are tied to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sandbox.providers.aws.account import ACCOUNT_ID, arn
from sandbox.providers.aws.kept.keeper import Kept, Made
from sandbox.providers.aws.kept.lookup import found, missing_ok
from sandbox.providers.aws.kept.tagging import specification, update_ec2_tags
from sandbox.providers.stand_in import Stored
from sandbox.providers.wire import Properties

if TYPE_CHECKING:
    from sandbox.providers.aws.api import Api

_EC2: Final = "ec2"
# The destinations of a route, by what a Route and what a RouteTable's `routes` call them.
_DESTINATIONS: Final = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
}
_TARGETS: Final = {
    "egressOnlyGatewayId": "EgressOnlyInternetGatewayId",
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "transitGatewayId": "TransitGatewayId",
    "vpcEndpointId": "VpcEndpointId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
}


def _put_route(api: Api, operation: str, table: str, route: Properties, names: Mapping[str, str]) -> None:
    arguments = {names[key]: value for key, value in route.items() if key in names and value}
    api.call(_EC2, operation, RouteTableId=table, **arguments)


def _add_route(api: Api, table: str, route: Properties) -> None:
    _put_route(api, "create_route", table, route, {**_DESTINATIONS, **_TARGETS})


def _drop_route(api: Api, table: str, route: Properties) -> None:
    with missing_ok():
        _put_route(api, "delete_route", table, route, _DESTINATIONS)


def _create_table(api: Api, inputs: Properties) -> Made:
    tags = specification("route-table", inputs)
    table = api.call(_EC2, "create_route_table", VpcId=inputs["vpcId"], TagSpecifications=tags)["RouteTable"]
    id_ = table["RouteTableId"]
    for route in inputs.get("routes") or ():
        _add_route(api, id_, route)
    outputs = {"arn": arn(_EC2, f"route-table/{id_}", api.region), "ownerId": ACCOUNT_ID}
    return Made(id_, {**outputs, "routes": inputs.get("routes") or [], "propagatingVgws": []})


def _table(api: Api, id_: str) -> Properties | None:
    return found(api, _EC2, "describe_route_tables", "RouteTables", RouteTableIds=[id_])


def _read_table(api: Api, existing: Stored) -> Properties | None:
    return None if _table(api, existing.id) is None else {}


def _update_table(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    before, after = old.get("routes") or [], new.get("routes") or []
    for route in before:
        if route not in after:
            _drop_route(api, existing.id, route)
    for route in after:
        if route not in before:
            _add_route(api, existing.id, route)
    update_ec2_tags(api, existing, old, new)
    return {"routes": after}


def _delete_table(api: Api, existing: Stored) -> None:
    with missing_ok():
        api.call(_EC2, "delete_route_table", RouteTableId=existing.id)


def _destination(route: Properties) -> str:
    return str(next(route[key] for key in _DESTINATIONS if route.get(key)))


def _create_route(api: Api, inputs: Properties) -> Made:
    _add_route(api, inputs["routeTableId"], inputs)
    return Made(f"r-{inputs['routeTableId']}-{_destination(inputs)}", {"origin": "CreateRoute", "state": "active"})


def _read_route(api: Api, existing: Stored) -> Properties | None:
    table = _table(api, existing.state["routeTableId"]) or {}
    wanted = _destination(existing.state)
    names = set(_DESTINATIONS.values())
    routes: list[dict[str, Any]] = table.get("Routes", [])
    return {} if any(route.get(name) == wanted for route in routes for name in names) else None


def _update_route(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del existing
    _drop_route(api, old["routeTableId"], old)
    _add_route(api, new["routeTableId"], new)
    return {}


def _delete_route(api: Api, existing: Stored) -> None:
    _drop_route(api, existing.state["routeTableId"], existing.state)


def _create_association(api: Api, inputs: Properties) -> Made:
    subnet, gateway = inputs.get("subnetId"), inputs.get("gatewayId")
    table = inputs["routeTableId"]
    made = api.call(_EC2, "associate_route_table", RouteTableId=table, SubnetId=subnet, GatewayId=gateway)
    return Made(made["AssociationId"])


def _association(api: Api, state: Properties) -> str | None:
    """Return the id of a subnet's or gateway's association: AWS gives it a new one with every change of table."""
    table = _table(api, state["routeTableId"]) or {}
    for association in table.get("Associations", ()):
        for key, name in (("subnetId", "SubnetId"), ("gatewayId", "GatewayId")):
            if state.get(key) and association.get(name) == state[key]:
                return str(association["RouteTableAssociationId"])
    return None


def _read_association(api: Api, existing: Stored) -> Properties | None:
    return None if _association(api, existing.state) is None else {}


def _update_association(api: Api, existing: Stored, old: Properties, new: Properties) -> Properties:
    del existing
    id_ = _association(api, old)
    api.call(_EC2, "replace_route_table_association", AssociationId=id_, RouteTableId=new["routeTableId"])
    return {}


def _delete_association(api: Api, existing: Stored) -> None:
    id_ = _association(api, existing.state)
    if id_ is not None:
        with missing_ok():
            api.call(_EC2, "disassociate_route_table", AssociationId=id_)


KEPT: Final[Mapping[str, Kept]] = {
    "aws:ec2/routeTable:RouteTable": Kept(_create_table, _read_table, _delete_table, _update_table),
    "aws:ec2/route:Route": Kept(_create_route, _read_route, _delete_route, _update_route),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Kept(
        _create_association, _read_association, _delete_association, _update_association
    ),
}
