"""The checks as shell runs them, with stand-ins on PATH for what only a GPU node has."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from eks_gpu.gpu.validation.checks import SCRIPTS

FAKE_TORCH = """
class _Data:
    def __eq__(self, ranks): return self
    def all(self): return self
    def item(self): return {right}

float32 = None
def ones(*size, **kind): return _Data()

class cuda:
    set_device = staticmethod(lambda index: None)
    synchronize = staticmethod(lambda: None)
"""
FAKE_DISTRIBUTED = """
import time

def init_process_group(backend): assert backend == "nccl"
def get_world_size(): return 8
def get_rank(): return {rank}
def all_reduce(data): time.sleep({seconds})
def destroy_process_group(): pass
"""
SMI = """\
GPU 0: NVIDIA A10G (UUID: GPU-0)
GPU 1: NVIDIA A10G (UUID: GPU-1)
"""
PARTITIONED = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)
  MIG 1g.5gb      Device  0: (UUID: MIG-0)
  MIG 1g.5gb      Device  1: (UUID: MIG-1)
  MIG 1g.5gb      Device  2: (UUID: MIG-2)
"""
GOOD = """{"DCGM Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [{"name": "software",
  "results": [{"entity_group": "GPU", "entity_id": 0, "status": "Pass"}], "test_summary": {"status": "Pass"}}]}]}}"""


@dataclass(frozen=True)
class Said:
    code: int
    last: str
    output: str


class Node:
    """A folder of stand-ins, and what they were called with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"

    def has(self, program: str, says: str = "", code: int = 0) -> Node:
        text = self.folder / f"{program}.txt"
        text.write_text(says)
        script = self.folder / program
        script.write_text(f'#!/bin/sh\necho "{program} $*" >>"{self.calls}"\ncat "{text}"\nexit {code}\n')
        script.chmod(0o755)
        return self

    def has_a_clock(self) -> Node:
        """Let a second pass whenever somebody looks."""
        times = self.folder / "times"
        script = self.folder / "date"
        script.write_text(f'#!/bin/sh\necho . >>"{times}"\nwc -l <"{times}"\n')
        script.chmod(0o755)
        return self

    def run(self, script: str, **variables: str) -> Said:
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", str(SCRIPTS / script)],
            env={"PATH": path, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = done.stdout.strip().splitlines()
        return Said(done.returncode, lines[-1] if lines else "", done.stdout)

    def was_told(self) -> str:
        return self.calls.read_text()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_g08_as_many_devices_as_expected_pass(node: Node) -> None:
    said = node.has("nvidia-smi", SMI).run("device-count.sh", EXPECTED="2", DEVICE="GPU")
    assert (said.code, said.last) == (0, "device-count: PASS expected 2 GPU devices, got 2")


@pytest.mark.parametrize("expected", ["1", "3"])
def test_g08_more_or_fewer_devices_fail(node: Node, expected: str) -> None:
    said = node.has("nvidia-smi", SMI).run("device-count.sh", EXPECTED=expected, DEVICE="GPU")
    assert (said.code, said.last) == (1, f"device-count: FAIL expected {expected} GPU devices, got 2")


def test_g08_no_device_at_all_fails(node: Node) -> None:
    said = node.has("nvidia-smi", "").run("device-count.sh", EXPECTED="1", DEVICE="GPU")
    assert (said.code, said.last) == (1, "device-count: FAIL expected 1 GPU devices, got 0")


def test_n07_a_driver_that_did_not_load_fails_and_says_so(node: Node) -> None:
    broken = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    said = node.has("nvidia-smi", broken, code=9).run("device-count.sh", EXPECTED="1", DEVICE="GPU")
    assert said.code == 1
    assert broken in said.output
    assert said.last.endswith("the driver does not answer")


def test_g04_partitions_are_counted_and_the_gpu_that_holds_them_is_not(node: Node) -> None:
    said = node.has("nvidia-smi", PARTITIONED).run("device-count.sh", EXPECTED="3", DEVICE="MIG")
    assert (said.code, said.last) == (0, "device-count: PASS expected 3 MIG devices, got 3")


def test_g08_a_vector_addition_that_is_right_passes(node: Node) -> None:
    node.has("vectorAdd", "Copy output data\nTest PASSED\nDone\n")
    said = node.run("vector-add.sh", SAMPLE=str(node.folder / "vectorAdd"), SECONDS_LONG="0")
    assert (said.code, said.last) == (0, "vector-add: PASS expected 'Test PASSED', got it 1 times")


def test_g03_where_gpus_are_shared_it_goes_on_for_a_while(node: Node) -> None:
    node.has("vectorAdd", "Test PASSED\n").has_a_clock()
    said = node.run("vector-add.sh", SAMPLE=str(node.folder / "vectorAdd"), SECONDS_LONG="5")
    assert (said.code, said.last) == (0, "vector-add: PASS expected 'Test PASSED', got it 5 times")
    assert node.was_told().count("vectorAdd") == 5


@pytest.mark.parametrize(("says", "code"), [("Test PASSED\n", 1), ("Result verification failed\n", 0), ("", 0)])
def test_g08_a_vector_addition_that_is_wrong_fails(node: Node, says: str, code: int) -> None:
    node.has("vectorAdd", says, code)
    said = node.run("vector-add.sh", SAMPLE=str(node.folder / "vectorAdd"), SECONDS_LONG="0")
    assert (said.code, said.last) == (1, f"vector-add: FAIL expected 'Test PASSED', got exit code {code} in round 1")


def test_g08_the_diagnostic_asks_an_engine_of_its_own_and_ends_it(node: Node) -> None:
    said = node.has("nv-hostengine").has("dcgmi", GOOD).run("diagnostic.sh", NAME="diagnostic", TEST="1", PARAMETERS="")
    assert said.code == 0
    assert said.last.startswith("diagnostic: PASS expected dcgmi diag -r 1")
    assert said.last.endswith("got 2 passed")
    assert node.was_told().splitlines() == [
        "nv-hostengine -b 127.0.0.1",
        "dcgmi diag -r 1 -j",
        "nv-hostengine -t",
    ]


def test_g08_the_bandwidth_that_is_expected_is_dcgms_own_parameter(node: Node) -> None:
    node.has("nv-hostengine").has("dcgmi", GOOD)
    said = node.run("diagnostic.sh", NAME="host-bandwidth", TEST="pcie", PARAMETERS="pcie.min=9.5")
    assert said.last.startswith("host-bandwidth: PASS")
    assert "dcgmi diag -r pcie -p pcie.min=9.5 -j" in node.was_told()


@pytest.mark.parametrize(
    ("says", "code", "why"),
    [
        (GOOD, 226, "got exit code 226, 0 failed"),
        (GOOD.replace('0, "status": "Pass"', '0, "status": "Fail"'), 0, "got exit code 0, 1 failed"),
        (GOOD.replace("Pass", "Skip"), 0, "got no test that passed"),
        ("Error: unable to establish a connection to the specified host: localhost\n", 1, "got exit code 1, 0 failed"),
    ],
    ids=["exit code", "one test failed", "nothing was tested", "no engine"],
)
def test_g08_a_diagnostic_that_does_not_pass_fails(node: Node, says: str, code: int, why: str) -> None:
    node.has("nv-hostengine").has("dcgmi", says, code)
    said = node.run("diagnostic.sh", NAME="diagnostic", TEST="1", PARAMETERS="")
    assert said.code == 1
    assert said.last.startswith("diagnostic: FAIL")
    assert said.last.endswith(why)
    assert says.strip() in said.output


def test_g08_an_engine_that_does_not_start_fails(node: Node) -> None:
    node.has("nv-hostengine", "Err: Failed to start DCGM Server\n", code=1).has("dcgmi", GOOD)
    said = node.run("diagnostic.sh", NAME="diagnostic", TEST="1", PARAMETERS="")
    assert (said.code, said.last) == (1, "diagnostic: FAIL expected DCGM's engine to start, got an error")
    assert "dcgmi" not in node.was_told()


def test_g09_one_process_is_started_for_each_gpu_and_meets_the_others(node: Node) -> None:
    node.has("torchrun").run("all-reduce.sh", NODES="2", GPUS="8", RANK="1", MEETING="p4d-0.p4d")
    told = node.was_told().split()
    assert told[1:6] == [
        "--nnodes=2",
        "--nproc-per-node=8",
        "--node-rank=1",
        "--master-addr=p4d-0.p4d",
        "--master-port=29500",
    ]
    assert Path(told[6]) == SCRIPTS / "all_reduce.py"


def _all_reduce(folder: Path, *, expected: str, right: bool = True, rank: int = 0) -> Said:
    package = folder / "torch"
    package.mkdir()
    (package / "__init__.py").write_text(FAKE_TORCH.format(right=right))
    (package / "distributed.py").write_text(FAKE_DISTRIBUTED.format(rank=rank, seconds=0.001))
    variables = {"NAME": "all-reduce-node", "EXPECTED_GB_PER_SECOND": expected, "LOCAL_RANK": "0"}
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "all_reduce.py")],
        env={"PYTHONPATH": str(folder), "PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return Said(done.returncode, done.stdout.strip(), done.stdout)


def test_g08_a_sum_that_is_right_and_fast_enough_passes(tmp_path: Path) -> None:
    said = _all_reduce(tmp_path, expected="1")
    assert said.code == 0
    assert said.last.startswith("all-reduce-node: PASS expected at least 1 GB/s, got ")
    assert said.last.endswith("GB/s over 8 GPUs")


def test_g08_a_sum_that_arrives_too_slowly_fails(tmp_path: Path) -> None:
    said = _all_reduce(tmp_path, expected="1000000")
    assert said.code == 1
    assert said.last.startswith("all-reduce-node: FAIL expected at least 1e+06 GB/s, got ")


def test_g08_a_sum_that_is_wrong_fails_however_fast_it_was(tmp_path: Path) -> None:
    said = _all_reduce(tmp_path, expected="0", right=False)
    assert (said.code, said.last.partition("got ")[2]) == (1, "a wrong sum over 8 GPUs")


def test_g08_one_process_speaks_for_all(tmp_path: Path) -> None:
    said = _all_reduce(tmp_path, expected="1", rank=3)
    assert (said.code, said.output) == (0, "")
