from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from eks_gpu.facts.ami import AmiFamily
from eks_gpu.settings import stack_file
from eks_gpu.settings.node_group import NodeGroup
from eks_gpu.settings.node_image import LARGEST_EXTRA_FILES, Family, NodeImage, Proxy
from eks_gpu.settings.problems import InvalidSettingsError

FILE = {"path": "/etc/example.conf", "content": "a\n"}


def _refusal(**image: Any) -> str:  # noqa: ANN401 - settings as YAML has them
    with pytest.raises(ValidationError) as error:
        NodeImage.model_validate(image)
    return str(error.value.errors()[0]["msg"])


def test_nodes_boot_al2023_unless_told_otherwise() -> None:
    assert NodeImage().ami_family is AmiFamily.AL2023
    assert NodeImage.model_validate({"family": "bottlerocket"}).ami_family is AmiFamily.BOTTLEROCKET


def test_n07_every_image_is_pinned_to_a_release_of_ours() -> None:
    bottlerocket = NodeImage(family=Family.BOTTLEROCKET)

    assert (NodeImage().alias, NodeImage().release_version("1.35")) == ("al2023@v20260724", "1.35.6-20260724")
    assert (bottlerocket.alias, bottlerocket.release_version("1.35")) == ("bottlerocket@v1.65.0", "1.65.0-0be31b34")


def test_n07_a_pool_may_try_another_release_before_all_follow() -> None:
    al2023 = NodeImage(release="1.35.7-20260903")
    bottlerocket = NodeImage(family=Family.BOTTLEROCKET, release="1.66.0-0a1b2c3d")

    assert (al2023.alias, al2023.release_version("1.35")) == ("al2023@v20260903", "1.35.7-20260903")
    assert (bottlerocket.alias, bottlerocket.release_version("1.35")) == ("bottlerocket@v1.66.0", "1.66.0-0a1b2c3d")
    assert (al2023.kubernetes_version, bottlerocket.kubernetes_version) == ("1.35", None)


@pytest.mark.parametrize("release", ["latest", "v20260903", "1.66.0-0a1b2c3d", "@latest", ""])
def test_n07_a_release_that_is_none_is_refused_with_how_to_write_one(release: str) -> None:
    assert _refusal(release=release) == (
        f"Value error, release {release} is no release of al2023; write it as EKS node groups do, such as "
        "1.35.7-20260903"
    )


def test_files_on_bottlerocket_are_refused_with_what_works_instead() -> None:
    assert _refusal(family="bottlerocket", extra_files=[FILE]) == (
        "Value error, extra_files cannot be put on Bottlerocket, whose root is read-only and which runs no script of "
        "anybody's; use family: al2023, or mount the files into the pods that need them"
    )


def test_a_proxy_for_http_on_bottlerocket_is_refused_with_what_works_instead() -> None:
    proxy = {"http": "http://proxy.example.com:3128", "https": "http://proxy.example.com:3128"}

    assert _refusal(family="bottlerocket", proxy=proxy) == (
        "Value error, Bottlerocket has no proxy for http://; remove http, and give https, by which images are pulled"
    )
    assert NodeImage.model_validate({"proxy": proxy}).proxy == Proxy.model_validate(proxy)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ({"extra_files": [FILE, FILE]}, "extra_files has /etc/example.conf more than once"),
        (
            {"registry_mirrors": [{"registry": "docker.io", "endpoints": ["https://a.example"]}] * 2},
            "registry_mirrors has docker.io more than once",
        ),
        ({"extra_files": [{**FILE, "path": "/etc/../root/x"}]}, "goes upwards"),
        ({"extra_files": [{**FILE, "path": "etc/x"}]}, "should match pattern"),
        ({"extra_files": [{**FILE, "path": "/etc/eks/nodeadm.d/x.yaml"}]}, "files win over all that the settings say"),
        ({"extra_files": [{**FILE, "path": "/etc/kubernetes/kubelet/config.json"}]}, "use kubelet_reserved, proxy"),
        ({"extra_files": [{**FILE, "content": "schön"}]}, "is not plain ASCII text"),
        ({"extra_files": [{**FILE, "content": "a\nEND-OF-EXTRA-FILE\nrm -rf /"}]}, "has the line END-OF-EXTRA-FILE"),
        ({"extra_files": [{**FILE, "content": "a\n--GPU-NODE\nb"}]}, "has the line --GPU-NODE"),
        ({"extra_files": [{**FILE, "content": "a\n--//\nb"}]}, "has the line --//"),
        ({"extra_files": [{**FILE, "mode": "644"}]}, "should match pattern"),
        ({"extra_files": [{**FILE, "mode": 420}]}, "should be a valid string"),
        (
            {"extra_files": [{"path": f"/etc/{n}", "content": "x" * LARGEST_EXTRA_FILES} for n in "ab"]},
            "more than 8192 characters together",
        ),
        ({"registry_mirrors": [{"registry": "https://docker.io", "endpoints": ["https://a"]}]}, "should match pattern"),
        ({"registry_mirrors": [{"registry": "docker.io", "endpoints": []}]}, "at least 1 item"),
        ({"registry_mirrors": [{"registry": "docker.io", "endpoints": ["mirror.example"]}]}, "should match pattern"),
        ({"proxy": {}}, "no proxy is given; give https: http://proxy.example.com:3128"),
        ({"proxy": {"https": "http://user:secret@proxy.example.com:3128"}}, "should match pattern"),
        ({"proxy": {"https": "http://proxy.example.com:3128", "no_proxy": ["a,b"]}}, "should match pattern"),
        ({"kubelet_reserved": {"cpu_millicores": 10}}, "greater than or equal to 50"),
        ({"family": "al2"}, "Input should be 'al2023' or 'bottlerocket'"),
    ],
)
def test_what_no_node_could_be_told_is_refused(image: dict[str, Any], message: str) -> None:
    assert message in _refusal(**image)


@pytest.mark.parametrize("setting", ["path", "content"])
def test_a_file_needs_both_place_and_content(setting: str) -> None:
    assert _refusal(extra_files=[{key: value for key, value in FILE.items() if key != setting}]) == "Field required"


@pytest.mark.parametrize(
    "image",
    [
        "{proxy: {https: 'http://user:hunter2@proxy.example.com:3128'}}",
        "{registry_mirrors: [{registry: docker.io, endpoints: ['https://user:hunter2@mirror.example.com']}]}",
        f"{{extra_files: [{{path: /etc/x, content: '{'hunter2' * 2000}'}}]}}",
    ],
)
def test_what_may_hold_a_password_is_not_repeated_in_the_refusal(
    good: str, write: Callable[[str], Path], image: str
) -> None:
    with pytest.raises(InvalidSettingsError) as refusal:
        stack_file.load(write(good.replace("        count: 2\n", f"        count: 2\n        image: {image}\n", 1)))

    assert "node_groups.inference.image" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_what_is_reached_directly_is_named_once_and_eks_first() -> None:
    proxy = Proxy.model_validate({"https": "http://p.example:3128", "no_proxy": ["localhost", ".example.com"]})

    assert proxy.direct.count("localhost") == 1
    assert proxy.direct[-1] == ".example.com"


@pytest.mark.parametrize(
    ("reserved", "message"),
    [
        (
            {"cpu_millicores": 5000},
            "cpu_millicores 5000 is more than half of the 8 cores of g5.2xlarge; give at most 4000",
        ),
        (
            {"memory_mib": 20000},
            "memory_mib 20000 is more than half of the 32768 MiB of g5.2xlarge; give at most 16384",
        ),
    ],
)
def test_n03_a_reservation_that_leaves_pods_next_to_nothing_is_refused(reserved: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        NodeGroup.model_validate(
            {"instance_types": ["g5.2xlarge"], "count": 1, "image": {"kubelet_reserved": reserved}}
        )
