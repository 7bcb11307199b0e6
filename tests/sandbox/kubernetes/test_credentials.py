from __future__ import annotations

import base64
import json

import pytest

from sandbox.checkout import Checkout
from sandbox.kubernetes import credentials, layout

ENDPOINT = "https://127.0.0.1:20001"


@pytest.fixture
def prepared(checkout: Checkout) -> Checkout:
    layout.prepare(checkout)
    credentials.prepare(checkout, ENDPOINT)
    return checkout


def test_secrets_are_random_and_stay_the_same(prepared: Checkout, checkout: Checkout) -> None:
    before = {path.name: path.read_text() for path in layout.credentials(prepared).iterdir()}

    credentials.prepare(prepared, ENDPOINT)

    assert {path.name: path.read_text() for path in layout.credentials(prepared).iterdir()} == before
    tokens = {credentials.token(checkout, user) for user in (credentials.OWNER, credentials.KWOK)}
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 40


def test_only_their_owner_can_read_them(prepared: Checkout) -> None:
    files = [layout.kubeconfig(prepared), *layout.credentials(prepared).iterdir()]

    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert layout.credentials(prepared).stat().st_mode & 0o777 == 0o700


def test_a_kubeconfig_follows_the_endpoint_and_keeps_the_token(prepared: Checkout) -> None:
    credentials.prepare(prepared, "https://127.0.0.1:20002")

    config = json.loads(layout.kubeconfig(prepared).read_text())
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:20002"
    assert config["users"][0]["user"]["token"] == credentials.token(prepared)
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])
    assert authority == credentials.authority(prepared).read_bytes()


def test_parts_of_kubernetes_are_no_administrators(prepared: Checkout) -> None:
    lines = (layout.credentials(prepared) / "tokens.csv").read_text().splitlines()
    groups = {fields[1]: fields[3:] for fields in (line.split(",") for line in lines)}

    assert groups["system:kube-scheduler"] == groups["system:kube-controller-manager"] == []
    assert groups["eks-gpu-sandbox"] == ["system:masters"]


def test_no_key_of_the_authority_is_kept(prepared: Checkout) -> None:
    assert sorted(path.stem for path in layout.credentials(prepared).glob("*.key")) == [
        "etcd-client",
        "service-account",
        "serving",
    ]


def test_an_unknown_user_has_no_token(prepared: Checkout) -> None:
    with pytest.raises(KeyError, match="stranger"):
        credentials.token(prepared, "stranger")
