"""Containers that compute nothing for anybody: they try a GPU or the network, hold room, or wait for a shell.

Nothing is lost with them, nobody waits for their answers, and little goes through their shared memory: what is asked of
servers and of training is not asked of them. The expressions are read by CEL (RE2) as well.
"""

from __future__ import annotations

import re
from typing import Final

from eks_gpu.planning.pod_template import Container
from eks_gpu.planning.reading import NotKnown, attempt
from eks_gpu.planning.told import told_to

_IDLE: Final = r"/(?:pause|sleep|agnhost|busybox)(?:[:@]|$)|^(?:pause|busybox)(?:[:@]|$)"

_SAMPLE: Final = r"/cuda:|cuda-sample|vectoradd|nvidia-smi|dcgmproftester"

SAMPLE: Final = re.compile(rf"{_SAMPLE}|{_IDLE}", re.IGNORECASE)
"""Images that see whether a GPU works, or do nothing: they pass nothing through shared memory."""

NO_SERVER: Final = re.compile(rf"{SAMPLE.pattern}|/tritonserver:[^/@]*-sdk(?:@|$)", re.IGNORECASE)
"""Images that answer nobody: samples, those that hold room, Triton's clients."""

WAITING: Final = re.compile(
    r"(?:^|[\s;&/])(?:sleep\s+[\w.]+(?:\s*;\s*done|\s*&\s*wait)?|tail\s+-f\s+/dev/null"
    r"|nvidia-smi(?:\s+-\S+(?:\s+[0-9]+)?)*)[\s;]*$"
)
"""Commands that end in waiting or in a look at the GPUs."""

NOTEBOOK: Final = re.compile(r"jupyter|notebook|code-server|rstudio|marimo", re.IGNORECASE)
"""Images in which somebody works: they serve a person, who waits for no model to load."""

TESTS: Final = re.compile(
    r"nccl[-_]?tests?|(?:all_reduce|all_gather|alltoall|reduce_scatter|sendrecv|broadcast)_perf|nccl_message_transfer"
    r"|dcgmi|gpu[-_]?burn|nvbandwidth|ib_write_bw|" + _SAMPLE,
    re.IGNORECASE,
)
"""Images and commands that try GPUs and the network between them."""


def is_a_trial(container: Container) -> bool:
    """Return whether a container is known to try GPUs or the network, to hold room or to wait."""
    image = container.image if isinstance(container.image, str) else ""
    heard = attempt(told_to, container.place)
    words = [] if isinstance(heard, NotKnown) else heard
    if SAMPLE.search(image) is not None or any(TESTS.search(text) for text in (image, *words)):
        return True
    return WAITING.search(" ".join(words)) is not None
