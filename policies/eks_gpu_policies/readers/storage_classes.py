"""Which StorageClasses a program brings, and which of them is the default."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from eks_gpu.facts import storage, versions
from eks_gpu.planning.reading import NotKnown, View, attempt, need
from eks_gpu_policies import charts, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

_DRIVERS: Final = frozenset(item.name for add_on in (versions.EBS_CSI, versions.EFS_CSI) for item in add_on.values())
"""Charts and add-ons of CSI drivers, which have the same names."""

_DEFAULT_ANNOTATIONS: Final = (storage.DEFAULT_CLASS_ANNOTATION, storage.BETA_DEFAULT_CLASS_ANNOTATION)


class StorageClasses:
    """The classes of a program. Everything is looked up once."""

    def __init__(self, program: Program) -> None:
        """Hold the program."""
        self._program = program

    @property
    def default(self) -> Resource | str | None:
        """The class of claims that name none: a resource, or the name of one that a driver brings; None without.

        Raises ``NotKnownError`` where it is not known of a class whether it is the default.
        """
        return need(self._default)

    @cached_property
    def _default(self) -> Resource | str | NotKnown | None:
        return attempt(self._find_default)

    def _find_default(self) -> Resource | str | None:
        for item in self._program.of_type(tokens.STORAGE_CLASS):
            if _is_default(item.view["metadata"]):
                return item
        return next((name for name, default in self.brought.items() if default), None)

    @property
    def brought(self) -> Mapping[str, bool]:
        """Classes that CSI drivers bring, by the settings of their charts and add-ons: name, and whether default."""
        return need(self._brought)

    @cached_property
    def _brought(self) -> Mapping[str, bool] | NotKnown:
        return attempt(lambda: dict(self._find_brought()))

    def _find_brought(self) -> Iterator[tuple[str, bool]]:
        for cluster in self._program.of_type(tokens.CLUSTER_COMPONENT):
            yield from _of_component(cluster.view["storageClasses"])
        for release in charts.releases(self._program, *_DRIVERS):
            yield from _of_driver(charts.values(release))
        for add_on in self._program.of_type(*sorted(tokens.ADD_ONS)):
            name = attempt(add_on.view["addonName"].text)
            if name in _DRIVERS:
                yield from _of_driver(_configuration(add_on.view["configurationValues"]))


def _is_default(metadata: View) -> bool:
    return any(metadata["annotations"][key].text() == "true" for key in _DEFAULT_ANNOTATIONS)


def _of_component(place: View) -> Iterator[tuple[str, bool]]:
    """Yield the classes that ``eks.Cluster`` makes: one volume type, which is the default, or several by name."""
    name = place.text()
    if name is not None:
        yield name, True
    for called, settings in place.entries():
        yield called, settings["default"].boolean() is True


def _of_driver(values: View) -> Iterator[tuple[str, bool]]:
    for item in values["storageClasses"].items():
        called = item["name"].text()
        if called is not None:
            yield called, _is_default(item)
    if values.at("defaultStorageClass", "enabled").boolean():
        yield storage.EBS_DRIVER_CLASS, True


def _configuration(place: View) -> View:
    """Return an add-on's configuration, which is a text of JSON, or a mapping in the component's spelling."""
    text = place.text()
    if text is None:
        return place
    try:
        return View(json.loads(text), place.source, place.path)
    except ValueError:
        return View(None, place.source, place.path)
