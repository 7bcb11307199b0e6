"""From the engine's requests to plain resources."""

from __future__ import annotations

from pulumi.runtime.proto import analyzer_pb2

from eks_gpu_policies.wire import program_resource, stack_resource


def test_how_long_the_engine_waits_arrives_with_both_kinds_of_request() -> None:
    patient = analyzer_pb2.AnalyzerResourceOptions(
        customTimeouts=analyzer_pb2.AnalyzerResourceOptions.CustomTimeouts(create=1200)
    )
    request = analyzer_pb2.AnalyzeRequest(urn="urn", options=patient)
    item = analyzer_pb2.AnalyzerResource(urn="urn", options=patient)
    assert program_resource(request).create_timeout_seconds == 1200
    assert stack_resource(item, None).create_timeout_seconds == 1200


def test_a_timeout_that_was_seen_before_stays() -> None:
    patient = analyzer_pb2.AnalyzerResourceOptions(
        customTimeouts=analyzer_pb2.AnalyzerResourceOptions.CustomTimeouts(create=1200)
    )
    seen = program_resource(analyzer_pb2.AnalyzeRequest(urn="urn", options=patient))
    assert stack_resource(analyzer_pb2.AnalyzerResource(urn="urn"), seen).create_timeout_seconds == 1200


def test_no_timeout_is_none() -> None:
    assert program_resource(analyzer_pb2.AnalyzeRequest(urn="urn")).create_timeout_seconds is None
    empty = analyzer_pb2.AnalyzerResourceOptions.CustomTimeouts()
    options = analyzer_pb2.AnalyzerResourceOptions(customTimeouts=empty)
    assert (
        stack_resource(analyzer_pb2.AnalyzerResource(urn="urn", options=options), None).create_timeout_seconds is None
    )
