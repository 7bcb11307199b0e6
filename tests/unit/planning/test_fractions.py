"""Parts of GPUs in the words of others."""

from __future__ import annotations

import pytest

from eks_gpu.planning.fractions import asks_a_fraction
from eks_gpu.planning.pod_template import Container, PodTemplate
from eks_gpu.planning.reading import NotKnown, NotKnownError


@pytest.mark.parametrize(
    ("requests", "limits", "annotations", "asks"),
    [
        ({}, {"nvidia.com/gpumem": "3000"}, {}, True),
        ({"aliyun.com/gpu-mem": "3"}, {}, {}, True),
        ({}, {}, {"gpu-fraction": "0.5"}, True),
        ({}, {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "1", "nvidia.com/gpu.shared": "1"}, {}, False),
        ({"cpu": "1"}, {"memory": "1Gi"}, {"note": "gpu-fraction"}, False),
    ],
)
def test_who_asks_in_words_of_others(
    requests: dict[str, str], limits: dict[str, str], annotations: dict[str, str], asks: bool
) -> None:
    box = Container(name="a", requests=requests, limits=limits)
    assert asks_a_fraction(PodTemplate(name="a", containers=(box,), annotations=annotations)) is asks
    init = PodTemplate(name="a", containers=(), init_containers=(box,), annotations=annotations)
    assert asks_a_fraction(init) is asks


def test_what_is_not_known_is_needed() -> None:
    with pytest.raises(NotKnownError):
        asks_a_fraction(PodTemplate(name="a", containers=(), annotations=NotKnown("urn", "metadata.annotations")))
