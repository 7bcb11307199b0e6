"""Parts in the place of the real ones: programs of a few lines, so that every way to fail can be tried in no time."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.kubernetes import control_plane, credentials, failures, layout, records, starting, usage, watch
from sandbox.kubernetes.parts import Part
from sandbox.ports import HOST, free
from sandbox.processes import end, start_time
from tests.support.cluster import eventually

_SERVER = """
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ready = self.path != "/never"
        self.send_response(200 if ready else 500)
        self.end_headers()
        self.wfile.write(b"ok" if ready else b"[+]one ok\\n[-]two failed\\n")
    def log_message(self, *arguments):
        pass
http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"""

Make = Callable[..., Part]


@pytest.fixture
def own(checkout: Checkout) -> Iterator[Checkout]:
    """Give a test a sandbox with its credentials; whatever part runs in it at the end is stopped."""
    layout.prepare(checkout)
    credentials.prepare(checkout, "https://127.0.0.1:1")
    yield checkout
    control_plane.stop(checkout)


@pytest.fixture
def server() -> Make:
    """Make parts that answer."""

    def make(name: str = "one", *, path: str = "/healthz", after: tuple[str, ...] = (), argument: str = "") -> Part:
        port = free()
        command = (sys.executable, "-c", _SERVER, HOST, str(port), argument)
        return Part(name=name, command=command, health=(f"http://{HOST}:{port}{path}",), ports=(), after=after)

    return make


@pytest.fixture
def script() -> Callable[[str], Part]:
    """Make parts that run a few words of shell, and never answer."""

    def make(text: str) -> Part:
        health = (f"http://{HOST}:{free()}/healthz",)
        return Part(name="broken", command=("/bin/sh", "-c", text), health=health, ports=())

    return make


def test_what_needs_another_part_is_started_after_it(own: Checkout, server: Make) -> None:
    second, first = server("second", after=("first",)), server("first")

    ready = starting.bring_up(own, (second, first))

    assert list(ready) == ["first", "second"]
    assert [record.name for record in records.read_all(own)] == ["second", "first"]


def test_what_runs_already_is_left_alone(own: Checkout, server: Make) -> None:
    part = server()
    starting.bring_up(own, (part,))
    before = records.read(own, "one")

    starting.bring_up(own, (part,))

    assert records.read(own, "one") == before


def test_what_was_started_otherwise_is_started_anew(own: Checkout, server: Make) -> None:
    starting.bring_up(own, (server(),))
    before = records.read(own, "one")
    assert before is not None

    starting.bring_up(own, (server(argument="now otherwise"),))

    after = records.read(own, "one")
    assert after is not None
    assert after.pid != before.pid
    assert not before.alive


def test_what_has_ended_is_started_again_and_that_is_said(
    own: Checkout, server: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = server("one"), server("two")
    starting.bring_up(own, (one, two))
    before = records.read(own, "one")
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    eventually(lambda: not before.alive, "its end")

    starting.bring_up(own, (one, two))

    log = layout.log(own, "one")
    assert capsys.readouterr().err == f"one had ended by itself, and is started again; its log is {log}\n"


def test_that_everything_has_ended_is_no_news(own: Checkout, server: Make, capsys: pytest.CaptureFixture[str]) -> None:
    part = server()
    starting.bring_up(own, (part,))
    before = records.read(own, "one")
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    eventually(lambda: not before.alive, "its end")

    starting.bring_up(own, (part,))

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "reason", "shown"),
    [
        ("echo it broke; exit 3", " with exit code 3", ["it broke"]),
        (
            "echo 'write: no space left on device'; exit 1",
            " with exit code 1: the disk is full; free some space, and run again",
            ["write: no space left on device"],
        ),
        (
            "echo 'listen tcp 127.0.0.1:1: bind: address already in use'; exit 1",
            " with exit code 1: its port was taken by another program this moment; run again",
            ["listen tcp 127.0.0.1:1: bind: address already in use"],
        ),
        (
            "echo 'etcdserver: mvcc: database space exceeded'; exit 1",
            " with exit code 1: its database is full; `make clean-sandbox` begins with an empty one",
            ["etcdserver: mvcc: database space exceeded"],
        ),
        (
            "echo 'panic: no way'; for i in 1 2 3 4 5 6 7; do echo frame $i; done; exit 2",
            " with exit code 2",
            ["panic: no way", "frame 3", "frame 4", "frame 5", "frame 6", "frame 7"],
        ),
    ],
    ids=["alone", "disk", "port", "database", "stack trace"],
)
def test_a_part_that_ends_is_named_with_its_reason_its_log_and_what_it_said_last(
    own: Checkout, script: Callable[[str], Part], text: str, reason: str, shown: list[str]
) -> None:
    with pytest.raises(SandboxError) as refused:
        starting.bring_up(own, (script(text),))

    first, *rest = str(refused.value).splitlines()
    assert first == f"broken ended{reason}; its log is {layout.log(own, 'broken')}"
    assert rest == [f"    {line}" for line in shown]


def test_a_part_that_has_ended_since_is_told_of_when_asked(own: Checkout, server: Make) -> None:
    starting.bring_up(own, (server("one"), server("two")))
    control_plane.check(own)
    record = records.read(own, "two")
    assert record is not None
    os.kill(record.pid, signal.SIGKILL)
    eventually(lambda: not record.alive, "its end")

    with pytest.raises(SandboxError, match=r"^two ended by SIGKILL: somebody killed it, or the system did for want"):
        control_plane.check(own)


def test_nothing_outlives_the_folder_of_its_sandbox(own: Checkout, server: Make) -> None:
    starting.bring_up(own, (server("one"), server("two")))
    known = records.read_all(own)
    folder = watch.Folder(own)
    assert folder.is_there()

    shutil.rmtree(own.directory)

    assert not folder.is_there()
    folder.end_the_others(but=known[0].pid)
    assert [record.alive for record in known] == [True, False]
    end(known[0].pid, known[0].started)


def test_a_disk_that_is_full_is_to_blame_though_no_log_could_be_written(
    own: Checkout, script: Callable[[str], Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "free_bytes", lambda _: 0)

    with pytest.raises(SandboxError, match=r"^broken ended with exit code 1: the disk is full; free some space, and"):
        starting.bring_up(own, (script("exit 1"),))


def test_a_killed_part_may_be_for_want_of_memory(own: Checkout, script: Callable[[str], Part]) -> None:
    with pytest.raises(SandboxError, match=r"^broken ended by SIGKILL: somebody killed it, or the system did for want"):
        starting.bring_up(own, (script("kill -9 $$"),))


def test_only_what_was_said_since_the_last_start_is_shown(own: Checkout, script: Callable[[str], Part]) -> None:
    layout.log(own, "broken").write_text("no space left on device\n")

    with pytest.raises(SandboxError) as refused:
        starting.bring_up(own, (script("echo something else; exit 1"),))

    assert str(refused.value).endswith("exit code 1; its log is " + f"{layout.log(own, 'broken')}\n    something else")


def test_a_part_that_never_gets_ready_says_what_it_lacks_and_can_be_stopped(
    own: Checkout, server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "DEADLINE_SECONDS", 0.5)
    part = server(path="/never")
    other = Part(name="mute", command=("/bin/sleep", "60"), health=part.health, ports=())

    with pytest.raises(
        SandboxError, match=r"^mute is not ready after \d+ s \(it does not answer\): the machine may be"
    ):
        starting.bring_up(own, (other,))
    monkeypatch.setattr(starting, "DEADLINE_SECONDS", 2.0)
    with pytest.raises(SandboxError, match=r"^one is not ready after \d+ s \(\[-\]two failed\): the machine may be"):
        starting.bring_up(own, (part,))

    pids = [record.pid for record in records.read_all(own)]
    assert len(pids) == 2
    assert control_plane.stop(own)
    assert not any(start_time(pid) for pid in pids)


def test_a_stranger_that_answers_at_the_port_of_a_part_is_not_taken_for_it(
    own: Checkout, server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "DEADLINE_SECONDS", 0.5)
    stranger = server("stranger")
    starting.bring_up(own, (stranger,))
    pid = next(record.pid for record in records.read_all(own))
    mute = Part(name="mute", command=("/bin/sleep", "60"), health=stranger.health, ports=())

    with pytest.raises(SandboxError, match=rf"^mute is not ready after \d+ s \(process {pid} answers at its port\)"):
        starting.bring_up(own, (stranger, mute))


def test_a_long_start_is_announced(
    own: Checkout, server: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(starting, "QUIET_SECONDS", 0.0)
    starting.bring_up(own, (server("one"), server("two", after=("one",))))

    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == "starting Kubernetes, which takes about ten seconds; not ready yet: one, two"
    assert last.startswith("Kubernetes is ready after ")


def test_what_a_part_has_started_goes_with_it(own: Checkout, tmp_path: Path) -> None:
    child = tmp_path / "child"
    text = f"/bin/sleep 300 & echo $! > {child}.part; mv {child}.part {child}; kill -9 $$"
    part = Part(name="parent", command=("/bin/sh", "-c", text), health=(), ports=())
    record = records.spawn(own, part)
    eventually(lambda: child.exists() and not record.alive, "the end of the parent")
    pid = int(child.read_text())
    assert start_time(pid)

    control_plane.stop(own)

    eventually(lambda: not start_time(pid), "the end of the child")


def test_a_record_of_a_stranger_ends_nobody(own: Checkout) -> None:
    record = f'{{"name": "one", "pid": {os.getpid()}, "started": "1", "digest": "", "log_offset": 0}}'
    (layout.records(own) / "one.json").write_text(record)

    assert not control_plane.stop(own)
    assert records.read_all(own) == []


def test_a_damaged_record_counts_for_nothing(own: Checkout) -> None:
    (layout.records(own) / "one.json").write_text('{"name": ')

    assert records.read(own, "one") is None
    assert not control_plane.stop(own)


def test_a_long_log_is_set_aside(own: Checkout, server: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LOG_BYTES", 10)
    layout.log(own, "one").write_text("more than ten bytes\n")

    starting.bring_up(own, (server(),))

    assert layout.log(own, "one").with_suffix(".log.1").read_text() == "more than ten bytes\n"


def test_parts_are_told_nothing_of_other_clusters_clouds_and_proxies(
    own: Checkout, server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KUBECONFIG", "AWS_PROFILE", "HTTPS_PROXY", "https_proxy", "ETCD_NAME", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.setenv(name, "of somebody else")
    starting.bring_up(own, (server(),))
    record = records.read(own, "one")
    assert record is not None

    environment = Path(f"/proc/{record.pid}/environ").read_bytes()

    assert b"of somebody else" not in environment
    assert f"EKS_GPU_SANDBOX_DIR={own.directory}".encode() in environment.split(b"\0")


def test_memory_is_told_per_process(own: Checkout, server: Make) -> None:
    starting.bring_up(own, (server(),))

    (one,) = usage.of(own)

    assert one.part == "one"
    assert one.peak_bytes >= one.resident_bytes > 0
    assert usage.total_bytes([one]) == one.resident_bytes
    assert f"process {one.pid}" in str(one)


def test_two_who_start_at_once_get_the_same_parts(own: Checkout, server: Make) -> None:
    part = server()
    first = records.spawn(own, part)
    found: list[records.Record | None] = []

    def ask() -> None:
        starting.bring_up(own, (part,))
        found.append(records.read(own, "one"))

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert found == [first] * 3
