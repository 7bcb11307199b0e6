"""What is read of user data, in every form that somebody may write it in."""

from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eks_gpu.planning.reading import NotKnownError, View
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.readers.node_groups import read_node_group
from eks_gpu_policies.readers.user_data import HIGH, LOW, UserData, parse, read_user_data, user_data_of
from eks_gpu_policies.stack import Stack

NODE_CONFIG = """\
---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance: {localStorage: {strategy: RAID0}}
  kubelet:
    config: {imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 50}
---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {imageGCHighThresholdPercent: 75}
"""
SCRIPT = """\
#!/bin/bash
# dnf upgrade -y
mkdir -p /data
dnf install -y \\
  nfs-utils
"""
MIME = f"""\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

{SCRIPT}
--//
Content-Type: application/node.eks.aws

{NODE_CONFIG}
--//
Content-Type: text/cloud-config

#cloud-config
runcmd: [[nvidia-smi, -pm, "1"], "systemctl restart chronyd"]
--//--
"""
BOTTLEROCKET = """\
[settings.kubernetes]
image-gc-high-threshold-percent = "70"
image-gc-low-threshold-percent = 50

[settings.bootstrap-commands.000-disks]
commands = [["apiclient", "ephemeral-storage", "init"], ["apiclient", "ephemeral-storage", "bind", "--dirs", "{}"]]
mode = "always"
essential = true
"""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_n06_every_part_of_a_multipart_text_is_read() -> None:
    read = parse(MIME)
    assert list(read.lines) == [
        "mkdir -p /data",
        "dnf install -y    nfs-utils",
        "nvidia-smi -pm 1",
        "systemctl restart chronyd",
    ]
    assert len(read.node_configs) == 2
    assert not read.unread


@pytest.mark.parametrize("text", [MIME, NODE_CONFIG])
@pytest.mark.parametrize("form", [str, encoded, lambda text: "\n" + text, lambda text: encoded(text) + "\n"])
def test_the_last_node_config_wins_in_plain_text_and_in_base64(text: str, form: type[str]) -> None:
    read = parse(form(text))
    assert (read.kubelet_percent(HIGH), read.kubelet_percent(LOW)) == (75, 50)
    assert read.raid_holds_images


def test_gzipped_user_data_is_unpacked() -> None:
    packed = base64.b64encode(gzip.compress(MIME.encode())).decode()
    assert parse(packed).kubelet_percent(HIGH) == 75
    assert parse(base64.b64encode(b"\x1f\x8bnonsense").decode()).unread


def test_a_part_in_base64_is_decoded() -> None:
    part = f"Content-Type: application/node.eks.aws\nContent-Transfer-Encoding: base64\n\n{encoded(NODE_CONFIG)}\n"
    text = f'Content-Type: multipart/mixed; boundary="B"\nMIME-Version: 1.0\n\n--B\n{part}\n--B--\n'
    assert parse(text).kubelet_percent(LOW) == 50


def test_bottlerockets_settings_are_read() -> None:
    read = parse(BOTTLEROCKET)
    assert (read.kubelet_percent(HIGH), read.kubelet_percent(LOW)) == (70, 50)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        (BOTTLEROCKET.format("/var/lib/containerd"), True),
        (BOTTLEROCKET.format("/mnt/data"), False),
        (BOTTLEROCKET.replace(', "--dirs", "{}"', ""), True),
        (BOTTLEROCKET.replace('"bind"', '"list"'), False),
        ("apiVersion: node.eks.aws/v1alpha1\nspec: {instance: {localStorage: {strategy: Mount}}}", False),
        (
            (
                "apiVersion: node.eks.aws/v1alpha1\n"
                "spec: {instance: {localStorage: {strategy: RAID0, disabledMounts: [Containerd]}}}"
            ),
            False,
        ),
        ("#!/bin/bash\n/etc/eks/bootstrap.sh ml --local-disks raid0\n", True),
        ("#!/bin/bash\n# /bin/setup-local-disks raid0\n", False),
        ("", False),
    ],
)
def test_n08_local_disks_hold_images_only_where_containerd_is_put_there(text: str, holds: bool) -> None:
    assert parse(text).raid_holds_images is holds


@pytest.mark.parametrize(
    "line",
    [
        "/etc/eks/bootstrap.sh ml --kubelet-extra-args '--image-gc-high-threshold=70 --node-labels=a=b'",
        "echo \"$(jq '.imageGCHighThresholdPercent=70' $CONFIG)\" > $CONFIG",
        "echo '{\"imageGCHighThresholdPercent\": 70}' > /etc/kubernetes/kubelet/config.json.d/90-gc.conf",
    ],
)
def test_n02_a_script_may_tell_the_kubelet_as_well(line: str) -> None:
    assert parse(f"#!/bin/bash\n{line}\n").kubelet_percent(HIGH) == 70


def test_a_flag_beats_the_configuration() -> None:
    flags = NODE_CONFIG + "    flags: [--image-gc-high-threshold=60]\n"
    assert parse(flags).kubelet_percent(HIGH) == 60


@pytest.mark.parametrize("text", ["a: [", "[settings\n", "wget -q x\n", "Content-Type: multipart/mixed\n\nx"])
def test_what_nobody_can_read_is_kept_as_lines_and_said_to_be_unread(text: str) -> None:
    read = parse(text)
    assert read.unread
    assert list(read.lines)


def test_a_broken_node_config_is_unread() -> None:
    read = parse("apiVersion: node.eks.aws/v1alpha1\nspec: {")
    assert read.unread
    assert read.kubelet_percent(HIGH) is None


def test_unknown_user_data_is_not_known() -> None:
    with pytest.raises(NotKnownError):
        read_user_data(View(UNKNOWN, "urn", "userData"))
    assert read_user_data(View(None, "urn", "userData")) == UserData()


def test_a_component_is_read_as_what_it_is_given() -> None:
    component = examples.resource(
        "eks:index:ManagedNodeGroup",
        "gpu",
        {
            "instanceTypes": ["g5.xlarge"],
            "nodeadmExtraOptions": [{"contentType": "application/node.eks.aws", "content": NODE_CONFIG}],
            "kubeletExtraArgs": "--image-gc-low-threshold=40",
            "bottlerocketSettings": {"settings": {"kubernetes": {"max-pods": 110}}},
        },
    )
    stack = Stack((component,))
    read = user_data_of(read_node_group(component, stack), stack)
    assert (read.kubelet_percent(HIGH), read.kubelet_percent(LOW)) == (75, 40)
    assert read.settings["kubernetes"]["max-pods"].integer() == 110


@given(st.text(max_size=400) | st.binary(max_size=200).map(lambda data: base64.b64encode(data).decode()))
def test_anything_is_read(text: str) -> None:
    read = parse(text)
    assert isinstance(list(read.lines), list)
    assert isinstance(read.raid_holds_images, bool)
    assert (read.kubelet_percent(HIGH) or 0) < 1000


@given(
    st.sampled_from(["#cloud-config\n", "MIME-Version: 1.0\n", "apiVersion: node.eks.aws/v1\n", "[settings]\n"]),
    st.text(),
)
def test_anything_after_a_known_beginning_is_read(start: str, text: str) -> None:
    read = parse(start + text)
    assert isinstance(read.raid_holds_images, bool)
    assert isinstance(list(read.lines), list)
