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


def part_of(kind: str, text: str) -> UserData:
    """Return what is read of the one part of a multipart text."""
    return parse(f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\n{kind}\n{text}\n--B--\n')


@pytest.mark.parametrize("kind", ["text/x-shellscript", "Text/X-Shellscript", "text/cloud-boothook"])
def test_a_script_is_one_by_its_content_type(kind: str) -> None:
    read = part_of(f"Content-Type: {kind}\n", "apiVersion: node.eks.aws/v1alpha1\nyum update -y")
    assert list(read.lines) == ["apiVersion: node.eks.aws/v1alpha1", "yum update -y"]
    assert (read.unread, read.node_configs) == (False, ())


@pytest.mark.parametrize("first", ["#!/bin/sh", "#cloud-boothook"])
@pytest.mark.parametrize("before", ["", "\ufeff", "\r\n"])
def test_a_script_is_one_by_its_first_line(first: str, before: str) -> None:
    read = parse(f"{before}{first}\nyum update -y\n")
    assert (list(read.lines), read.unread) == (["yum update -y"], False)


def test_cloud_config_is_read_by_its_content_type_and_by_its_first_line() -> None:
    by_type = part_of("Content-Type: text/cloud-config\n", "bootcmd: [[yum, update, -y]]")
    by_line = part_of("", "#cloud-config\nbootcmd: [[yum, update, -y]]")
    for read in (by_type, by_line, parse("#cloud-config\nbootcmd: ['yum update -y']\n")):
        assert (list(read.lines), read.unread) == (["yum update -y"], False)
    broken = parse("#cloud-config\nruncmd: [\n")
    assert (broken.unread, broken.cloud_configs) == (True, ())


def test_a_part_without_a_content_type_is_read_by_its_first_words() -> None:
    read = part_of("", f"\n{NODE_CONFIG}")
    assert read.kubelet_percent(HIGH) == 75


def test_a_multipart_text_without_parts_is_unread_and_a_single_part_is_read() -> None:
    assert parse("MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nyum update -y\n").unread
    single = parse("Content-Type: text/x-shellscript\nMIME-Version: 1.0\n\nyum update -y\n")
    assert (list(single.lines), single.unread) == (["yum update -y"], False)


def test_base64_may_be_broken_into_lines_and_is_none_where_it_is_not_strict() -> None:
    text = encoded(SCRIPT)
    for wrapped in (f"{text[:40]}\r\n{text[40:]}\n", f"{text[:40]}\n{text[40:]}", f" {text} "):
        assert "yum" not in wrapped
        assert list(parse(wrapped).lines) == list(parse(SCRIPT).lines)
    assert list(parse(f"#{text}").lines) == []
    binary = base64.b64encode(b"\xff\xfe\x00binary").decode()
    assert list(parse(binary).lines) == [binary]


def test_options_of_the_component_are_parts_whatever_they_leave_out() -> None:
    def read(**props: object) -> UserData:
        component = examples.resource("eks:index:ManagedNodeGroup", "gpu", {"instanceTypes": ["g5.xlarge"], **props})
        stack = Stack((component,))
        return user_data_of(read_node_group(component, stack), stack)

    script = read(nodeadmExtraOptions=[{"contentType": "text/x-shellscript", "content": "yum update -y"}])
    assert (list(script.lines), script.unread) == (["yum update -y"], False)
    assert read(nodeadmExtraOptions=[{"content": NODE_CONFIG}]).kubelet_percent(HIGH) == 75
    empty = read(nodeadmExtraOptions=[{"contentType": "text/x-shellscript"}, {}])
    assert (list(empty.lines), empty.unread) == ([], False)
    assert read(bootstrapExtraArgs="--image-gc-high-threshold=71").kubelet_percent(HIGH) == 71
    assert list(read(userData=encoded(SCRIPT)).lines) == list(parse(SCRIPT).lines)


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
