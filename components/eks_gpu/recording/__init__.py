"""Runs a Pulumi program against a recorder, with no engine and no cloud, and hands out plain resources.

>>> recording = record(lambda: GpuNodePool("g5", args))
>>> recording.one("kubernetes:karpenter.sh/v1:NodePool")["spec"]["limits"]
"""

from __future__ import annotations

from eks_gpu.recording.answers import Answer
from eks_gpu.recording.recorded import RecordedOptions, RecordedResource, Recording
from eks_gpu.recording.run import record, record_directory

__all__ = ["Answer", "RecordedOptions", "RecordedResource", "Recording", "record", "record_directory"]
