from __future__ import annotations

import pytest

from eks_gpu.facts import instances
from eks_gpu.nodes.efa import NetworkInterface, efa_interfaces
from eks_gpu.settings.efa import EFA_LAYOUT_UNKNOWN

WITH_ADAPTERS = sorted(name for name in instances.efa_capable() if not name.startswith(EFA_LAYOUT_UNKNOWN))


@pytest.mark.parametrize("name", WITH_ADAPTERS)
def test_g09_every_type_has_as_many_adapters_as_the_catalogue_says_one_on_each_card(name: str) -> None:
    kind = instances.CATALOGUE[name]

    first, *adapters = efa_interfaces(kind)

    assert first == NetworkInterface(card=0, device=0, kind="interface")
    assert [each.card for each in adapters] == list(range(kind.efa_interfaces))
    assert {(each.device, each.kind) for each in adapters} == {(1, "efa-only")}


@pytest.mark.parametrize("name", WITH_ADAPTERS)
def test_g09_no_two_interfaces_take_one_place(name: str) -> None:
    interfaces = efa_interfaces(instances.CATALOGUE[name])

    assert len({(each.card, each.device) for each in interfaces}) == len(interfaces)


def test_g09_a_p5_has_32_adapters_beside_its_interface() -> None:
    assert len(efa_interfaces(instances.CATALOGUE["p5.48xlarge"])) == 1 + 32


def test_an_interface_is_spelled_as_an_ec2nodeclass_lists_it() -> None:
    assert NetworkInterface(card=2, device=1, kind="efa-only").karpenter() == {
        "networkCardIndex": 2,
        "deviceIndex": 1,
        "interfaceType": "efa-only",
    }
