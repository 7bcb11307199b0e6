from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sandbox import aws
from sandbox.aws import Server
from sandbox.checkout import ROOT, Checkout
from sandbox.errors import SandboxError
from sandbox.inventory import Account
from sandbox.ports import HOST
from sandbox.processes import start_time


def test_a_port_is_reserved_and_known_before_anything_runs(checkout: Checkout) -> None:
    reserved = aws.reserve(checkout)

    assert aws.reserve(checkout) == reserved
    assert aws.running(checkout) is None
    assert reserved.url.startswith("http://127.0.0.1:")


def test_the_server_answers_at_the_reserved_port_keeps_state_and_stops(checkout: Checkout) -> None:
    reserved = aws.reserve(checkout)
    url = aws.endpoint()
    client = Account(url).client("sqs", "us-east-1")
    client.create_queue(QueueName="one")
    again = aws.start(checkout)

    assert url == again.url == reserved.url
    assert len(client.list_queues()["QueueUrls"]) == 1
    client.close()

    assert aws.stop(checkout)
    assert start_time(again.pid) == ""
    assert aws.running(checkout) is None
    assert not aws.stop(checkout)
    assert aws.reserve(checkout).port == reserved.port


def test_the_policies_aws_manages_are_there_to_be_attached(checkout: Checkout) -> None:
    url = aws.start(checkout).url
    client = Account(url).client("iam", "us-east-1")

    policy = client.get_policy(PolicyArn="arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")

    assert policy["Policy"]["PolicyName"] == "AmazonEKSWorkerNodePolicy"
    client.close()


def test_those_who_ask_at_the_same_time_get_one_server(checkout: Checkout) -> None:
    found: list[Server] = []
    askers = [threading.Thread(target=lambda: found.append(aws.start(checkout))) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert len(found) == 4
    assert len(set(found)) == 1


def test_a_server_that_another_command_works_with_is_not_stopped_in_passing(checkout: Checkout) -> None:
    server = aws.start(checkout, wait=False)
    with aws.in_use(checkout):
        with aws.in_use(checkout):
            assert server.alive
        aws.stop_unless_in_use(checkout)
        assert server.alive

    aws.stop_unless_in_use(checkout)

    assert not server.alive


def test_the_server_outlives_the_command_that_started_it(checkout: Checkout) -> None:
    script = "from sandbox import aws; print(aws.endpoint())"
    url = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    server = aws.running(checkout)

    assert server is not None
    assert server.url == url.strip()


def test_a_process_that_only_has_the_number_of_ours_is_not_stopped(checkout: Checkout) -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        record = {"port": 1, "pid": stranger.pid, "started": "some other time"}
        (checkout.directory / "aws.json").write_text(json.dumps(record))

        assert aws.running(checkout) is None
        assert not aws.stop(checkout)
        assert stranger.poll() is None
        stranger.kill()


def test_a_port_that_somebody_else_has_taken_is_left_to_them(checkout: Checkout) -> None:
    reserved = aws.reserve(checkout)
    with socket.socket() as other:
        other.bind((HOST, reserved.port))
        other.listen()

        assert aws.start(checkout).port != reserved.port


def test_a_damaged_record_is_replaced(checkout: Checkout) -> None:
    (checkout.directory / "aws.json").write_text('{"port": ')

    assert aws.reserve(checkout).port > 0


def test_a_server_that_does_not_start_shows_the_end_of_its_log(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho moto is broken >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", os.fspath(broken))

    with pytest.raises(SandboxError, match=r"did not start; its log is .*aws\.log\n    moto is broken"):
        aws.start(checkout)
