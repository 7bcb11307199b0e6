from __future__ import annotations

import re

import pytest

from eks_gpu.observability import runbook
from eks_gpu.observability.rules import ALERTS

NAMES = [alert.name for alert in ALERTS]
CONFIG_MAP_LIMIT_BYTES = 1024 * 1024


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", runbook.read(name), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_alert_has_a_runbook_and_none_outlives_its_alert() -> None:
    assert sorted(file.name for file in runbook.FOLDER.iterdir()) == sorted(runbook.file_name(name) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_runbook_has_its_alerts_name_and_four_headings_in_order(name: str) -> None:
    headings = re.findall(r"^#+ .+$", re.sub(r"```.*?```", "", runbook.read(name), flags=re.DOTALL), flags=re.MULTILINE)
    assert headings == [f"# {name}", *(f"## {heading}" for heading in runbook.HEADINGS)]


@pytest.mark.parametrize("name", NAMES)
def test_each_section_says_something_and_the_last_two_say_what_to_type(name: str) -> None:
    texts = sections(name)
    assert all(len(text.strip()) > 40 for text in texts.values())
    assert re.search(r"```(?:console|promql)\n", texts["Diagnosis"])
    assert re.search(r"kubectl|aws ec2|helm", texts["Mitigation"])


@pytest.mark.parametrize("name", NAMES)
def test_a_runbook_uses_no_name_that_it_has_not_explained(name: str) -> None:
    text = runbook.read(name)
    for variable in ("NODE", "INSTANCE"):
        if f"${variable}" in text or f"${{{variable}}}" in text:
            assert f"{variable}=" in text
    if re.search(r"^on_node ", text, flags=re.MULTILINE):
        assert "on_node() {" in text


@pytest.mark.parametrize("name", NAMES)
def test_m06_whoever_drains_spares_daemonsets_and_scratch_volumes(name: str) -> None:
    drains = re.findall(r"^kubectl drain .*$", runbook.read(name), flags=re.MULTILINE)
    assert all("--ignore-daemonsets --delete-emptydir-data" in drain for drain in drains)


def test_m06_a_lost_gpu_is_drained_rebooted_checked_and_replaced_in_that_order() -> None:
    text = runbook.read("GpuLost")
    steps = [
        "dmesg --ctime >",
        "kubectl drain",
        "reboot-instances",
        "condition=Ready",
        "nvidia\\.com/gpu",
        "kubectl uncordon",
        "delete nodeclaim",
        "terminate-instances",
    ]
    positions = [text.index(step) for step in ("cordon", *steps)]
    assert positions == sorted(positions)


def test_all_runbooks_fit_into_one_config_map() -> None:
    assert sum(len(runbook.read(name).encode()) for name in NAMES) < CONFIG_MAP_LIMIT_BYTES // 2
