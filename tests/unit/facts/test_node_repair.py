from __future__ import annotations

from eks_gpu.facts import node_repair, xid


def test_n07_every_xid_that_the_agent_takes_as_fatal_has_a_repair() -> None:
    fatal = {node_repair.xid_reason(each.id) for each in xid.table().values() if each.eks_node_repair}

    assert fatal <= set(node_repair.repairs())
    assert set(node_repair.repairs().values()) == {node_repair.REPLACE, node_repair.REBOOT}


def test_n07_what_nvidia_resets_is_rebooted_and_all_else_is_replaced() -> None:
    repairs = node_repair.repairs()

    def repaired(number: int) -> str:
        return repairs[node_repair.xid_reason(number)]

    assert {number: repaired(number) for number in (48, 62, 95, 119, 140)} == dict.fromkeys(
        (48, 62, 95, 119, 140), node_repair.REBOOT
    )
    assert {number: repaired(number) for number in (54, 74, 79, 142, 151)} == dict.fromkeys(
        (54, 74, 79, 142, 151), node_repair.REPLACE
    )


def test_n07_a_node_with_fewer_gpus_than_its_type_has_is_a_new_instance() -> None:
    assert node_repair.repairs()["NvidiaDeviceCountMismatch"] == node_repair.REPLACE


def test_m01_a_row_remap_takes_effect_by_a_reboot_and_one_that_failed_is_a_new_instance() -> None:
    repairs = node_repair.repairs()

    assert repairs["NvidiaXID63Error"] == node_repair.REBOOT
    assert repairs["NvidiaXID64Error"] == node_repair.REPLACE


def test_m01_errors_of_the_application_repair_nothing() -> None:
    repaired = set(node_repair.repairs())

    assert not {node_repair.xid_reason(number) for number in xid.of_class(xid.XidClass.APPLICATION)} & repaired
