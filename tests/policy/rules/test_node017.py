"""NODE017: nodes change only by replacement."""

from __future__ import annotations

import base64

import pytest

from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes, unknown


def group(user_data: str | None = None, **props: object) -> tuple[Resource, Resource]:
    told = None if user_data is None else base64.b64encode(user_data.encode()).decode()
    template = examples.launch_template(userData=told)
    return template, examples.node_group(template, **props)


def script(line: str) -> str:
    return f"#!/bin/bash\nset -ex\n{line}\n"


@pytest.mark.parametrize(
    "line",
    [
        "yum update -y",
        "sudo dnf -y upgrade",
        "dnf upgrade -y --releasever=latest > /var/log/upgrade.log 2>&1",
        "apt-get update && apt-get upgrade -y",
        "DEBIAN_FRONTEND=noninteractive apt-get -y dist-upgrade",
        "/usr/bin/yum update-minimal --security -y",
        'bash -c "yum update -y"',
        "yum install -y kernel",
        "dnf install -y kernel-6.12.20-23.97.amzn2023",
        "dnf update -y kernel  # for a fix",
        "apt-get install -y linux-image-6.8.0-1021-aws",
        "dnf upgrade -y kmod-nvidia-latest-dkms",
        "dnf upgrade --releasever 2023.9.20260720 -y",
        "yum -d 0 -e 0 -y update",
        'apt-get -o Dpkg::Options::="--force-confold" -y upgrade',
        'apt-get -y -o "Dpkg::Options::=--force-confdef" dist-upgrade',
        "yum update --exclude kernel-devel -y",
        "dnf install -y kernel6.12",
        'yum -y "update"',
        "amazon-linux-extras install -y kernel-5.15",
    ],
)
def test_n07_an_upgrade_of_packages_or_the_kernel_fails_with_its_line(line: str) -> None:
    message = complaint(judge("NODE017", *group(script(line))))
    assert message.startswith(f"upgrades packages at boot ({line}")


@pytest.mark.parametrize("line", ["dnf install -y dnf-automatic", "systemctl enable --now unattended-upgrades"])
def test_n07_automatic_upgrades_fail(line: str) -> None:
    assert complaint(judge("NODE017", *group(script(line)))) == f"has packages upgraded while the node runs ({line})"


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi mig -cgi 9,9,9,19 -C",
        "nvidia-smi -i 0 -mig 1",
        "nvidia-smi -mig=1",
        "nvidia-smi mig -i 0 -dci",
        "nvidia-smi --multi-instance-gpu=1",
    ],
)
def test_g05_a_mig_layout_made_by_hand_fails(line: str) -> None:
    message = complaint(judge("NODE017", *group(script(line))))
    assert message == f"partitions GPUs by hand at boot ({line}); no restart of the node repeats it"


@pytest.mark.parametrize(
    "line",
    [
        "yum install -y nfs-utils amazon-efs-utils",
        "apt-get update -y && apt-get install -y jq",
        "# yum update -y",
        "dnf check-update || true",
        "yum update -y amazon-ssm-agent",
        "dnf install -y kernel-devel-$(uname -r) kernel-headers",
        "dnf install -y kernel6.12-devel-6.12.20 kernel6.12-modules-extra",
        "dnf --releasever 2023.9.20260720 install -y jq",
        "yum -y",
        "apt update",
        "dnf install -y nvidia-container-toolkit",
        "yum remove -y kernel-livepatch",
        "amazon-linux-extras install -y docker",
        "systemctl disable --now unattended-upgrades",
        "apt-get purge -y unattended-upgrades",
        "nvidia-smi mig -lgip",
        "nvidia-smi --query-gpu=mig.mode.current --format=csv",
        "nvidia-smi -pm 1",
        "aws s3 cp s3://models/update -",
        "helm upgrade --install x y",
    ],
)
def test_what_leaves_driver_and_kernel_alone_passes(line: str) -> None:
    assert passes(judge("NODE017", *group(script(line))))


def test_n07_cloud_config_may_upgrade_too() -> None:
    for key in ("package_upgrade", "apt_upgrade"):
        assert f"({key}: true)" in complaint(judge("NODE017", *group(f"#cloud-config\n{key}: true\n")))
        assert passes(judge("NODE017", *group(f"#cloud-config\n{key}: false\n")))
    for key in ("runcmd", "bootcmd"):
        assert "yum update -y" in complaint(judge("NODE017", *group(f"#cloud-config\n{key}:\n- [yum, update, -y]\n")))
    assert passes(judge("NODE017", *group("#cloud-config\npackage_update: true\npackages: [jq, [nano, 7.2]]\n")))


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("unattended-upgrades", "has packages upgraded while the node runs (packages: unattended-upgrades)"),
        ("linux-image-aws", "installs another kernel at boot (packages: linux-image-aws)"),
    ],
)
def test_n07_cloud_config_may_install_what_upgrades_and_another_kernel(package: str, said: str) -> None:
    assert complaint(judge("NODE017", *group(f"#cloud-config\npackages: [{package}]\n"))).startswith(said)


def test_n07_a_part_of_a_multipart_text_is_found() -> None:
    text = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n'
        '--//\nContent-Type: text/x-shellscript; charset="us-ascii"\n\n#!/bin/bash\nyum update -y\n--//--\n'
    )
    assert "yum update -y" in complaint(judge("NODE017", *group(text)))


def test_n07_user_data_of_an_ec2_node_class_is_read_as_text() -> None:
    node_class = examples.node_class(userData=script("dnf upgrade -y"))
    assert "dnf upgrade -y" in complaint(judge("NODE017", node_class, examples.node_pool()))
    assert passes(judge("NODE017", examples.node_class(), examples.node_pool()))


@pytest.mark.parametrize(
    ("update", "maximum", "fails"),
    [
        ({"maxUnavailable": 4}, 4, True),
        ({"maxUnavailable": 5}, 4, True),
        ({"maxUnavailable": 3}, 4, False),
        ({"maxUnavailablePercentage": 100}, 4, True),
        ({"maxUnavailablePercentage": 99}, 4, False),
        ({"maxUnavailablePercentage": 100}, 1, False),
        ({"maxUnavailable": 1}, 1, False),
        ({}, 4, False),
        (None, 4, False),
    ],
)
def test_n07_an_update_never_takes_the_whole_group(update: object, maximum: int, fails: bool) -> None:
    scaling = {"minSize": 0, "desiredSize": 1, "maxSize": maximum}
    report = judge("NODE017", *group(updateConfig=update, scalingConfig=scaling))
    assert (not passes(report)) is fails
    if fails:
        assert "all of its nodes at once" in complaint(report)
        assert "in parts" in report.findings[0].fix


def test_n07_an_update_is_judged_by_what_is_known_of_its_size() -> None:
    unsaid = {"desiredSize": 2}
    assert passes(judge("NODE017", *group(updateConfig={"maxUnavailable": 4}, scalingConfig=unsaid)))
    whole = judge("NODE017", *group(updateConfig={"maxUnavailablePercentage": 100}, scalingConfig=unsaid))
    assert "all of its nodes at once" in complaint(whole)
    template, nodes = group(updateConfig={"maxUnavailable": 1})
    assert left_open(judge("NODE017", template, unknown(nodes, "scalingConfig"))) == ["scalingConfig"]
    template, nodes = group()
    assert passes(judge("NODE017", template, unknown(nodes, "scalingConfig")))


def test_a_line_of_80_characters_is_shown_whole() -> None:
    line = f"yum update -y {'-q ' * 30}"[:79] + "v"
    assert f"({line})" in complaint(judge("NODE017", *group(script(line))))


def test_long_lines_are_shortened_in_the_message() -> None:
    message = complaint(judge("NODE017", *group(script("yum update -y " + "--exclude=x " * 40))))
    assert "--exclude=x --excl...): the driver" in message


def test_unknown_user_data_is_left_open_and_the_update_judged_all_the_same() -> None:
    template, nodes = group("x", updateConfig={"maxUnavailablePercentage": 100}, scalingConfig={"maxSize": 4})
    report = judge("NODE017", unknown(template, "userData"), nodes)
    assert list(messages(report)) == ["inference"]
    assert [item.path for item in report.not_evaluated] == ["userData"]
    assert left_open(judge("NODE017", unknown(template, "userData"), group()[1])) == ["userData"]


def test_groups_without_user_data_pass_and_cpu_groups_are_not_concerned() -> None:
    assert passes(judge("NODE017", *group(None)))
    assert passes(judge("NODE017", examples.node_group()))
    assert not_concerned(judge("NODE017", *group(script("yum update -y"), instanceTypes=["m5.large"])))
