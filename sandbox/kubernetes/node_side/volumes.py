"""Volumes for claims on EBS and EFS, made and removed.

Stands in for the provisioners in the controllers of both CSI drivers. It does not prove that a file system or an access
point exists, that the drivers are installed or may call AWS, that anything can be mounted, or that a disk has space.
"""

from __future__ import annotations

import http.client
import secrets
from typing import Any, Final

from eks_gpu.facts import labels, storage
from sandbox.kubernetes import rest
from sandbox.kubernetes.node_side.world import World, annotations_of, is_going, labels_of, log, name_of
from sandbox.kubernetes.rest import ApiError, Object

DRIVERS: Final = frozenset({storage.EBS_DRIVER, storage.EFS_DRIVER})
_WAITS: Final = "WaitForFirstConsumer"
_EBS_ID_BYTES: Final = 8


class Volumes:
    """Makes the volumes that claims wait for, and removes those that were given back."""

    def step(self, world: World) -> None:
        """Do both, as far as something is to be done."""
        classes = world.of(rest.STORAGE_CLASSES).by_name()
        volumes = world.of(rest.VOLUMES).by_name()
        for claim in world.of(rest.CLAIMS):
            class_ = classes.get(claim["spec"].get("storageClassName") or "")
            if class_ is not None and f"pvc-{claim['metadata']['uid']}" not in volumes and _is_due(claim, class_):
                _provision(world, claim, class_)
        for volume in volumes.values():
            if _is_given_back(volume):
                log.info("volume %s is given back, and removed", name_of(volume))
                world.api.delete(rest.VOLUMES, volume["metadata"]["name"])


def _is_due(claim: Object, class_: Object) -> bool:
    """Tell whether a volume is to be made now: Kubernetes asks for it, and knows the node where the class wants one."""
    annotations = annotations_of(claim)
    asked = (
        class_["provisioner"] in DRIVERS and annotations.get(storage.PROVISIONER_ANNOTATION) == class_["provisioner"]
    )
    if not asked or is_going(claim) or claim["spec"].get("volumeName"):
        return False
    return class_.get("volumeBindingMode") != _WAITS or storage.SELECTED_NODE_ANNOTATION in annotations


def _provision(world: World, claim: Object, class_: Object) -> None:
    zone = _zone(world, claim)
    if zone is None:
        return
    made = volume(claim, class_, zone)
    try:
        world.api.create(rest.VOLUMES, made)
    except ApiError as error:
        if error.code != http.client.CONFLICT:
            raise
        return
    log.info("volume %s is made for claim %s", made["metadata"]["name"], name_of(claim))


def _zone(world: World, claim: Object) -> str | None:
    """Return the zone of the node that a claim's first pod goes to, or of any node; None if that node is gone."""
    nodes = world.of(rest.NODES).by_name()
    selected = annotations_of(claim).get(storage.SELECTED_NODE_ANNOTATION)
    if selected is not None and selected not in nodes:
        return None
    candidates = [nodes[selected]] if selected is not None else list(nodes.values())
    return next((zone for node in candidates if (zone := labels_of(node).get(labels.ZONE))), "")


def volume(claim: Object, class_: Object, zone: str) -> Object:
    """Return the volume that the driver of a StorageClass makes for a claim."""
    metadata, driver = claim["metadata"], class_["provisioner"]
    spec: dict[str, Any] = {
        "accessModes": claim["spec"]["accessModes"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            **{key: metadata[key] for key in ("name", "namespace", "uid", "resourceVersion")},
        },
        "csi": {"driver": driver, "volumeHandle": _handle(class_)},
        "persistentVolumeReclaimPolicy": class_.get("reclaimPolicy", "Delete"),
        "storageClassName": class_["metadata"]["name"],
        "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
    }
    if class_.get("mountOptions"):
        spec["mountOptions"] = class_["mountOptions"]
    if driver == storage.EBS_DRIVER:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [_in_zone(zone)]}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": f"pvc-{metadata['uid']}",
            "annotations": {storage.PROVISIONED_BY_ANNOTATION: driver},
        },
        "spec": spec,
    }


def _in_zone(zone: str) -> dict[str, Any]:
    return {"key": labels.ZONE, "operator": "In", "values": [zone]}


def _handle(class_: Object) -> str:
    """Return the id that the volume would have in AWS."""
    id_ = f"{secrets.token_hex(_EBS_ID_BYTES)}0"
    if class_["provisioner"] == storage.EBS_DRIVER:
        return f"vol-{id_}"
    return f"{(class_.get('parameters') or {}).get('fileSystemId', '')}::fsap-{id_}"


def _is_given_back(volume: Object) -> bool:
    """Tell whether a volume of ours has lost its claim, and is to go with it."""
    ours = annotations_of(volume).get(storage.PROVISIONED_BY_ANNOTATION) in DRIVERS
    released = (volume.get("status") or {}).get("phase") == "Released"
    return ours and released and not is_going(volume) and volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
