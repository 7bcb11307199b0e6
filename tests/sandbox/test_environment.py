from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from sandbox import environment
from sandbox.checkout import Checkout, user_cache

USERS_OWN = {
    "PATH": "/usr/bin",
    "HOME": "/home/somebody",
    "AWS_PROFILE": "production",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ENDPOINT_URL_S3": "https://example.org",
    "PULUMI_ACCESS_TOKEN": "real",
    "PULUMI_BACKEND_URL": "s3://production",
    "PULUMI_STACK": "prod",
    "KUBECONFIG": "/home/somebody/.kube/config",
    "LANG": "C.UTF-8",
}


@pytest.fixture
def built(checkout: Checkout) -> dict[str, str]:
    return environment.build(
        checkout, engine=Path("/tools"), aws_endpoint="http://127.0.0.1:1234", own_program=True, base=USERS_OWN
    )


def test_nothing_of_the_users_clouds_backends_and_clusters_gets_in(built: dict[str, str], checkout: Checkout) -> None:
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "PULUMI_ACCESS_TOKEN", "PULUMI_STACK"} & set(
        built
    )
    inside = str(checkout.directory)
    assert built["PULUMI_BACKEND_URL"] == f"file://{checkout.state}?metadata=skip"
    for name in ("KUBECONFIG", "PULUMI_HOME", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "EKS_GPU_SANDBOX_DIR"):
        assert built[name].startswith(inside), name


def test_everything_that_speaks_to_aws_speaks_to_the_stand_in(built: dict[str, str]) -> None:
    assert built["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1234"
    assert built["AWS_ACCESS_KEY_ID"] == "sandbox"
    assert built["AWS_REGION"] == built["AWS_DEFAULT_REGION"] == "us-east-1"
    assert built["AWS_EC2_METADATA_DISABLED"] == "true"


def test_the_engine_comes_first_on_path_and_asks_nobody_outside(built: dict[str, str]) -> None:
    assert built["PATH"] == "/tools:/usr/bin"
    assert built["LANG"] == "C.UTF-8"
    for name in ("SKIP_UPDATE_CHECK", "DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "IGNORE_AMBIENT_PLUGINS"):
        assert built[f"PULUMI_{name}"] == "true"


@pytest.mark.parametrize(("own", "expected"), [(True, "1"), (False, None)])
def test_only_our_own_program_is_kept_from_installing_what_it_needs(
    checkout: Checkout, own: bool, expected: str | None
) -> None:
    built = environment.build(
        checkout, engine=Path("/tools"), aws_endpoint="http://127.0.0.1:1", own_program=own, base=USERS_OWN
    )

    assert built.get("UV_OFFLINE") == expected
    assert built.get("UV_FROZEN") == expected


def test_a_foreign_program_does_not_see_our_virtual_environment_as_the_active_one(checkout: Checkout) -> None:
    ours, theirs = ({**USERS_OWN, "VIRTUAL_ENV": prefix} for prefix in (sys.prefix, "/home/somebody/venv"))

    def active(base: dict[str, str]) -> str | None:
        return environment.build(
            checkout, engine=Path("/t"), aws_endpoint="http://127.0.0.1:1", own_program=False, base=base
        ).get("VIRTUAL_ENV")

    assert active(ours) is None
    assert active(theirs) == "/home/somebody/venv"


def test_the_passphrase_is_random_kept_and_readable_by_its_owner_only(checkout: Checkout, tmp_path: Path) -> None:
    other = Checkout(tmp_path / "other")
    other.prepare()

    def passphrase(where: Checkout) -> str:
        return environment.build(where, engine=Path("/t"), aws_endpoint="http://127.0.0.1:1", own_program=True)[
            "PULUMI_CONFIG_PASSPHRASE"
        ]

    assert passphrase(checkout) == passphrase(checkout)
    assert len(passphrase(checkout)) == 64
    assert passphrase(checkout) != passphrase(other)
    assert stat.S_IMODE(checkout.passphrase.stat().st_mode) == 0o600
    assert stat.S_IMODE(checkout.directory.stat().st_mode) == 0o700


@pytest.mark.parametrize(("given", "expected"), [("/var/cache/me", "/var/cache/me"), ("", None), ("relative", None)])
def test_the_cache_of_built_tools_is_where_the_user_keeps_caches(
    monkeypatch: pytest.MonkeyPatch, given: str, expected: str | None
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", given)

    assert user_cache() == Path(expected or Path.home() / ".cache") / "eks-gpu-sandbox"
