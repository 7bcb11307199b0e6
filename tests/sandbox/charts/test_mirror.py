"""The chart mirror, asked by Python's own client; the provider's Helm asks it in tests/e2e/charts."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import ssl
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from eks_gpu.facts.versions import CHARTS, KARPENTER, NVIDIA_DEVICE_PLUGIN, Chart
from sandbox.charts import address, identity, mirror
from sandbox.checkout import ROOT, Checkout
from sandbox.errors import SandboxError
from tests.sandbox.charts.conftest import Client, link

WEB = [chart for chart in CHARTS.values() if not chart.is_oci]
REGISTRY = [chart for chart in CHARTS.values() if chart.is_oci]


def name_of(chart: Chart) -> str:
    return chart.name


def chart_file(packed: bytes) -> dict[str, Any]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        (name,) = [each for each in archive.getnames() if each.count("/") == 1 and each.endswith("/Chart.yaml")]
        content = archive.extractfile(name)
        assert content is not None
        found: dict[str, Any] = yaml.safe_load(content.read())
        return found


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def test_it_says_that_it_is_up(client: Client) -> None:
    assert client.plain("GET", address.HEALTH_PATH).status == 200
    assert address.proxy_url(client.checkout) == address.url(client.port)


@pytest.mark.parametrize("chart", WEB, ids=name_of)
def test_a_repository_on_the_web_has_an_index_and_the_chart_it_names(client: Client, chart: Chart) -> None:
    place = urlsplit(chart.repository)
    index = yaml.safe_load(client.get(place.netloc, f"{place.path}/index.yaml").body)
    (entry,) = index["entries"][chart.name]
    assert entry["version"] == chart.version
    packed = client.get(place.netloc, f"{place.path}/{entry['urls'][0]}")
    assert packed.status == 200
    assert digest(packed.body) == f"sha256:{entry['digest']}"
    assert chart_file(packed.body).items() >= {"name": chart.name, "version": chart.version}.items()


@pytest.mark.parametrize("chart", REGISTRY, ids=name_of)
def test_a_registry_gives_a_chart_by_tag_and_everything_in_it_by_digest(client: Client, chart: Chart) -> None:
    place = urlsplit(chart.repository)
    root = f"/v2{place.path}/{chart.name}"
    assert client.get(place.netloc, "/v2/").status == 200
    assert json.loads(client.get(place.netloc, f"{root}/tags/list").body)["tags"] == [chart.version]
    by_tag = client.get(place.netloc, f"{root}/manifests/{chart.version}")
    assert by_tag.media_type == "application/vnd.oci.image.manifest.v1+json"
    assert client.get(place.netloc, f"{root}/manifests/{digest(by_tag.body)}") == by_tag
    manifest = json.loads(by_tag.body)
    (layer,) = manifest["layers"]
    for described in (manifest["config"], layer):
        blob = client.get(place.netloc, f"{root}/blobs/{described['digest']}")
        assert (digest(blob.body), len(blob.body)) == (described["digest"], described["size"])
    assert layer["mediaType"] == "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
    assert chart_file(blob.body).items() >= {"name": chart.name, "version": chart.version}.items()


def test_a_head_request_is_answered_without_a_body(client: Client) -> None:
    path = f"/v2/karpenter/{KARPENTER.name}/manifests/{KARPENTER.version}"
    answer = client.get("public.ecr.aws", path, verb="HEAD")
    assert (answer.status, answer.body) == (200, b"")


def test_a_version_it_does_not_have_is_not_found_and_the_answer_says_what_there_is(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = client.get("public.ecr.aws", f"/v2/karpenter/{KARPENTER.name}/manifests/9.9.9")
    assert answer.status == 404
    (error,) = json.loads(answer.body)["errors"]
    assert "9.9.9" in error["message"]
    assert f"{KARPENTER.name} {KARPENTER.version}" in error["message"]
    assert "9.9.9" in capsys.readouterr().out


def test_a_file_it_does_not_have_is_not_found(client: Client) -> None:
    place = urlsplit(NVIDIA_DEVICE_PLUGIN.repository)
    answer = client.get(place.netloc, f"{place.path}/{NVIDIA_DEVICE_PLUGIN.name}-9.9.9.tgz")
    assert answer.status == 404
    assert f"{NVIDIA_DEVICE_PLUGIN.name}-9.9.9.tgz" in answer.reason


@pytest.mark.parametrize("target", ["charts.example.com:443", "nvidia.github.io:80", "127.0.0.1:443", "nonsense"])
def test_a_tunnel_to_anything_else_is_refused_and_the_refusal_says_why(
    client: Client, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    answer = client.plain("CONNECT", target)
    assert answer.status == 403
    # Go's clients show the reason, and nothing of the body.
    for told in (answer.reason, answer.body.decode(), capsys.readouterr().out):
        assert "the sandbox has no network" in told
        assert target in told
        assert all(f"{chart.name} {chart.version}" in told for chart in CHARTS.values())


def test_what_is_not_encrypted_is_refused(client: Client) -> None:
    assert client.plain("GET", f"{NVIDIA_DEVICE_PLUGIN.repository}/index.yaml").status == 403


def test_who_does_not_know_the_authority_does_not_trust_it(client: Client) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        client.get("public.ecr.aws", "/v2/", trusting=ssl.create_default_context())
    # The connection that was given up is not the mirror's end.
    assert client.get("public.ecr.aws", "/v2/").status == 200


def test_its_key_can_be_read_by_its_owner_only_and_the_authoritys_is_kept_nowhere(client: Client) -> None:
    folder = address.folder(client.checkout)
    secret = [path for path in folder.iterdir() if path.is_file() and "PRIVATE KEY" in path.read_text()]
    assert [path.name for path in secret] == ["hosts.pem"]
    assert {path.stat().st_mode & 0o777 for path in (*secret, address.ca_file(client.checkout))} == {0o600}


def test_the_authority_stays_until_the_hosts_are_others(checkout: Checkout) -> None:
    address.folder(checkout).mkdir()
    made = []
    for hosts in (("a.example",), ("a.example",), ("a.example", "b.example")):
        identity.server_context(checkout, hosts)
        made.append(address.ca_file(checkout).read_text())
    assert made[0] == made[1] != made[2]


def test_a_port_that_is_taken_is_said_in_words(client: Client) -> None:
    with pytest.raises(SandboxError, match=f"cannot listen at port {client.port} "):
        mirror.open_for(client.checkout, client.port)


def test_where_no_mirror_was_ever_started_its_address_is_not_known(checkout: Checkout) -> None:
    with pytest.raises(SandboxError, match="never started"):
        address.proxy_url(checkout)


def test_as_a_program_it_serves_until_it_is_told_to_end(checkout: Checkout, packed: Path) -> None:
    link(checkout, packed)
    command = [sys.executable, "-m", "sandbox.charts", "--directory", str(checkout.directory), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as program:
        assert program.stdout is not None
        said = program.stdout.readline()
        port = int(address.proxy_url(checkout).rpartition(":")[2])
        try:
            assert f"charts at {address.url(port)}: karpenter {KARPENTER.version}" in said
            assert Client(checkout, port).get("public.ecr.aws", "/v2/").status == 200
        finally:
            program.send_signal(signal.SIGTERM)
        assert program.wait(30) == 0
