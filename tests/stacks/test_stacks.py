"""Every stack file builds, obeys every rule, and would rename nothing that is deployed."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path

from eks_gpu.cli.judge import judge
from eks_gpu.cli.program import Recorded
from eks_gpu.facts.quotas import QUOTAS
from eks_gpu.planning.unknown import UNKNOWN
from eks_gpu_policies.report import PACK
from tests.support.golden import Golden

GOLDEN = Path(__file__).parent / "golden"

OPEN = {"prod": [("NODE010", "p4d-node-pool")]}
"""What only AWS can tell: of which zone and type a reservation is that a stack file names by its id."""

_HASHED = re.compile(r"(kubernetes:batch/v1:Job::[a-z0-9-]+)-[0-9a-f]{10}$")
"""A Job whose name says what is in it: another content is another Job, on purpose."""


def test_obeys_every_rule_of_its_environment(stack: Recorded) -> None:
    report = judge(stack)
    assert [finding.text for finding in report.findings] == []
    assert report.rules


def test_obeys_every_rule_of_production(stack: Recorded) -> None:
    report = judge(stack, environment="prod")
    assert [finding.text for finding in report.mandatory] == []


def test_answers_every_question_of_the_rules(stack: Recorded, tmp_path: Path) -> None:
    """The account's quotas are no choice of a stack: whoever asks for the pack's verdict says them."""
    today = dt.datetime.now(tz=dt.UTC).date()
    quotas = {"recorded": today.isoformat(), "vcpus": {quota.code: 10_000 for quota in QUOTAS}}
    config = tmp_path / "pack.json"
    config.write_text(json.dumps({PACK: {"vcpuQuotas": quotas}}))
    report = judge(stack, pack_config=config)
    assert [(missed.rule, missed.resource) for missed in report.not_evaluated] == OPEN.get(stack.stack, [])
    assert "COST006" not in {finding.rule for finding in report.findings}


def test_inventory_of_urns_is_as_reviewed(stack: Recorded, golden: Golden) -> None:
    """A line out and a line in is a resource destroyed and made again, unless an alias says otherwise."""
    urns = [_HASHED.sub(r"\1-<content>", resource.urn.split("::", 2)[2]) for resource in stack.recording.resources]
    path = GOLDEN / f"{stack.stack}.urns.txt"
    assert golden(path, "\n".join(urns) + "\n"), f"{path.name} differs; run pytest --update-golden and review the diff"


def test_no_urn_is_registered_twice(stack: Recorded) -> None:
    counted = Counter(resource.urn for resource in stack.recording.resources)
    assert [urn for urn, count in counted.items() if count > 1] == []


def test_every_resource_of_ours_belongs_to_a_component_or_stands_at_the_top_by_name(stack: Recorded) -> None:
    top = {resource.name for resource in stack.recording.resources if resource.parent is None and resource.custom}
    assert top <= {"aws", "inference-namespace"}


def test_every_resource_has_an_explicit_provider(stack: Recorded) -> None:
    """A default provider would speak to whatever cluster the caller's kubeconfig names."""
    bare = [
        resource.name
        for resource in stack.recording.resources
        if resource.custom and resource.type.startswith(("kubernetes:", "aws:")) and not resource.provider
    ]
    assert bare == []


def test_kubernetes_objects_come_after_system_nodes(stack: Recorded) -> None:
    nodes = stack.recording.named("system-nodes-node-group")
    late = [resource for resource in stack.recording.resources if resource.type.startswith("kubernetes:helm.sh")]
    assert late
    assert [release.name for release in late if not stack.recording.reaches(release, nodes)] == []


def test_no_object_says_that_it_has_no_labels(stack: Recorded) -> None:
    """The API server keeps no empty map in metadata, and each refresh would find it gone."""
    empty = [
        f"{resource.name}: {key}"
        for resource in stack.recording.resources
        if resource.type.startswith("kubernetes:") and isinstance(resource.inputs.get("metadata"), dict)
        for key, value in resource.inputs["metadata"].items()
        if value in ({}, [])
    ]
    assert empty == []


def test_no_provider_function_is_left_unanswered(stack: Recorded) -> None:
    assert stack.recording.unanswered == ()


def test_exports_what_people_ask_for(stack: Recorded) -> None:
    assert {"cluster_name", "server_urls"} <= stack.recording.exports.keys()


def test_inputs_are_plain_json_once_known(stack: Recorded) -> None:
    strange: list[object] = []

    def note(value: object) -> str:
        strange.extend([] if value is UNKNOWN else [value])
        return "unknown"

    for resource in stack.recording.resources:
        json.dumps(resource.inputs, default=note)
    assert strange == []
