from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any, cast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sandbox.kubernetes import releases
from sandbox.kubernetes.api import Api, Kind, Manifest
from sandbox.kubernetes.releases import difference

JSON = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans() | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


class Objects:
    """What a cluster does with objects, as far as a repair needs it."""

    def __init__(self, *manifests: Manifest) -> None:
        self.there = {self._key(each): each for each in manifests}

    def kinds(self) -> list[Kind]:
        verbs = frozenset({"list", "delete"})
        return [
            Kind("v1", "ConfigMap", "configmaps", namespaced=True, verbs=verbs),
            Kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", namespaced=False, verbs=verbs),
        ]

    def list(self, _api_version: str, kind: str, *, selector: str) -> list[Manifest]:
        assert selector == "owner=helm"
        return [each for each in self.there.values() if each["kind"] == kind]

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Manifest | None:
        return self.there.get((api_version, kind, name, namespace))

    def create(self, manifest: Manifest) -> None:
        assert self._key(manifest) not in self.there
        self.there[self._key(manifest)] = manifest

    def patch(self, manifest: Manifest) -> None:
        self.there[self._key(manifest)] = merged(self.there[self._key(manifest)], manifest)

    def delete(self, *key: str) -> bool:
        return self.there.pop(cast("Any", key), None) is not None

    def names(self) -> set[str]:
        return {each["metadata"]["name"] for each in self.there.values()}

    def _key(self, each: Manifest) -> tuple[str, str, str, str]:
        metadata = each["metadata"]
        return each["apiVersion"], each["kind"], metadata["name"], metadata.get("namespace") or ""


def merged(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON
    """Apply a merge patch, as RFC 7396 has it."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def config_map(name: str, namespace: str | None = "gpus", **data: str) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **place}, "data": data}


def record(number: int, status: str, *objects: Manifest, manager: str = "pulumi-kubernetes") -> Manifest:
    """Return a revision as Helm keeps it."""
    packed = gzip.compress(json.dumps({"manifest": yaml.safe_dump_all(objects)}).encode())
    metadata = {
        "name": f"sh.helm.release.v1.plugin.v{number}",
        "namespace": "gpus",
        "labels": {"name": "plugin", "version": str(number), "status": status},
        "managedFields": [{"manager": manager}],
    }
    data = {"release": base64.b64encode(base64.b64encode(packed)).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}


def repaired(cluster: Objects, *known: str) -> list[str]:
    found = releases.find(cast("Api", cluster), known)
    for release in found:
        releases.repair(cast("Api", cluster), release)
    return [str(each) for each in found]


@given(before=OBJECTS, after=OBJECTS)
def test_the_difference_of_two_objects_makes_one_of_the_other(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    change = difference(before, after)

    assert merged(before, change) == after
    assert bool(change) == (before != after)


def test_a_sound_release_stays_and_one_that_no_stack_knows_goes() -> None:
    cluster = Objects(config_map("settings"), record(1, "superseded"), record(2, "deployed", config_map("settings")))

    assert repaired(cluster, "gpus/plugin") == []
    assert repaired(cluster) == ["Helm release gpus/plugin (deployed, left by an interrupted run)"]
    assert cluster.there == {}


@pytest.mark.parametrize("status", ["pending-install", "uninstalling", "failed"])
def test_a_release_of_which_no_revision_runs_goes_with_its_objects_and_records(status: str) -> None:
    # In the record of a release its own namespace need not be written.
    cluster = Objects(config_map("settings"), config_map("mine"), record(1, status, config_map("settings", None)))

    assert repaired(cluster, "gpus/plugin") == [f"Helm release gpus/plugin ({status}, left by an interrupted run)"]
    assert cluster.names() == {"mine"}


def test_what_a_pending_upgrade_changed_added_and_removed_is_undone() -> None:
    cluster = Objects(
        config_map("settings", size="2", colour="red", somebody="else's"),
        config_map("new"),
        record(3, "deployed", config_map("settings", size="1"), config_map("old")),
        record(4, "failed", config_map("settings", size="1")),
        record(5, "pending-rollback", config_map("settings", size="2", colour="red"), config_map("new")),
    )

    assert repaired(cluster, "gpus/plugin") == [
        "revision 5 of Helm release gpus/plugin (pending-rollback), in favour of revision 3"
    ]
    assert cluster.get("v1", "ConfigMap", "settings", "gpus") == config_map("settings", size="1", somebody="else's")
    assert cluster.names() == {"settings", "old", "sh.helm.release.v1.plugin.v3"}


def test_what_was_installed_with_helms_own_command_is_left_alone() -> None:
    cluster = Objects(config_map("settings"), record(1, "pending-install", config_map("settings"), manager="Helm"))

    assert repaired(cluster) == []
    assert cluster.names() == {"settings", "sh.helm.release.v1.plugin.v1"}


def test_objects_of_kinds_that_are_gone_are_gone() -> None:
    gone = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}}
    cluster = Objects(record(1, "uninstalling", gone))

    assert repaired(cluster, "gpus/plugin") == ["Helm release gpus/plugin (uninstalling, left by an interrupted run)"]
    assert cluster.there == {}


def test_a_lone_equals_sign_in_a_manifest_is_a_text() -> None:
    cluster = Objects(record(1, "pending-install", {**config_map("settings"), "data": {"operator": "="}}))
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {operator: =}\n"
    packed = gzip.compress(json.dumps({"manifest": text}).encode())
    (secret,) = cluster.there.values()
    secret["data"]["release"] = base64.b64encode(base64.b64encode(packed)).decode()

    (release,) = releases.find(cast("Api", cluster), ())
    assert release.revisions[0].objects()[0]["data"] == {"operator": "="}
