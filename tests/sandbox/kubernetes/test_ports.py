from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import layout, ports
from sandbox.ports import HOST, free, holder, is_free


def test_every_part_has_a_port_of_its_own_that_stays_the_same(checkout: Checkout) -> None:
    reserved = ports.reserve(checkout)

    assert set(reserved) == set(ports.NAMES)
    assert len(set(reserved.values())) == len(ports.NAMES)
    assert ports.reserve(checkout) == reserved
    assert ports.of(checkout, ports.CHARTS) == reserved[ports.CHARTS]


def test_a_port_that_a_newer_version_needs_is_added_to_the_others(checkout: Checkout) -> None:
    before = dict(ports.reserve(checkout))
    older = {name: number for name, number in before.items() if name != ports.NODE_SIDE}
    layout.ports(checkout).write_text(json.dumps(older))

    after = ports.reserve(checkout)

    assert {name: after[name] for name in older} == older
    assert set(after) == set(ports.NAMES)


@pytest.mark.parametrize("damage", ["", "[1]", '{"etcd": "x"}', '{"etcd": '])
def test_a_damaged_record_is_replaced(checkout: Checkout, damage: str) -> None:
    ports.reserve(checkout)
    layout.ports(checkout).write_text(damage)

    assert set(ports.reserve(checkout)) == set(ports.NAMES)


def test_a_port_that_a_stranger_has_taken_is_given_up(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_LETTING_GO_SECONDS", 0.0)
    before = ports.reserve(checkout)
    with _listener(before[ports.ETCD]), _listener(before[ports.API_SERVER]):
        after = ports.settle(checkout, ())

    assert {name for name in before if before[name] != after[name]} == {ports.ETCD, ports.API_SERVER}
    assert ports.reserve(checkout) == after


def test_a_port_that_our_own_part_listens_at_is_not(checkout: Checkout) -> None:
    before = ports.reserve(checkout)
    with _listener(before[ports.ETCD]):
        assert ports.settle(checkout, {ports.ETCD}) == before


def test_the_address_that_stacks_know_is_not_given_up_in_silence(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "_LETTING_GO_SECONDS", 0.0)
    port = ports.of(checkout, ports.API_SERVER)
    layout.etcd_data(checkout).mkdir()

    with _listener(port), pytest.raises(SandboxError, match=rf"^port {port} of this machine.* is used by .*; end that"):
        ports.settle(checkout, ())


def test_free_ports_are_none_that_outgoing_connections_are_given() -> None:
    drawn = {free() for _ in range(50)}

    assert max(drawn) < 32_768
    assert len(drawn) > 1


def test_a_port_in_use_is_not_free_and_has_a_holder() -> None:
    port = free()
    assert is_free(port)
    assert holder(port) is None
    with _listener(port):
        assert not is_free(port)
        assert holder(port) in {os.getpid(), None}
        assert free(taken=range(20_000, 31_990)) >= 31_990


@contextmanager
def _listener(port: int) -> Iterator[None]:
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((HOST, port))
        stranger.listen()
        yield
