"""STOR001: EFS classes are complete."""

from __future__ import annotations

import pytest

from eks_gpu.facts.storage import EFS_ACCESS_POINTS, EFS_DRIVER
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples, tokens
from eks_gpu_policies.resource import Resource
from tests.support.judging import complaint, judge, left_open, messages, not_concerned, passes

SOUND = {"provisioningMode": EFS_ACCESS_POINTS, "fileSystemId": "fs-0123", "directoryPerms": "700"}


def storage_class(provisioner: object = EFS_DRIVER, **parameters: object) -> Resource:
    kept = {key: value for key, value in {**SOUND, **parameters}.items() if value is not None}
    return examples.resource(tokens.STORAGE_CLASS, "models", {"provisioner": provisioner, "parameters": kept})


@pytest.mark.parametrize(
    "extra", [{}, {"uid": "1000", "gid": "1000"}, {"gidRangeStart": "1000", "gidRangeEnd": "2000"}]
)
def test_s01_a_complete_class_passes(extra: dict[str, object]) -> None:
    assert passes(judge("STOR001", storage_class(**extra)))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"provisioningMode": "efs"}, "has provisioningMode efs; the driver knows only efs-ap and s3files-ap"),
        ({"provisioningMode": None}, "has provisioningMode unset"),
        ({"fileSystemId": None}, "names no file system; exactly one of fileSystemId,"),
        (
            {"fileSystemIdConfigRef": "ns/map/key"},
            "names its file system by fileSystemId and fileSystemIdConfigRef;",
        ),
        ({"directoryPerms": None}, "has no directoryPerms"),
        ({"uid": "1000"}, "sets uid without gid"),
        ({"directoryPerms": 700}, "gives the parameter directoryPerms as int; every parameter is a string"),
        ({"ensureUniqueDirectory": True}, "gives the parameter ensureUniqueDirectory as bool"),
    ],
)
def test_s01_an_incomplete_class_fails(parameters: dict[str, object], says: str) -> None:
    assert complaint(judge("STOR001", storage_class(**parameters))).startswith(says)


@pytest.mark.parametrize("parameters", [{}, {"parameters": {}}, {"parameters": None}])
def test_s01_a_class_without_parameters_is_the_name_of_volumes_made_by_hand(parameters: dict[str, object]) -> None:
    static = examples.resource(tokens.STORAGE_CLASS, "models", {"provisioner": EFS_DRIVER, **parameters})
    assert passes(judge("STOR001", static))


def test_s01_a_class_that_says_only_what_it_need_not_fails_on_every_count() -> None:
    report = judge(
        "STOR001", storage_class(provisioningMode=None, fileSystemId=None, directoryPerms=None, basePath="/")
    )
    assert len(messages(report)["models"]) == 3


def test_a_file_system_that_is_not_made_yet_is_a_file_system() -> None:
    assert passes(judge("STOR001", storage_class(fileSystemId=UNKNOWN)))


def test_unknown_parameters_are_left_open() -> None:
    unclear = examples.resource(tokens.STORAGE_CLASS, "models", {"provisioner": EFS_DRIVER, "parameters": UNKNOWN})
    assert set(left_open(judge("STOR001", unclear))) == {"parameters"}
    assert left_open(judge("STOR001", storage_class(UNKNOWN))) == ["provisioner"]


def test_other_provisioners_are_not_concerned() -> None:
    assert not_concerned(judge("STOR001", storage_class("ebs.csi.aws.com")))


def test_a_class_on_s3_files_as_in_the_drivers_own_example_passes() -> None:
    parameters = {"provisioningMode": "s3files-ap", "fileSystemId": "fs-0a1b2c3d", "directoryPerms": "700"}
    resource = examples.resource(tokens.STORAGE_CLASS, "files", {"provisioner": EFS_DRIVER, "parameters": parameters})
    assert passes(judge("STOR001", resource))
