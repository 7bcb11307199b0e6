from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.checkout import Checkout
from sandbox.kubernetes import layout, parts, ports, records
from sandbox.kubernetes.parts import Part
from sandbox.ports import HOST


@pytest.fixture
def all_parts(checkout: Checkout) -> tuple[Part, ...]:
    """Return the parts as they would be started."""
    return parts.of(checkout, ports.reserve(checkout), Path("/bin"))


def test_the_order_of_stopping_is_the_reverse_of_that_of_starting(all_parts: tuple[Part, ...]) -> None:
    assert tuple(part.name for part in all_parts) == parts.ORDER
    for part in all_parts:
        assert all(parts.ORDER.index(needed) < parts.ORDER.index(part.name) for needed in part.after)


def test_the_part_that_was_started_last_is_not_stopped_before_those_that_need_it(checkout: Checkout) -> None:
    layout.prepare(checkout)
    for name in ("kube-apiserver", "etcd"):
        records.spawn(checkout, Part(name=name, command=("/bin/true",), health=(), ports=()))

    assert [record.name for record in records.read_all(checkout)] == ["kube-apiserver", "etcd"]


def test_every_reserved_port_belongs_to_one_part(all_parts: tuple[Part, ...]) -> None:
    assert sorted(port for part in all_parts for port in part.ports) == sorted(ports.NAMES)


def test_no_part_is_told_to_listen_anywhere_but_on_loopback(all_parts: tuple[Part, ...]) -> None:
    for part in all_parts:
        bound = [
            word for word in part.command if word.startswith(("--bind-address=", "--listen-", "--server-address="))
        ]
        assert all(f"={HOST}" in word or f"//{HOST}:" in word for word in bound), bound


def test_what_eks_admits_by_is_admitted_by(all_parts: tuple[Part, ...]) -> None:
    server = next(part for part in all_parts if part.name == "kube-apiserver")

    assert "--enable-admission-plugins=NodeRestriction,ExtendedResourceToleration" in server.command
    assert "--authorization-mode=Node,RBAC" in server.command
