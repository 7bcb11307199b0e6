from __future__ import annotations

import base64
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
import yaml

from eks_gpu.nodes import user_data
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_pool import NodePool

GOLDEN = Path(__file__).with_name("golden")
WITH_NVME = NodeGroup(instance_types=("g5.2xlarge",), count=2)
WITHOUT_NVME = NodeGroup(instance_types=("p3.2xlarge",), count=2)


def _kubelet(group: NodeGroup) -> dict[str, Any]:
    spec: Any = user_data.node_config(group)["spec"]
    config: dict[str, Any] = spec["kubelet"]["config"]
    return config


@pytest.mark.parametrize(
    ("group", "golden"),
    [(WITH_NVME, "al2023_nvidia_with_local_nvme.mime"), (WITHOUT_NVME, "al2023_nvidia_without_local_nvme.mime")],
)
def test_n06_rendered_user_data_is_the_golden_file(group: NodeGroup, golden: str) -> None:
    assert user_data.render(group) == (GOLDEN / golden).read_text(encoding="utf-8")


def test_user_data_parses_to_a_script_and_the_node_config() -> None:
    message = message_from_string(user_data.render(WITH_NVME))
    script, config = [part for part in message.walk() if not part.is_multipart()]

    assert script.get_content_type() == "text/x-shellscript"
    assert str(script.get_payload()).startswith("#!/bin/bash")
    assert config.get_content_type() == "application/node.eks.aws"
    assert yaml.safe_load(str(config.get_payload())) == user_data.node_config(WITH_NVME)


def test_a_pod_sees_the_gpus_that_it_asked_for_and_no_other() -> None:
    (command,) = [line for line in user_data.toolkit_script().replace("\\\n", "").splitlines() if "nvidia-ctk" in line]

    assert command.split() == [
        "nvidia-ctk",
        "config",
        "--in-place",
        "--set",
        "accept-nvidia-visible-devices-as-volume-mounts=true",
        "--set",
        "accept-nvidia-visible-devices-envvar-when-unprivileged=false",
    ]


def test_n02_kubelet_prunes_images_before_it_evicts_pods() -> None:
    kubelet = _kubelet(WITHOUT_NVME)

    assert kubelet["imageGCHighThresholdPercent"] <= 80
    assert kubelet["imageGCLowThresholdPercent"] < kubelet["imageGCHighThresholdPercent"]
    assert kubelet["imageMaximumGCAge"] == "168h"


def test_n08_local_nvme_of_every_type_becomes_one_disk_for_images() -> None:
    assert user_data.node_config(WITH_NVME)["spec"] == {
        "kubelet": {"config": _kubelet(WITH_NVME)},
        "instance": {"localStorage": {"strategy": "RAID0"}},
    }


def test_types_without_nvme_keep_images_on_the_root_volume() -> None:
    assert user_data.node_config(WITHOUT_NVME)["spec"] == {"kubelet": {"config": _kubelet(WITHOUT_NVME)}}


def test_group_and_pool_of_the_same_types_boot_alike() -> None:
    assert user_data.render(NodePool(instance_types=("g5.2xlarge",), max_gpus=4)) == user_data.render(WITH_NVME)


def test_encoded_user_data_decodes_to_the_text() -> None:
    text = user_data.render(WITH_NVME)

    assert base64.b64decode(user_data.encoded(text)).decode() == text
