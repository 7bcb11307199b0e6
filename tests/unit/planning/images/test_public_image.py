"""What names and parameters of public images say."""

from __future__ import annotations

import pytest

from eks_gpu.facts.ami import AL2, UBUNTU, AmiFamily
from eks_gpu.planning.images.public_image import PublicImage, public_image


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("amazon-eks-node-al2023-arm64-nvidia-1.34-v20260724", PublicImage(AmiFamily.AL2023, "arm64", nvidia=True)),
        ("amazon-eks-node-al2023-x86_64-standard-1.34-*", PublicImage(AmiFamily.AL2023, "amd64", nvidia=False)),
        (
            "bottlerocket-aws-k8s-1.34-nvidia-x86_64-v1.65.0-0be31b34",
            PublicImage(AmiFamily.BOTTLEROCKET, "amd64", nvidia=True),
        ),
        (
            "bottlerocket-aws-k8s-1.34-aarch64-v1.65.0-0be31b34",
            PublicImage(AmiFamily.BOTTLEROCKET, "arm64", nvidia=False),
        ),
        (
            "/aws/service/bottlerocket/aws-k8s-1.34-nvidia/arm64/1.65.0/image_id",
            PublicImage(AmiFamily.BOTTLEROCKET, "arm64", nvidia=True),
        ),
        ("amazon-eks-gpu-node-1.32-v20251120", PublicImage(AL2, None, nvidia=True)),
        ("amazon-eks-node-1.32-v20251120", PublicImage(AL2, None, nvidia=False)),
        (
            "ubuntu-eks/k8s_1.34/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20260701",
            PublicImage(UBUNTU, "arm64", nvidia=None),
        ),
        ("ubuntu-eks/k8s_1.34/images/*", PublicImage(UBUNTU, None, nvidia=None)),
        ("my-gpu-image-*", None),
        ("", None),
    ],
)
def test_n07_a_public_name_says_family_architecture_and_driver(name: str, image: PublicImage | None) -> None:
    assert public_image(name) == image
