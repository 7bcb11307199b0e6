from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eks_gpu.recording import RecordedResource, Recording, record_directory
from eks_gpu.settings import stack_file
from tests.support.crds import VALIDATED, cel_problems, schema_problems

ROOT = Path(__file__).resolve().parents[2]
STACKS = sorted(path.name for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))
IDENTITIES = {"subnetSelectorTerms": "subnet-0a", "securityGroupSelectorTerms": "sg-0a"}


def _record(file: str) -> Recording:
    configuration = stack_file.load(ROOT / "stacks" / file)
    return record_directory(
        ROOT,
        project="eks-gpu",
        stack=configuration.stack,
        config=configuration.engine_config(),
        secrets=configuration.secrets,
    )


def _deployed(resource: RecordedResource) -> dict[str, Any]:
    """Return a resource with ids such as EC2 gives them, where a recording can only have stand-ins."""
    spec = dict(resource["spec"])
    for terms, identity in IDENTITIES.items():
        if terms in spec:
            spec[terms] = [{**term, "id": identity} for term in spec[terms]]
    return {**resource.inputs, "spec": spec}


@pytest.mark.parametrize("file", STACKS)
def test_every_karpenter_resource_of_a_stack_is_one_that_the_api_server_takes(file: str) -> None:
    recording = _record(file)
    resources = [resource for token in VALIDATED for resource in recording.of_type(token)]

    assert resources
    for resource in resources:
        deployed = _deployed(resource)
        assert schema_problems(deployed) == []
        assert cel_problems(deployed) == []
