from __future__ import annotations

import base64
import itertools
import subprocess
import tomllib
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
import yaml

from eks_gpu.nodes import kubelet, user_data, user_data_al2023, user_data_bottlerocket
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import NodeImage
from eks_gpu.settings.node_pool import NodePool
from tests.support.golden import Golden

GOLDEN = Path(__file__).with_name("golden")
NVME, NO_NVME = "g5.2xlarge", "p3.2xlarge"

EVERYTHING: dict[str, Any] = {
    "registry_mirrors": [
        {"registry": "docker.io", "endpoints": ["https://mirror.example.com/v2/docker-hub", "https://second.example"]},
        {"registry": "registry.example.com:5000", "endpoints": ["http://10.0.0.7:8080"]},
    ],
    "proxy": {"https": "http://proxy.example.com:3128", "no_proxy": ["s3.us-east-1.amazonaws.com"]},
    "kubelet_reserved": {"cpu_millicores": 500, "memory_mib": 2048, "ephemeral_storage_gib": 4},
}
FILES = [
    {"path": "/etc/pki/ca-trust/source/anchors/example.pem", "content": "-----BEGIN CERTIFICATE-----\nMIIB\n"},
    {"path": "/opt/bin/greet", "content": "#!/bin/sh\necho \"$HOME\" '$(id)' `id` \\\n", "mode": "0755"},
]
IMAGES: dict[str, NodeImage] = {
    "al2023_nvidia": NodeImage(),
    "al2023_nvidia_with_everything": NodeImage.model_validate({**EVERYTHING, "extra_files": FILES}),
    "bottlerocket_nvidia": NodeImage.model_validate({"family": "bottlerocket"}),
    "bottlerocket_nvidia_with_everything": NodeImage.model_validate({"family": "bottlerocket", **EVERYTHING}),
}
TYPES = {"with_local_nvme": NVME, "without_local_nvme": NO_NVME}


def _group(image: NodeImage = IMAGES["al2023_nvidia"], instance_type: str = NVME) -> NodeGroup:
    return NodeGroup(instance_types=(instance_type,), count=2, image=image)


def _parts(group: NodeGroup) -> tuple[str, dict[str, Any]]:
    """Return the script and the NodeConfig of AL2023 user data, read as cloud-init reads them."""
    message = message_from_string(user_data.render(group))
    script, config = [part for part in message.walk() if not part.is_multipart()]
    assert (script.get_content_type(), config.get_content_type()) == ("text/x-shellscript", "application/node.eks.aws")
    return str(script.get_payload()), yaml.safe_load(str(config.get_payload()))


def _settings(group: NodeGroup) -> dict[str, Any]:
    """Return the settings in Bottlerocket user data, read as Bottlerocket reads them."""
    read: dict[str, Any] = tomllib.loads(user_data.render(group))["settings"]
    return read


@pytest.mark.parametrize(("image", "types"), list(itertools.product(IMAGES, TYPES)))
def test_n06_rendered_user_data_is_the_golden_file(image: str, types: str, golden: Golden) -> None:
    suffix = "toml" if image.startswith("bottlerocket") else "mime"

    assert golden(GOLDEN / f"{image}_{types}.{suffix}", user_data.render(_group(IMAGES[image], TYPES[types])))


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
def test_n06_group_and_karpenter_pool_of_the_same_types_boot_alike(image: NodeImage) -> None:
    pool = NodePool(instance_types=(NVME,), max_gpus=4, image=image)

    assert user_data.render(pool) == user_data.render(_group(image))


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("instance_type", TYPES.values(), ids=TYPES)
def test_n06_user_data_is_read_back_as_it_was_meant(image: NodeImage, instance_type: str) -> None:
    group = _group(image, instance_type)

    if image.family == "bottlerocket":
        assert _settings(group) == user_data_bottlerocket.settings(group)
    else:
        script, config = _parts(group)
        assert config == user_data_al2023.node_config(group)
        assert script.startswith("#!/bin/bash")


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
def test_n06_user_data_fits_into_what_ec2_takes(image: NodeImage) -> None:
    assert len(user_data.render(_group(image))) < 8 * 1024


def test_a_pod_on_al2023_sees_the_gpus_that_it_asked_for_and_no_other() -> None:
    script, _ = _parts(_group())
    (command,) = [line for line in script.replace("\\\n", "").splitlines() if "nvidia-ctk" in line]

    assert command.split() == [
        "nvidia-ctk",
        "config",
        "--in-place",
        "--set",
        "accept-nvidia-visible-devices-as-volume-mounts=true",
        "--set",
        "accept-nvidia-visible-devices-envvar-when-unprivileged=false",
    ]


def test_a_pod_on_bottlerocket_sees_the_gpus_that_it_asked_for_and_no_other() -> None:
    settings = _settings(_group(IMAGES["bottlerocket_nvidia"]))

    assert settings["nvidia-container-runtime"] == {
        "visible-devices-as-volume-mounts": True,
        "visible-devices-envvar-when-unprivileged": False,
    }
    assert settings["kubelet-device-plugins"]["nvidia"] == {"device-list-strategy": "volume-mounts"}


def test_n02_kubelet_on_al2023_prunes_images_before_it_evicts_pods_and_after_a_week() -> None:
    config = _parts(_group())[1]["spec"]["kubelet"]["config"]

    assert config["imageGCHighThresholdPercent"] <= 80
    assert config["imageGCLowThresholdPercent"] < config["imageGCHighThresholdPercent"]
    assert config["imageMaximumGCAge"] == "168h"


def test_n02_kubelet_on_bottlerocket_prunes_images_at_the_same_fullness_and_age() -> None:
    settings = _settings(_group(IMAGES["bottlerocket_nvidia"]))

    assert settings["kubernetes"]["image-gc-high-threshold-percent"] == str(kubelet.IMAGE_GC_HIGH_PERCENT)
    assert settings["kubernetes"]["image-gc-low-threshold-percent"] == str(kubelet.IMAGE_GC_LOW_PERCENT)
    age = settings["bootstrap-commands"]["100-image-maximum-age"]
    assert age["commands"] == [["apiclient", "set", "kubernetes.image-maximum-gc-age=168h"]]
    assert (age["mode"], age["essential"]) == ("always", False)


def test_n02_karpenter_loses_no_kubernetes_setting_of_bottlerocket() -> None:
    """Karpenter 1.14.1 keeps of ``settings.kubernetes`` what it knows (bootstrap/bottlerocketsettings.go)."""
    known = {"image-gc-high-threshold-percent", "image-gc-low-threshold-percent", "kube-reserved"}

    assert set(_settings(_group(IMAGES["bottlerocket_nvidia_with_everything"]))["kubernetes"]) == known


def test_n08_local_nvme_of_every_type_becomes_one_disk_for_images_on_al2023() -> None:
    assert _parts(_group())[1]["spec"]["instance"] == {"localStorage": {"strategy": "RAID0"}}
    assert "instance" not in _parts(_group(instance_type=NO_NVME))[1]["spec"]


def test_n08_local_nvme_of_every_type_becomes_one_disk_for_images_on_bottlerocket() -> None:
    image = IMAGES["bottlerocket_nvidia"]

    command = _settings(_group(image))["bootstrap-commands"]["000-mount-instance-storage"]
    assert command["commands"] == [
        ["apiclient", "ephemeral-storage", "init"],
        ["apiclient", "ephemeral-storage", "bind"],
    ]
    assert (command["mode"], command["essential"]) == ("always", True)
    assert "000-mount-instance-storage" not in _settings(_group(image, NO_NVME))["bootstrap-commands"]


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
def test_n07_user_data_upgrades_nothing(image: NodeImage) -> None:
    words = user_data.render(_group(image)).split()

    assert not {"dnf", "yum", "upgrade", "update", "nvidia-smi"} & set(words)


def test_n03_reservations_of_kubelet_are_said_alike_to_both_families_and_to_karpenter() -> None:
    reserved = {"cpu": "500m", "memory": "2048Mi", "ephemeral-storage": "4Gi"}
    al2023 = _group(IMAGES["al2023_nvidia_with_everything"])

    assert _parts(al2023)[1]["spec"]["kubelet"]["config"]["kubeReserved"] == reserved
    assert _settings(_group(IMAGES["bottlerocket_nvidia_with_everything"]))["kubernetes"]["kube-reserved"] == reserved
    assert kubelet.node_class_settings(al2023)["kubeReserved"] == reserved
    assert "kubeReserved" not in kubelet.node_class_settings(_group())


def test_a_proxy_is_that_of_every_service_and_never_for_metadata_pod_identity_or_the_cluster() -> None:
    environment = _parts(_group(IMAGES["al2023_nvidia_with_everything"]))[1]["spec"]["instance"]["environment"][
        "default"
    ]
    network = _settings(_group(IMAGES["bottlerocket_nvidia_with_everything"]))["network"]

    assert environment["HTTPS_PROXY"] == network["https-proxy"] == "http://proxy.example.com:3128"
    assert environment["NO_PROXY"].split(",") == network["no-proxy"]
    needed = {"169.254.169.254", "169.254.170.23", "10.0.0.0/8", ".eks.amazonaws.com", "s3.us-east-1.amazonaws.com"}
    assert needed <= set(network["no-proxy"])


def test_mirrors_are_asked_in_order_and_with_a_path_as_it_is() -> None:
    docker, private = user_data_al2023.files(IMAGES["al2023_nvidia_with_everything"])[:2]

    assert docker.path == "/etc/containerd/certs.d/docker.io/hosts.toml"
    assert private.path == "/etc/containerd/certs.d/registry.example.com_5000_/hosts.toml"
    able = {"capabilities": ["pull", "resolve"]}
    assert tomllib.loads(docker.content) == {
        "host": {
            "https://mirror.example.com/v2/docker-hub": {**able, "override_path": True},
            "https://second.example": able,
        }
    }
    assert next(iter(tomllib.loads(docker.content)["host"])).endswith("docker-hub")
    mirrors = _settings(_group(IMAGES["bottlerocket_nvidia_with_everything"]))["container-registry"]["mirrors"]
    assert [mirror["registry"] for mirror in mirrors] == ["docker.io", "registry.example.com:5000"]


def test_files_arrive_as_they_were_written_whatever_the_shell_would_make_of_them(tmp_path: Path) -> None:
    script, _ = _parts(_group(IMAGES["al2023_nvidia_with_everything"]))
    lines = script.replace("nvidia-ctk", ": nvidia-ctk")
    for file in user_data_al2023.files(IMAGES["al2023_nvidia_with_everything"]):
        lines = lines.replace(f"/dev/stdin {file.path} ", f"/dev/stdin {tmp_path}{file.path} ")

    subprocess.run(["/bin/bash", "-c", lines], check=True, timeout=30)

    for file in user_data_al2023.files(IMAGES["al2023_nvidia_with_everything"]):
        written = tmp_path / file.path.lstrip("/")
        assert written.read_text(encoding="ascii") == file.content
        assert f"0{written.stat().st_mode & 0o777:o}" == file.mode


def test_encoded_user_data_decodes_to_the_text() -> None:
    text = user_data.render(_group())

    assert base64.b64decode(user_data.encoded(text)).decode() == text
