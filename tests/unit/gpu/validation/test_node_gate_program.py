from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from eks_gpu.gpu.validation import node_gate_program
from eks_gpu.gpu.validation.new_nodes import deployment_spec
from eks_gpu.gpu.validation.node_gate_program import Gate, InCluster, Memory, Verdict, gate_of, judge, step, watch
from eks_gpu.settings.validation import Validation

BORN = "2026-11-21T12:00:00Z"
NOON = 1795262400.0
LIMIT = 20 * 60.0
SETTLED = NOON + 181
TAINT = {"key": "eks-gpu.io/not-validated", "value": "true", "effect": "NoSchedule"}
OTHER = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
GATE = Gate(
    taint="eks-gpu.io/not-validated",
    validated="eks-gpu.io/validated",
    pool="karpenter.sh/nodepool",
    namespace="gpu-node-validation",
    pods="app.kubernetes.io/name=gpu-node-validation",
    limit_seconds=LIMIT,
    most_replacements=2,
)


def _node(name: str = "node-1", *, closed: bool = True, owned: bool = True, pool: str = "g5") -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "creationTimestamp": BORN,
        "labels": {"karpenter.sh/nodepool": pool},
    }
    if owned:
        metadata["ownerReferences"] = [{"kind": "NodeClaim", "name": f"{name}-claim"}]
    return {"metadata": metadata, "spec": {"taints": [OTHER, TAINT] if closed else [OTHER]}}


def _pod(node: str = "node-1", *, ready: bool = False, checks: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    status = {"conditions": conditions, "initContainerStatuses": list(checks)}
    return {"metadata": {"creationTimestamp": BORN}, "spec": {"nodeName": node}, "status": status}


def _check(state: Mapping[str, Any], *, restarts: int, last: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"name": "device-count", "state": dict(state), "lastState": dict(last or {}), "restartCount": restarts}


ENDED = {"terminated": {"exitCode": 1, "message": "a list\ndevice-count: FAIL expected 8 GPU devices, got 7\n"}}
BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff"}}


class FakeApi:
    def __init__(self, nodes: list[dict[str, Any]], pods: list[dict[str, Any]]) -> None:
        self.lists = {"nodes": nodes, "pods": pods}
        self.changes: list[tuple[str, str, Any]] = []

    def call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
        if verb == "GET":
            return {"items": self.lists[path.partition("?")[0].rpartition("/")[2]]}
        self.changes.append((verb, path, body))
        return {}


def test_n07_a_node_is_opened_when_every_check_has_passed() -> None:
    api = FakeApi([_node()], [_pod(ready=True)])
    assert step(api, GATE, Memory(), NOON) == ["node-1: opened, its GPUs are proven"]
    [(verb, path, changes)] = api.changes
    assert (verb, path) == ("PATCH", "/api/v1/nodes/node-1")
    assert changes == [
        {"op": "test", "path": "/spec/taints", "value": [OTHER, TAINT]},
        {"op": "replace", "path": "/spec/taints", "value": [OTHER]},
        {"op": "add", "path": "/metadata/labels/eks-gpu.io~1validated", "value": "true"},
    ]


def test_n07_a_node_whose_checks_go_on_stays_closed() -> None:
    running = _check({"running": {}}, restarts=0)
    api = FakeApi([_node()], [_pod(checks=(running,))])
    assert step(api, GATE, Memory(), NOON + LIMIT) == []
    assert not api.changes


def test_the_pods_of_other_nodes_open_nothing() -> None:
    api = FakeApi([_node()], [_pod("node-2", ready=True)])
    assert step(api, GATE, Memory(), NOON) == []


def test_a_pod_left_over_from_a_node_of_the_same_name_proves_nothing() -> None:
    older, going = _pod(ready=True), _pod(ready=True)
    older["metadata"]["creationTimestamp"] = "2026-11-21T11:59:59Z"
    going["metadata"]["deletionTimestamp"] = BORN
    api = FakeApi([_node()], [older, going])
    assert step(api, GATE, Memory(), NOON) == []
    assert api.changes == []


def test_a_proven_node_that_somebody_closed_again_is_never_given_back() -> None:
    node = _node()
    node["metadata"]["labels"]["eks-gpu.io/validated"] = "true"
    api = FakeApi([node], [])
    assert step(api, GATE, Memory(), NOON + 10 * LIMIT) == []
    assert api.changes == []


def test_n07_a_node_whose_change_is_refused_does_not_keep_the_others_closed() -> None:
    class Refuses(FakeApi):
        def call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
            if path.endswith("/node-1"):
                raise OSError("HTTP Error 422: Unprocessable Entity")
            return super().call(verb, path, body)

    api = Refuses([_node("node-1"), _node("node-2")], [_pod("node-1", ready=True), _pod("node-2", ready=True)])
    assert step(api, GATE, Memory(), NOON) == [
        "node-1: is tried again, the API server refused: HTTP Error 422: Unprocessable Entity",
        "node-2: opened, its GPUs are proven",
    ]
    assert [path for _, path, _ in api.changes] == ["/api/v1/nodes/node-2"]


def test_nodes_that_are_open_are_left_alone() -> None:
    api = FakeApi([_node(closed=False)], [_pod(ready=True)])
    assert step(api, GATE, Memory(), NOON + 2 * LIMIT) == []
    assert not api.changes


def test_g08_a_check_that_failed_twice_gives_the_node_back_and_says_what_it_said() -> None:
    api = FakeApi([_node()], [_pod(checks=(_check(BACK_OFF, restarts=1, last=ENDED),))])
    assert step(api, GATE, Memory(), SETTLED) == [
        "node-1: given back, device-count failed: device-count: FAIL expected 8 GPU devices, got 7"
    ]
    assert api.changes == [("DELETE", "/apis/karpenter.sh/v1/nodeclaims/node-1-claim", None)]


@pytest.mark.parametrize(
    "check",
    [
        _check(ENDED, restarts=0),
        _check(BACK_OFF, restarts=0, last=ENDED),
        _check({"running": {}}, restarts=1, last=ENDED),
        _check({"waiting": {"reason": "PodInitializing"}}, restarts=0),
        _check({"terminated": {"exitCode": 0}}, restarts=1, last=ENDED),
    ],
    ids=["failed once", "waits after the first time", "runs again", "has not begun", "passed the second time"],
)
def test_a_check_may_fail_once_because_the_node_has_just_started(check: dict[str, Any]) -> None:
    verdict, _ = judge(_node(), [_pod(checks=(check,))], SETTLED, LIMIT)
    assert verdict is Verdict.WAIT


def test_a_node_whose_nvswitch_is_still_being_configured_is_not_given_back() -> None:
    pods = [_pod(checks=(_check(BACK_OFF, restarts=3, last=ENDED),))]
    assert judge(_node(), pods, NOON + 180, LIMIT)[0] is Verdict.WAIT
    assert judge(_node(), pods, SETTLED, LIMIT)[0] is Verdict.REPLACE


def test_a_check_that_says_nothing_is_named_all_the_same() -> None:
    silent = _check({"terminated": {"exitCode": 137}}, restarts=1)
    assert judge(_node(), [_pod(checks=(silent,))], SETTLED, LIMIT) == (
        Verdict.REPLACE,
        "device-count failed: it said nothing",
    )


def test_n07_a_node_that_proves_nothing_in_time_is_given_back() -> None:
    assert judge(_node(), [], NOON + LIMIT + 1, LIMIT) == (
        Verdict.REPLACE,
        "its GPUs were not proven within 20 minutes",
    )
    assert judge(_node(), [], NOON + LIMIT - 1, LIMIT)[0] is Verdict.WAIT


def test_what_fails_again_and_again_is_not_given_back_without_end() -> None:
    nodes = [_node(f"node-{number}") for number in range(4)]
    api, memory = FakeApi(nodes, []), Memory()
    lines = step(api, GATE, memory, NOON + 2 * LIMIT)
    assert len(api.changes) == 2
    assert lines[2:] == [
        f"node-{number}: left closed, its GPUs were not proven within 20 minutes; "
        "2 of g5 went within the hour: look at it"
        for number in (2, 3)
    ]
    api.lists["nodes"] = nodes[2:]
    assert step(api, GATE, memory, NOON + 2 * LIMIT + 60) == [], "it complains once"
    step(api, GATE, memory, NOON + 2 * LIMIT + 3601)
    assert len(api.changes) == 4, "an hour later it may again"


def test_each_pool_has_an_hour_of_its_own() -> None:
    api = FakeApi([_node("a"), _node("b"), _node("c", pool="p4d")], [])
    step(api, Gate(**{**vars(GATE), "most_replacements": 1}), Memory(), NOON + 2 * LIMIT)
    assert [path.rpartition("/")[2] for _, path, _ in api.changes] == ["a-claim", "c-claim"]


def test_a_node_that_no_claim_owns_is_only_complained_about() -> None:
    api = FakeApi([_node(owned=False)], [])
    [line] = step(api, GATE, Memory(), NOON + 2 * LIMIT)
    assert "no claim owns it" in line
    assert not api.changes


def test_a_node_that_goes_already_is_not_counted() -> None:
    going = _node()
    going["metadata"]["deletionTimestamp"] = BORN
    memory = Memory()
    assert step(FakeApi([going], []), GATE, memory, NOON + 2 * LIMIT) == []
    assert not memory.replaced


def test_it_understands_what_the_deployment_tells_it() -> None:
    spec = deployment_spec(Validation(new_node_minutes=20, most_replacements_per_hour=2), program="p", account="a")
    [container] = spec["template"]["spec"]["containers"]
    assert gate_of({each["name"]: each["value"] for each in container["env"]}) == GATE


def test_it_shows_that_it_lives_only_while_the_api_server_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def call(self, verb: str, path: str, body: object = None) -> dict[str, Any]:
            del verb, path, body
            raise OSError("connection refused")

    alive = tmp_path / "alive"
    watch(Broken(), GATE, Memory(), alive)
    assert not alive.exists()
    assert "connection refused" in capsys.readouterr().out
    watch(FakeApi([_node()], [_pod(ready=True)]), GATE, Memory(), alive)
    assert alive.exists()
    assert capsys.readouterr().out == "node-1: opened, its GPUs are proven\n"


@contextmanager
def _server(answer: Mapping[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length)) if length else None
            asked.append({"verb": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
            text = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PATCH = do_DELETE = _answer  # noqa: N815 - as the standard library calls them

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_it_speaks_to_the_api_server_as_its_service_account(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    with _server({"items": []}) as (url, asked):
        api = InCluster(url, tmp_path)
        assert api.call("GET", "/api/v1/nodes?labelSelector=pool") == {"items": []}
        (tmp_path / "token").write_text("second\n")
        api.call("PATCH", "/api/v1/nodes/a", [{"op": "test"}])
    assert [each["headers"]["Authorization"] for each in asked] == ["Bearer first", "Bearer second"]
    assert asked[0]["path"] == "/api/v1/nodes?labelSelector=pool"
    assert asked[1]["headers"]["Content-Type"] == "application/json-patch+json"
    assert asked[1]["body"] == [{"op": "test"}]


def test_it_needs_nothing_but_python() -> None:
    source = Path(node_gate_program.__file__).read_text(encoding="utf-8")
    assert "eks_gpu" not in source
    assert "pulumi" not in source
