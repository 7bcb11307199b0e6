"""PersistentVolumes that somebody made by hand, by what leads to them besides their names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from eks_gpu.planning.reading import NotKnown, View, attempt
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource


class PersistentVolumes:
    """The PersistentVolumes of a program. Everything is looked up once."""

    def __init__(self, program: Program) -> None:
        """Hold the program."""
        self._volumes = program.of_type(tokens.VOLUME)

    def of_class(self, name: object) -> tuple[Resource, ...]:
        """Return the volumes of a class; those of the empty name have none."""
        return self._by_class.get(name, ())

    @cached_property
    def _by_class(self) -> Mapping[object, tuple[Resource, ...]]:
        found: dict[object, tuple[Resource, ...]] = {}
        for volume in self._volumes:
            name = attempt(volume.view.at("spec", "storageClassName").text)
            if not isinstance(name, NotKnown):
                found[name or ""] = (*found.get(name or "", ()), volume)
        return found

    def kept_for(self, claim: View) -> tuple[Resource, ...]:
        """Return the volumes that name a claim, told by its metadata, as the one they are for."""
        name = attempt(claim["name"].text)
        kept = self._by_claim.get(name, ()) if isinstance(name, str) else ()
        return tuple(volume for volume in kept if _may_be_in(volume.view.at("spec", "claimRef", "namespace"), claim))

    @cached_property
    def _by_claim(self) -> Mapping[str, tuple[Resource, ...]]:
        found: dict[str, tuple[Resource, ...]] = {}
        for volume in self._volumes:
            name = attempt(volume.view.at("spec", "claimRef", "name").text)
            if isinstance(name, str):
                found[name] = (*found.get(name, ()), volume)
        return found


def _may_be_in(namespace: View, claim: View) -> bool:
    """Return whether nothing says that a claim is in another namespace."""
    here, there = attempt(claim["namespace"].text), attempt(namespace.text)
    return not (isinstance(here, str) and isinstance(there, str)) or here == there
