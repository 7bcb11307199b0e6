"""NODE017: nodes change only by replacement.

Refreshing the package index (``apt-get update``) changes nothing and passes, as does upgrading one named package that
is neither the kernel nor everything. A group of one node cannot be updated by less than all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.pool import Pool
from eks_gpu.planning.reading import View, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.user_data import user_data_of
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Severity, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import GPU_NODE_MAKERS

_COMMAND: Final = re.compile(
    r"(?:^|[;&|(\s/\"'`])(dnf|yum|microdnf|apt|apt-get|aptitude|zypper|amazon-linux-extras)\s+([^;&|]*)"
)
_UPGRADES: Final = frozenset(
    {"upgrade", "update", "upgrade-minimal", "update-minimal", "dist-upgrade", "full-upgrade", "distro-sync", "patch"}
)
_INDEX_ONLY: Final = frozenset({("update", "apt"), ("update", "apt-get"), ("update", "aptitude")})
"""What fetches the list of packages and installs none."""
_KERNEL: Final = re.compile(r"kernel(?:[\d.*-]\S*)?|linux-(?:image|generic|aws)\S*")
_DRIVER: Final = re.compile(r"(?:kmod-)?nvidia\S*|cuda-drivers\S*")
_KERNEL_PARTS: Final = re.compile(r"kernel[\d.]*-(?:devel|headers|modules-extra|tools)\S*")
"""What is built against a kernel, beside it."""
_QUOTED: Final = re.compile(r"([\"'])([^\"']*)\1")
_REST: Final = re.compile(r"\s(?:\d?[<>]|#)|[)\"'`]")
"""Where a command's words end: at a redirection, a comment or a closing quote."""
_VALUED: Final = frozenset(
    {
        *("-c", "-o", "-t", "-x", "--default-release", "--disablerepo", "--enablerepo", "--exclude", "--option"),
        *("--releasever", "--repo", "--repoid", "--setopt", "--target-release"),
    }
)
"""Options whose value may be the next word."""
_AUTOMATIC: Final = re.compile(r"\b(?:unattended-upgrades?|dnf-automatic|yum-cron)\b")
_AGAINST: Final = re.compile(r"\b(?:remove|purge|autoremove|erase|disable|stop|mask)\b")
_MIG: Final = re.compile(
    r"\bnvidia-smi\b[^;&|]*?\s(?:mig\s[^;&|]*-(?:cgi|cci|dgi|dci)|-mig[\s=]+\S|--multi-instance-gpu)"
)
_LONGEST_LINE: Final = 4096
_SHOWN: Final = 80

_BY_IMAGE: Final = (
    "pin a newer image that was tested (releaseVersion, or a dated alias) and let its nodes replace the old ones"
)
_BY_LABEL: Final = (
    "name the layout in the pool's label nvidia.com/mig.config and let the MIG manager make it, at every boot, as the "
    "MIG settings of GpuNodeGroup and GpuOperator do"
)
_BY_PARTS: Final = "lower maxUnavailable or maxUnavailablePercentage, so that the group is updated in parts"


def _check(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    yield from clauses(_user_data(pool, stack), _update(pool, stack.by_urn[pool.urn].view["updateConfig"]))


def _user_data(pool: Pool, stack: Stack) -> Iterator[Outcome]:
    told = user_data_of(pool, stack)
    for line in told.lines:
        yield from _line(line[:_LONGEST_LINE])
    for config in told.cloud_configs:
        yield from _cloud_config(config)


def _cloud_config(config: View) -> Iterator[Outcome]:
    for key in ("package_upgrade", "apt_upgrade"):
        if config[key].boolean():
            yield Problem(f"upgrades every package at boot ({key}: true)", fix=_BY_IMAGE)
    for package in config["packages"].texts():
        if _AUTOMATIC.search(package):
            yield Problem(f"has packages upgraded while the node runs (packages: {package})", fix=_BY_IMAGE)
        elif _is_kernel(package):
            yield Problem(f"installs another kernel at boot (packages: {package}){_BUILT_FOR}", fix=_BY_IMAGE)


def _line(line: str) -> Iterator[Outcome]:
    shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
    if _MIG.search(line):
        yield Problem(f"partitions GPUs by hand at boot ({shown}); no restart of the node repeats it", fix=_BY_LABEL)
    elif any(_upgrades(name, _words(rest)) for name, rest in _COMMAND.findall(line)):
        yield Problem(f"upgrades packages at boot ({shown}){_BUILT_FOR}", fix=_BY_IMAGE)
    elif _AUTOMATIC.search(line) and not _AGAINST.search(line):
        yield Problem(f"has packages upgraded while the node runs ({shown})", fix=_BY_IMAGE)


_BUILT_FOR: Final = ": the driver in the image was built for the kernel and the libraries beside it"


def _words(rest: str) -> tuple[str, ...]:
    """Return the words of a command but its options: what it does, and what to."""
    words = _REST.split(_QUOTED.sub(r"\2", rest))[0].split()
    after = ["", *words]
    return tuple(
        word
        for before, word in zip(after, words, strict=False)
        if before not in _VALUED and not word.startswith("-") and not word.isdigit()
    )


def _is_kernel(package: str) -> bool:
    return _KERNEL.fullmatch(package) is not None and _KERNEL_PARTS.match(package) is None


def _upgrades(manager: str, words: tuple[str, ...]) -> bool:
    """Return whether a command of a package manager upgrades everything, the kernel or the driver."""
    verb, packages = "".join(words[:1]), words[1:]
    if any(map(_is_kernel, packages)):
        return verb in {*_UPGRADES, "install"}
    if not packages:
        return verb in _UPGRADES and (verb, manager) not in _INDEX_ONLY
    return verb in _UPGRADES and any(map(_DRIVER.fullmatch, packages))


def _update(pool: Pool, config: View) -> Iterator[Outcome]:
    """Judge how many nodes an update of a managed group may take at once."""
    if not config.exists:
        return
    percent, nodes = config["maxUnavailablePercentage"].number(), config["maxUnavailable"].number()
    maximum = need(pool.size).maximum
    if maximum == 1:
        return
    if percent is not None and percent >= _ALL:
        yield Problem("lets an update take all of its nodes at once (maxUnavailablePercentage 100)", fix=_BY_PARTS)
    if nodes is not None and maximum is not None and nodes >= maximum:
        yield Problem(
            f"lets an update take all of its nodes at once (maxUnavailable {nodes:g} of at most {maximum})",
            fix=_BY_PARTS,
        )


_ALL: Final = 100

_UPGRADING: Final = "#!/bin/bash\nyum update -y\n"
_CHANGED = examples.launch_template(userData=_UPGRADING)
_SOUND = examples.launch_template(userData="#!/bin/bash\nmkdir -p /var/cache/models\n")

RULE: Final = Rule(
    id="NODE017",
    title="Nodes change only by replacement",
    severity=Severity.HIGH,
    why=(
        "Driver, kernel module, CUDA and fabric manager of a node image were built and tested together. A package "
        "upgrade at boot takes a kernel without its module, on the day a mirror has one and on no node before: new "
        "nodes come without GPUs. A MIG layout made by hand is gone after the next reboot. And an update of a whole "
        "group at once leaves nothing that serves."
    ),
    fix=f"take the command out of the user data; {_BY_IMAGE}",
    lessons=("N07", "G05"),
    looks_at=GPU_NODE_MAKERS,
    check=_check,
    failing=Example((_CHANGED, examples.node_group(_CHANGED))),
    passing=Example((_SOUND, examples.node_group(_SOUND))),
)
