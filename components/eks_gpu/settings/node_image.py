"""The ``image`` of a group or pool: which operating system its nodes boot, and what it is told beside the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from eks_gpu.facts import ami
from eks_gpu.facts.ami import AmiFamily
from eks_gpu.facts.instances import InstanceType
from eks_gpu.settings.block import Block

LARGEST_EXTRA_FILES: Final = 8192
"""Characters that all extra files together may have. EC2 takes 16 KiB of user data (EC2 user guide, "Run commands when
you launch an EC2 instance", checked 2026-11-21), and EKS or Karpenter adds its own part."""

END_OF_FILE: Final = "END-OF-EXTRA-FILE"
"""The line that ends an extra file within user data."""

ALWAYS_DIRECT: Final = (
    "localhost",
    "127.0.0.1",
    "169.254.169.254",
    "169.254.170.23",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "172.16.0.0/12",
    "192.168.0.0/16",
    ".internal",
    ".svc",
    ".cluster.local",
    ".eks.amazonaws.com",
)
"""What never goes through a proxy: the instance's metadata and EKS Pod Identity (169.254.170.23), the private ranges
that VPCs, services and pods have addresses of, names within VPC and cluster, and the cluster's API server."""

MIME_BOUNDARY: Final = "GPU-NODE"
"""The line, after two hyphens, that parts user data."""

_KARPENTERS_BOUNDARY: Final = "//"
"""The same in what Karpenter makes of it (Karpenter 1.14.1, pkg/providers/amifamily/bootstrap/mime, checked
2026-11-21)."""

_ENDINGS: Final = (END_OF_FILE, f"--{MIME_BOUNDARY}", f"--{_KARPENTERS_BOUNDARY}")

_REGISTRY: Final = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$"
_ENDPOINT: Final = r"^https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._/-]*)?$"
_PROXY_URL: Final = r"^https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/?$"
_OTHERS_FILES: Final = ("/etc/eks/nodeadm.d/", "/etc/kubernetes/")
"""Where files would win over what the settings say of kubelet and node."""

_TEXT: Final = re.compile(r"[\t\n -~]*")
"""Printable ASCII: what a script in user data carries unchanged."""

ProxyUrl = Annotated[str, Field(pattern=_PROXY_URL)]
"""``http://proxy.example.com:3128``, without user and password: whoever may see a launch template can read them."""


class Family(StrEnum):
    """Operating system of the nodes. Both come from EKS with NVIDIA's driver and container toolkit."""

    AL2023 = "al2023"
    BOTTLEROCKET = "bottlerocket"


_RELEASES: Final = {
    Family.AL2023: re.compile(r"(?P<kubernetes>1\.\d+)\.\d+-(?P<version>20\d{6})"),
    Family.BOTTLEROCKET: re.compile(r"(?P<version>1\.\d+\.\d+)-[0-9a-f]{8}"),
}
"""How EKS node groups name releases (CreateNodegroup in the EKS API reference, checked 2026-11-21). What Karpenter
calls a version is a part of it."""

_EXAMPLES: Final = {Family.AL2023: "1.35.7-20260903", Family.BOTTLEROCKET: "1.66.0-0a1b2c3d"}


class RegistryMirror(Block):
    """A registry that is reached by other addresses first."""

    registry: Annotated[str, Field(pattern=_REGISTRY)]
    """The registry as images name it: ``docker.io``, ``nvcr.io``."""

    endpoints: tuple[Annotated[str, Field(pattern=_ENDPOINT)], ...] = Field(min_length=1)
    """Addresses to ask instead, in order; the registry itself comes last. With a path, as pull-through caches have, it
    is used as it is: ``https://mirror.example.com/v2/docker-hub``."""


class ExtraFile(Block):
    """A file that is on the node before containerd and kubelet start."""

    path: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._@+-]+)+$")]
    """Where it goes, from ``/`` on."""

    content: Annotated[str, Field(min_length=1, max_length=LARGEST_EXTRA_FILES)]
    """What is in it: plain ASCII text. No secrets: whoever may see a launch template can read it."""

    mode: Annotated[str, Field(pattern=r"^0[0-7]{3}$")] = "0644"
    """Permissions in octal, in quotes."""

    @model_validator(mode="after")
    def _fits_into_user_data(self) -> Self:
        if ".." in self.path.split("/"):
            raise ValueError(f"path {self.path} goes upwards; write where the file is to be")
        if self.path.startswith(_OTHERS_FILES):
            raise ValueError(
                f"path {self.path} is where files win over all that the settings say of kubelet; use "
                "kubelet_reserved, proxy and registry_mirrors, or another folder"
            )
        if _TEXT.fullmatch(self.content) is None:
            raise ValueError("content is not plain ASCII text; put anything else into a container image")
        ending = [line for line in self.content.splitlines() if line.startswith(_ENDINGS)]
        if ending:
            raise ValueError(f"content has the line {ending[0]}, which ends the file within user data; change it")
        return self


class Proxy(Block):
    """The way of the nodes' own programs, containerd and kubelet among them, to the internet. Pods have their own."""

    http: ProxyUrl | None = None
    """Proxy for ``http://``. Bottlerocket has none."""

    https: ProxyUrl | None = None
    """Proxy for ``https://``, by which images are pulled. Its own address usually begins with ``http://``."""

    no_proxy: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9.:/*-]+$")], ...] = ()
    """Hosts, ``.domains`` and CIDRs to reach directly, beside what EKS needs: metadata and Pod Identity, private
    addresses, the cluster's names and its API server. Add VPC endpoints whose names resolve to public addresses."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.http is None and self.https is None:
            raise ValueError("no proxy is given; give https: http://proxy.example.com:3128, or remove the block")
        return self

    @property
    def direct(self) -> tuple[str, ...]:
        """All that is reached directly, each once."""
        return tuple(dict.fromkeys((*ALWAYS_DIRECT, *self.no_proxy)))


class KubeletReserved(Block):
    """What is kept from pods for kubelet and containerd. What is left out keeps EKS's own figure.

    Pods have that much less, or more: Karpenter is told and computes with it, and so does EKS's own kubelet.
    """

    cpu_millicores: int | None = Field(default=None, ge=50)
    """CPU in thousandths of a core. EKS: 60 for the first core, 10 for the second, 5 for each of the next two, 2.5 for
    each further one; more helps where image pulls starve kubelet."""

    memory_mib: int | None = Field(default=None, ge=255)
    """Memory in MiB. EKS: 255 and 11 for each pod that the node has addresses for, which is 8 GiB on a p4d.24xlarge
    that never runs 737 pods; less gives the rest to the workload."""

    ephemeral_storage_gib: int | None = Field(default=None, ge=1)
    """Disk in GiB. EKS: 1."""

    def refuse_no_room(self, types: Iterable[InstanceType]) -> None:
        """Raise ``ValueError`` where a type would have next to nothing left for pods."""
        for kind in types:
            if (self.cpu_millicores or 0) > kind.vcpu * 500:
                raise ValueError(
                    f"cpu_millicores {self.cpu_millicores} is more than half of the {kind.vcpu} cores of {kind.name}; "
                    f"give at most {kind.vcpu * 500}"
                )
            if (self.memory_mib or 0) > kind.memory_mib // 2:
                raise ValueError(
                    f"memory_mib {self.memory_mib} is more than half of the {kind.memory_mib} MiB of {kind.name}; give "
                    f"at most {kind.memory_mib // 2}"
                )


class NodeImage(Block):
    """Which operating system nodes boot, at a release that we pin, and what it is told beside the defaults."""

    family: Family = Family.AL2023
    """``al2023`` takes everything below and is what NVIDIA's software is tried on most; ``bottlerocket`` has no shell
    and no package manager, boots faster, and takes no files of yours."""

    release: str | None = None
    """Another release than the one that the library pins, as EKS node groups name it: ``1.35.7-20260903`` for AL2023,
    ``1.66.0-0a1b2c3d`` for Bottlerocket. To try one pool on it before all follow."""

    registry_mirrors: tuple[RegistryMirror, ...] = ()
    """Registries to reach by other addresses: mirrors, pull-through caches, air-gapped copies."""

    extra_files: tuple[ExtraFile, ...] = ()
    """Files to put on each node, such as a certificate authority of yours. Not on Bottlerocket."""

    proxy: Proxy | None = None
    """The nodes' way to the internet, where there is no other."""

    kubelet_reserved: KubeletReserved = KubeletReserved()
    """What is kept from pods for kubelet and containerd; EKS's own figures when left out."""

    @model_validator(mode="after")
    def _the_family_can(self) -> Self:
        self._nothing_twice()
        if self.release is not None and _RELEASES[self.family].fullmatch(self.release) is None:
            raise ValueError(
                f"release {self.release} is no release of {self.family}; write it as EKS node groups do, such as "
                f"{_EXAMPLES[self.family]}"
            )
        if sum(len(file.content) for file in self.extra_files) > LARGEST_EXTRA_FILES:
            raise ValueError(
                f"extra_files have more than {LARGEST_EXTRA_FILES} characters together, and user data holds 16 KiB; "
                "put large files into a container image"
            )
        if self.family is Family.BOTTLEROCKET:
            self._bottlerocket_can()
        return self

    def _nothing_twice(self) -> None:
        for setting, names in (
            ("extra_files", [file.path for file in self.extra_files]),
            ("registry_mirrors", [mirror.registry for mirror in self.registry_mirrors]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{setting} has {', '.join(twice)} more than once; give each once")

    def _bottlerocket_can(self) -> None:
        if self.extra_files:
            raise ValueError(
                "extra_files cannot be put on Bottlerocket, whose root is read-only and which runs no script of "
                "anybody's; use family: al2023, or mount the files into the pods that need them"
            )
        if self.proxy is not None and self.proxy.http is not None:
            raise ValueError(
                "Bottlerocket has no proxy for http://; remove http, and give https, by which images are pulled"
            )

    @property
    def ami_family(self) -> AmiFamily:
        """The family, as facts know it."""
        return AmiFamily.BOTTLEROCKET if self.family is Family.BOTTLEROCKET else AmiFamily.AL2023

    @property
    def kubernetes_version(self) -> str | None:
        """The Kubernetes version that the release of the settings is for; ``None`` where it says none."""
        found = None if self.release is None else _RELEASES[self.family].fullmatch(self.release)
        return None if found is None else found.groupdict().get("kubernetes")

    @property
    def alias(self) -> str:
        """The image as an EC2NodeClass names it, always at one release: ``al2023@v20260724``."""
        found = None if self.release is None else _RELEASES[self.family].fullmatch(self.release)
        version = ami.release(self.ami_family) if found is None else f"v{found['version']}"
        return ami.alias(self.ami_family, version)

    def release_version(self, kubernetes: str) -> str:
        """Return the release as an EKS node group names it, for a cluster of a version that has one."""
        return self.release or ami.release_versions(self.ami_family)[kubernetes]
