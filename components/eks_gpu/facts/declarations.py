"""Annotations by which pods declare what nobody can read off them.

Every one is optional. A rule that needs such a figure looks for it in what the pod says anyway (arguments, environment,
probes) as well, and says "not evaluated" where neither tells.
"""

from __future__ import annotations

from typing import Final

SOURCE: Final = "names of this project's own: nobody else defines annotations for these figures"
CHECKED: Final = "2026-11-21"

MODEL_BYTES: Final = "eks-gpu.io/model-bytes"
"""Of a model server: how many bytes it reads before it can serve."""

IMAGE_BYTES: Final = "eks-gpu.io/image-bytes"
"""How many bytes the node must pull and unpack first."""

FULL_IMAGE_REASON: Final = "eks-gpu.io/full-image-reason"
"""Of Triton's pods that run the image with every backend: why."""

GPU_MEMORY_GIB: Final = "eks-gpu.io/gpu-memory-gib"
"""How many GiB of each GPU's memory the pod needs."""

LONGEST_JOB_HOURS: Final = "eks-gpu.io/longest-job-hours"
"""Of training: how many hours the longest job runs."""

CHECKPOINT_PATH: Final = "eks-gpu.io/checkpoint-path"
"""Of training: where it saves, as the container sees it, or as a URL of an object store."""

CHECKPOINT_MINUTES: Final = "eks-gpu.io/checkpoint-minutes"
"""Of training: how many minutes lie between two checkpoints."""

CHECKPOINTS_KEPT: Final = "eks-gpu.io/checkpoints-kept"
"""Of training: how many of the newest checkpoints are kept; a damaged one is passed over for the one before."""

CHECKPOINT_SAVE_SECONDS: Final = "eks-gpu.io/checkpoint-save-seconds"
"""Of training: how many seconds writing a checkpoint takes, which a pod that must go needs for its last one."""

RESUMES: Final = "eks-gpu.io/resumes"
"""Of training: ``true`` when it goes on from the newest checkpoint by itself."""
