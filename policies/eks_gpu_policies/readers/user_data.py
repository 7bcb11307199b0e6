"""User data: what a node is told when it boots, in whichever of its forms somebody wrote it.

Launch templates carry it in base64, EC2NodeClasses as text. It is a MIME multipart text, NodeConfig documents, a shell
script, cloud-config or, on Bottlerocket, TOML (awslabs/amazon-eks-ami v20260724 nodeadm/doc; cloud-init, "User data
formats"; aws/karpenter-provider-aws v1.14.1 pkg/providers/amifamily/bootstrap, checked 2026-11-21). Whatever it is,
reading it never fails: a part in a form that nobody knows is kept as lines and said to be unread.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eks_gpu.planning.pool import Pool, PoolKind
from eks_gpu.planning.reading import View
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.launch_templates import used_by

_LONGEST: Final = 2**18
"""Characters that are read. EC2 takes 16 KiB of user data, gzipped or not."""

_GZIP: Final = b"\x1f\x8b"
_NODE_CONFIG: Final = "application/node.eks.aws"
_CLOUD_CONFIG: Final = "text/cloud-config"
_SCRIPTS: Final = ("text/x-shellscript", "text/cloud-boothook")

_MIME: Final = re.compile(r"(?:mime-version|content-type):", re.IGNORECASE)
_HAS_NODE_CONFIG: Final = re.compile(r"^apiVersion:[ \t]*[\"']?node\.eks\.aws/", re.MULTILINE)
_HAS_SETTINGS: Final = re.compile(r"^[ \t]*\[{0,2}[ \t]?[\"']?settings\b", re.MULTILINE)
_RAID_IN_SCRIPT: Final = re.compile(r"strategy:\s{0,8}[\"']?RAID(?:0|10)\b|(?:setup-local-disks|--local-disks)[ =]raid")
"""NodeConfig that a script writes to a file, and what Amazon Linux 2 calls the same."""
_RAIDS: Final = frozenset({"RAID0", "RAID10"})
_CONTAINERD: Final = "containerd"
_BIND: Final = ("apiclient", "ephemeral-storage", "bind")
_NO_SETTINGS: Final = View(None, "", "settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What a node is told, part by part."""

    scripts: tuple[str, ...] = ()
    """Shell scripts, and parts in a form that nobody knows."""
    node_configs: tuple[View, ...] = ()
    """NodeConfig documents, in the order in which nodeadm merges them: the last wins."""
    cloud_configs: tuple[View, ...] = ()
    settings: View = _NO_SETTINGS
    """Bottlerocket's ``settings``."""
    unread: bool = False
    """Whether a part could not be read for what it is, so that something may be said in it that is not seen here."""

    @property
    def lines(self) -> Iterator[str]:
        """The lines of its scripts, comments left out and continued lines joined; commands of cloud-config too."""
        for script in self.scripts:
            yield from _lines(script)
        for config in self.cloud_configs:
            for key in ("bootcmd", "runcmd"):
                yield from map(_command, config[key].items())

    @property
    def raid_holds_images(self) -> bool:
        """Whether the node joins its local disks and puts container images there."""
        return (
            any(_has_raid(config.at("spec", "instance", "localStorage")) for config in self.node_configs)
            or any(_binds(command) for command in _bootstrap_commands(self.settings))
            or any(_RAID_IN_SCRIPT.search(line) for line in self.lines)
        )

    def kubelet_percent(self, setting: str) -> float | None:
        """Return a percentage that the kubelet is told: ``imageGCHighThresholdPercent``; None where nothing is said.

        A flag beats the configuration, as it does for the kubelet.
        """
        flag, bottlerocket = _SPELLINGS[setting]
        said = [config.at("spec", "kubelet", "config", setting).number() for config in self.node_configs]
        said.append(self.settings.at("kubernetes", bottlerocket).number())
        pattern = _assignment(setting, flag, bottlerocket)
        said.extend(float(found) for line in self.lines for found in pattern.findall(line))
        for config in self.node_configs:
            flags = config.at("spec", "kubelet", "flags").texts()
            said.extend(float(found) for text in flags for found in pattern.findall(text))
        return next((value for value in reversed(said) if value is not None), None)


HIGH: Final = "imageGCHighThresholdPercent"
LOW: Final = "imageGCLowThresholdPercent"
BOTTLEROCKETS: Final = ("image-gc-high-threshold-percent", "image-gc-low-threshold-percent")
"""How Bottlerocket spells the two."""
_SPELLINGS: Final = {
    HIGH: ("image-gc-high-threshold", BOTTLEROCKETS[0]),
    LOW: ("image-gc-low-threshold", BOTTLEROCKETS[1]),
}


@lru_cache(maxsize=8)
def _assignment(*names: str) -> re.Pattern[str]:
    spelled = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(rf"(?:{spelled})[\"'\\]{{0,4}}\s{{0,4}}[=: ]\s{{0,4}}[\"'\\]{{0,4}}(\d{{1,3}})")


def user_data_of(pool: Pool, program: Program) -> UserData:
    """Return the user data of a pool's nodes; raise ``NotKnownError`` when it is not known."""
    template = used_by(pool, program)
    if pool.kind is PoolKind.NODE_POOL:
        return read_user_data(template.at("spec", "userData"))
    return of_group(program.by_urn[pool.urn].view, template)


def of_group(group: View, template: View) -> UserData:
    """Return what the nodes of a group are told: by its launch template, and by the group where it is a component."""
    return _joined((read_user_data(template["userData"]), _of_component(group)))


def _of_component(view: View) -> UserData:
    """Return what the component ``eks.ManagedNodeGroup`` is given in the place of a template's user data."""
    options = (
        _part(option["contentType"].text() or "", option["content"].text() or "")
        for option in view["nodeadmExtraOptions"].items()
    )
    extra = (view[key].text() for key in ("kubeletExtraArgs", "bootstrapExtraArgs"))
    more = UserData(
        scripts=tuple(text for text in extra if text is not None), settings=view["bottlerocketSettings"]["settings"]
    )
    return _joined((read_user_data(view["userData"]), *options, more))


def read_user_data(place: View) -> UserData:
    """Read user data, plain or in base64; raise ``NotKnownError`` when it is not known."""
    text = place.text()
    return UserData() if text is None else parse(text)


@lru_cache(maxsize=256)
def parse(text: str) -> UserData:
    """Read user data, plain or in base64. Many pools share one text, so it is read once."""
    plain = decoded(text)
    return _part("", plain[:_LONGEST]) if plain is not None else UserData(unread=True)


def decoded(text: str) -> str | None:
    """Return user data as text; None for bytes that are no text."""
    try:
        data = base64.b64decode(text.strip().replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return text
    try:
        if data.startswith(_GZIP):
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _LONGEST)
        return data.decode()
    except (zlib.error, UnicodeDecodeError):
        return text if not data.startswith(_GZIP) else None


def _part(kind: str, text: str) -> UserData:
    """Read one part by its content type, else by its first words, as cloud-init, nodeadm and Karpenter do."""
    kind, text = kind.strip().lower(), text.lstrip("\ufeff\r\n")
    if kind == _NODE_CONFIG:
        return _node_configs(text)
    if kind.startswith(_SCRIPTS) or text.startswith(("#!", "#cloud-boothook")):
        return UserData(scripts=(text,))
    if kind == _CLOUD_CONFIG or text.startswith("#cloud-config"):
        return _cloud_config(text)
    return _guessed(text)


def _guessed(text: str) -> UserData:
    if not text.strip():
        return UserData()
    if _MIME.match(text):
        return _multipart(text)
    if _HAS_NODE_CONFIG.search(text):
        return _node_configs(text)
    if _HAS_SETTINGS.search(text):
        return _toml(text)
    return UserData(scripts=(text,), unread=True)


def _multipart(text: str) -> UserData:
    # Only what brings MIME pays for the parser.
    import email  # noqa: PLC0415

    message = email.message_from_bytes(text.encode(errors="replace"))
    if not message.is_multipart() and message.get_content_maintype() == "multipart":
        return UserData(scripts=(text,), unread=True)
    return _joined(
        _part(part.get_content_type() if part["Content-Type"] else "", _payload(part.get_payload(decode=True)))
        for part in message.walk()
        if not part.is_multipart()
    )


def _payload(payload: object) -> str:
    return payload.decode(errors="replace") if isinstance(payload, bytes) else ""


def _node_configs(text: str) -> UserData:
    documents = _yaml(text)
    if documents is None:
        return UserData(scripts=(text,), unread=True)
    return UserData(node_configs=tuple(View(document, "", "NodeConfig") for document in documents))


def _cloud_config(text: str) -> UserData:
    documents = _yaml(text)
    if documents is None:
        return UserData(scripts=(text,), unread=True)
    return UserData(cloud_configs=tuple(View(document, "", "cloud-config") for document in documents))


def _yaml(text: str) -> tuple[object, ...] | None:
    """Return the documents of a YAML text; None when it is none."""
    # Only who brings YAML pays for the parser.
    import yaml  # noqa: PLC0415

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return tuple(document for document in yaml.load_all(text, loader) if document is not None)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _toml(text: str) -> UserData:
    import tomllib  # noqa: PLC0415 - as above

    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return UserData(scripts=(text,), unread=True)
    return UserData(settings=View(data.get("settings"), "", "settings"))


def _joined(parts: Iterator[UserData] | tuple[UserData, ...]) -> UserData:
    known = tuple(parts)
    return UserData(
        scripts=tuple(script for part in known for script in part.scripts),
        node_configs=tuple(config for part in known for config in part.node_configs),
        cloud_configs=tuple(config for part in known for config in part.cloud_configs),
        settings=next((part.settings for part in known if part.settings.exists), _NO_SETTINGS),
        unread=any(part.unread for part in known),
    )


def _lines(script: str) -> Iterator[str]:
    for line in script.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield stripped


def _command(place: View) -> str:
    """Return a command of cloud-config, which is a text or a list of words."""
    return place.text() or " ".join(place.texts())


def _has_raid(storage: View) -> bool:
    off = {name.lower() for name in storage["disabledMounts"].texts()}
    return (storage["strategy"].text() or "").upper() in _RAIDS and _CONTAINERD not in off


def _bootstrap_commands(settings: View) -> Iterator[tuple[str, ...]]:
    for _, entry in settings["bootstrap-commands"].entries():
        for command in entry["commands"].items():
            yield command.texts()


def _binds(command: tuple[str, ...]) -> bool:
    """Return whether a command of Bottlerocket's API puts images on the local disks: all directories, or theirs."""
    if command[: len(_BIND)] != _BIND:
        return False
    return len(command) == len(_BIND) or any(_CONTAINERD in word for word in command[len(_BIND) :])
