"""PersistentVolumes that somebody made by hand, and the claims they are for."""

from __future__ import annotations

from eks_gpu.planning.reading import View
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.readers.persistent_volumes import PersistentVolumes
from eks_gpu_policies.resource import Resource


def volume(name: str, **spec: object) -> Resource:
    return examples.resource(tokens.VOLUME, name, {"metadata": {"name": name}, "spec": spec})


def names(volumes: tuple[Resource, ...]) -> list[str]:
    return [each.name for each in volumes]


def of(*volumes: Resource) -> PersistentVolumes:
    return PersistentVolumes(Program(volumes))


def test_s01_volumes_are_found_by_their_class_and_those_without_by_the_empty_name() -> None:
    found = of(
        volume("a", storageClassName="x"),
        volume("b"),
        volume("c", storageClassName=""),
        volume("d", storageClassName="x"),
        volume("e", storageClassName=UNKNOWN),
    )
    assert names(found.of_class("x")) == ["a", "d"]
    assert names(found.of_class("")) == ["b", "c"]
    assert found.of_class("y") == ()


def test_s01_volumes_are_found_by_the_claim_that_they_are_kept_for() -> None:
    found = of(
        volume("here", claimRef={"name": "models", "namespace": "ml"}),
        volume("anywhere", claimRef={"name": "models"}),
        volume("elsewhere", claimRef={"name": "models", "namespace": "web"}),
        volume("other", claimRef={"name": "data", "namespace": "ml"}),
        volume("unclear", claimRef={"name": UNKNOWN}),
        volume("nobodys"),
    )
    claim = View({"name": "models", "namespace": "ml"}, "urn")
    assert names(found.kept_for(claim)) == ["here", "anywhere"]
    assert names(found.kept_for(View({"name": "models"}, "urn"))) == ["here", "anywhere", "elsewhere"]
    assert found.kept_for(View({"name": UNKNOWN}, "urn")) == ()
    assert found.kept_for(View({"name": "none"}, "urn")) == ()
