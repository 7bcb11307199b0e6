"""The pack as a process of its own, started as the Python host of the engine starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from eks_gpu_policies import examples
from eks_gpu_policies.rules import RULES

PACK = Path(__file__).parents[2] / "policies"


@pytest.fixture
def analyzer() -> Iterator[analyzer_pb2_grpc.AnalyzerStub]:
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=PACK) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            process.terminate()
            out, _ = process.communicate()
        assert out == ""


def test_the_pack_answers_on_the_port_that_it_prints_and_prints_nothing_else(
    analyzer: analyzer_pb2_grpc.AnalyzerStub,
) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty(), wait_for_ready=True, timeout=60)
    assert [policy.name for policy in info.policies] == ["eks-gpu", *(rule.id for rule in RULES)]
    analyzer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack="prod"))
    pool = examples.node_pool(limits={})
    request = analyzer_pb2.AnalyzeRequest(urn=pool.urn, type=pool.type, name=pool.name)
    request.properties.update(json.loads(json.dumps(pool.props)))
    assert [item.policyName for item in analyzer.Analyze(request).diagnostics] == ["COST001"]
    assert not analyzer.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest()).diagnostics
