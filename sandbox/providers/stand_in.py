"""What a stand-in provider must be able to do; `base` joins it to the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Final

from sandbox.providers.changes import Change, changes
from sandbox.providers.components import Member
from sandbox.providers.naming import NameRequest
from sandbox.providers.schema import Failure
from sandbox.providers.sdk import Sdk
from sandbox.providers.wire import Properties

VERSION_VARIABLE: Final = "EKS_GPU_SANDBOX_PLUGIN_VERSION"
"""The version that the program's SDK asks for, set by the plugin's executable (`sandbox.plugins`)."""
ENGINE_CHECK_SECONDS: Final = 2.0
"""How often a stand-in looks whether its engine is there; it outlives a killed one for as long at most."""


class StandInError(Exception):
    """A refusal that the engine shows to the user as it is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check: the inputs with names filled in, and what is wrong with them."""

    inputs: Properties
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Difference:
    """The outcome of a diff: the changes, and whether a replacement has to delete first."""

    changes: list[Change] = field(default_factory=list)
    delete_before_replace: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """A resource as it exists: its id, its outputs, and the inputs that a read found (None: leave them)."""

    id: str
    state: Properties
    inputs: Properties | None = None


class StandIn(ABC):
    """A provider without its cloud. Methods run on several threads at once."""

    package: str
    """The provider's name, such as `aws`."""
    sdk: Sdk
    builds_components: bool = False
    """Whether it builds components. The engine demands of such a provider that it takes secrets."""
    config_replaces: frozenset[str] = frozenset()
    """The settings of the provider whose change replaces everything made with it."""

    def configure(self, config: Properties) -> None:
        """Take the provider's settings; called once, before anything but a check of the settings."""
        del config

    def check_config(self, config: Properties) -> Checked:
        """Judge the provider's settings by default: everything is taken."""
        return Checked(config)

    @abstractmethod
    def check(self, token: str, old: Properties, new: Properties, name: NameRequest) -> Checked:
        """Judge the inputs `new` of a resource and fill in its physical name; `old` is empty for a new resource."""

    @abstractmethod
    def replaces(self, token: str) -> tuple[str, ...]:
        """Name the properties of a type that cannot be changed in place."""

    def diff(self, token: str, state: Properties, old: Properties, new: Properties) -> Difference:
        """Return what changes from the inputs `old` to `new`, given the outputs `state` of the resource."""
        del state
        found = changes(old, new, self.replaces(token))
        return Difference(found, self.deletes_first(token, old, new))

    def deletes_first(self, token: str, old: Properties, new: Properties) -> bool:
        """Tell whether old and new cannot stand side by side; by default they can."""
        del token, old, new
        return False

    @abstractmethod
    def preview_create(self, token: str, inputs: Properties) -> Properties:
        """Return the outputs that a create would have, unknown where only the cloud knows them."""

    @abstractmethod
    def create(self, token: str, inputs: Properties) -> Stored:
        """Make the resource."""

    @abstractmethod
    def preview_update(self, token: str, state: Properties, old: Properties, new: Properties) -> Properties:
        """Return the outputs that an update would have."""

    @abstractmethod
    def update(self, token: str, existing: Stored, old: Properties, new: Properties) -> Properties:
        """Change the resource in place and return its outputs."""

    @abstractmethod
    def read(self, token: str, existing: Stored) -> Stored | None:
        """Return the resource as it is now, or None if it is gone."""

    @abstractmethod
    def delete(self, token: str, existing: Stored) -> None:
        """Remove the resource; one that is gone already is no error."""

    def members(self, token: str, name: str, inputs: Properties) -> list[Member]:
        """Return the members of the component `token`; one that is not built here is refused by name."""
        del name, inputs
        raise StandInError(f'the stand-in provider {self.package} has no component "{token}"')

    def invoke(self, token: str, arguments: Properties) -> Properties:
        """Answer a provider function."""
        del arguments
        raise StandInError(f'the stand-in provider {self.package} has no function "{token}"')
