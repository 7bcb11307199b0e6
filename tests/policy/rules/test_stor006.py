"""STOR006: NVMe paths are NVMe."""

from __future__ import annotations

import base64

import pytest

from eks_gpu.facts.storage import NVME_MOUNTS
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies import examples
from eks_gpu_policies.resource import Resource
from tests.support.judging import changed, complaint, judge, left_open, not_concerned, passes


def on_disk(path: str = f"{NVME_MOUNTS}/0", selector: dict[str, str] | None = None) -> Resource:
    volumes = [{"name": "scratch", "hostPath": {"path": path}}]
    return examples.deployment(volumes=volumes, nodeSelector=selector or {})


def node_config(strategy: str) -> str:
    return f"""\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: {strategy}
"""


def group(user_data: str | None, types: list[str] | None = None, **settings: object) -> tuple[Resource, Resource]:
    told = {} if user_data is None else {"userData": base64.b64encode(user_data.encode()).decode()}
    template = examples.launch_template(**told)
    return template, examples.node_group(template, instanceTypes=types or ["g5.2xlarge"], **settings)


def test_s03_a_pool_that_joins_its_local_disks_passes() -> None:
    assert passes(judge("STOR006", on_disk(), examples.node_pool(), examples.node_class(instanceStorePolicy="RAID0")))
    assert passes(judge("STOR006", on_disk(), *group(node_config("RAID0"))))


def test_s03_a_pool_that_does_not_lands_on_ebs() -> None:
    message = complaint(judge("STOR006", on_disk(), examples.node_pool(), examples.node_class()))
    assert message == ("mounts /mnt/k8s-disks/0, and nothing mounts the local disks of g5 there: it writes to EBS")
    assert "local disks of inference" in complaint(judge("STOR006", on_disk(), *group(None)))


@pytest.mark.parametrize(
    "user_data",
    [
        node_config("Mount"),
        node_config("RAID10"),
        "#!/bin/bash\nsetup-local-disks mount\n",
        "#!/bin/bash\nmkfs.xfs /dev/nvme1n1\nmount /dev/nvme1n1 /mnt/k8s-disks/0\n",
    ],
)
def test_s03_disks_may_be_mounted_in_other_ways(user_data: str) -> None:
    assert passes(judge("STOR006", on_disk(), *group(user_data)))
    pool = examples.node_class(userData=user_data)
    assert passes(judge("STOR006", on_disk(), examples.node_pool(), pool))


def test_s03_a_comment_mounts_nothing() -> None:
    assert "writes to EBS" in complaint(judge("STOR006", on_disk(), *group("#!/bin/bash\n# /mnt/k8s-disks is fast\n")))


def test_s03_other_scripts_mount_nothing() -> None:
    assert "writes to EBS" in complaint(judge("STOR006", on_disk(), *group("#!/bin/bash\nsystemctl start chronyd\n")))


MULTIPART = """\
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: application/unknown

something
--x
Content-Type: application/node.eks.aws

{config}
--x--
"""


def test_user_data_in_a_form_that_nobody_reads_is_left_open_unless_the_rest_tells() -> None:
    silent = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig"
    assert left_open(judge("STOR006", on_disk(), *group(MULTIPART.format(config=silent)))) == ["userData"]
    assert passes(judge("STOR006", on_disk(), *group(MULTIPART.format(config=node_config("Mount")))))


def test_s03_a_type_without_local_disks_lands_on_ebs() -> None:
    mixed = group(node_config("RAID0"), ["g5.2xlarge", "p3.2xlarge"])
    assert "p3.2xlarge of inference has no local disk" in complaint(judge("STOR006", on_disk(), *mixed))
    chosen = on_disk(selector={"node.kubernetes.io/instance-type": "g5.2xlarge"})
    assert passes(judge("STOR006", chosen, *mixed))


def test_s03_bottlerocket_has_no_such_folder() -> None:
    bottlerocket = group(None, amiType="BOTTLEROCKET_x86_64_NVIDIA")
    (finding,) = judge("STOR006", on_disk(), *bottlerocket).findings
    assert "a folder that Bottlerocket, the system of inference, does not have: it writes to EBS" in finding.message
    assert finding.fix.startswith("use an emptyDir")


def test_s03_the_folder_itself_and_those_below_count() -> None:
    for path in (NVME_MOUNTS, f"{NVME_MOUNTS}/", f"{NVME_MOUNTS}/1/models"):
        assert "writes to EBS" in complaint(judge("STOR006", on_disk(path), *group(None)))
    for path in ("/mnt/k8s-disks-of-mine", "/mnt", "/var/lib/models"):
        assert not_concerned(judge("STOR006", on_disk(path), *group(None)))


def test_a_pool_that_the_pod_never_reaches_is_not_judged() -> None:
    elsewhere = on_disk(selector={"workload": "training"})
    assert left_open(judge("STOR006", elsewhere, *group(None))) == ["hostPath"]
    assert left_open(judge("STOR006", on_disk())) == ["hostPath"]


def test_unknown_user_data_is_left_open() -> None:
    template, nodes = group("")
    assert left_open(judge("STOR006", on_disk(), changed(template, "userData", UNKNOWN), nodes)) == ["userData"]


def test_pods_without_gpus_or_host_paths_are_not_concerned() -> None:
    plain = changed(on_disk(), "spec.template.spec.containers.0.resources", {})
    assert not_concerned(judge("STOR006", plain, *group(None)))
    assert not_concerned(judge("STOR006", examples.deployment(), *group(None)))
