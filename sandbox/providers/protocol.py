"""The messages of Pulumi's plugin protocol, without the rest of the SDK.

`import pulumi` takes more than half of a plugin's start (0.3 of 0.55 seconds on a busy machine), and a stand-in needs
nothing of it but these generated messages. They are loaded from the SDK's own files, as a package of their own name; a
process that has imported `pulumi` already shares that one's.
"""

from __future__ import annotations

import sys
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pulumi.runtime.proto import plugin_pb2, provider_pb2, resource_pb2

_ALIAS: Final = "pulumi_protocol"


def _package() -> str:
    if "pulumi" in sys.modules:
        return "pulumi.runtime.proto"
    if _ALIAS not in sys.modules:
        spec = util.find_spec("pulumi")
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError("pulumi is not installed", name="pulumi")
        package = ModuleType(_ALIAS)
        package.__path__ = [str(Path(spec.origin).parent / "runtime" / "proto")]
        sys.modules[_ALIAS] = package
    return _ALIAS


if not TYPE_CHECKING:
    plugin_pb2 = import_module(f"{_package()}.plugin_pb2")
    provider_pb2 = import_module(f"{_package()}.provider_pb2")
    resource_pb2 = import_module(f"{_package()}.resource_pb2")

__all__ = ["plugin_pb2", "provider_pb2", "resource_pb2"]
