from __future__ import annotations

import pytest
from pydantic import ValidationError

from eks_gpu.settings.monitoring import BundledPrometheus, ExistingPrometheus, Monitoring


def test_defaults_bundle_a_prometheus_that_nobody_reaches_from_outside() -> None:
    assert Monitoring().prometheus == BundledPrometheus()
    assert BundledPrometheus().grafana_admin_secret is None


@pytest.mark.parametrize(("word", "kind"), [("bundled", BundledPrometheus), ("existing", ExistingPrometheus)])
def test_one_word_is_enough(word: str, kind: type) -> None:
    assert isinstance(Monitoring.model_validate({"prometheus": word}).prometheus, kind)


def test_a_misspelt_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"'bundeld' .* expected tags: 'bundled', 'existing'"):
        Monitoring.model_validate({"prometheus": "bundeld"})


def test_an_existing_prometheus_has_no_volume_of_ours() -> None:
    with pytest.raises(ValidationError, match=r"(?s)retention_days.*Extra inputs are not permitted"):
        Monitoring.model_validate({"prometheus": {"kind": "existing", "retention_days": 3}})


def test_m03_the_critical_temperature_is_above_the_warning() -> None:
    with pytest.raises(
        ValidationError, match=r"temperature_critical_celsius is 85, which is not above .* raise the one"
    ):
        Monitoring.model_validate({"alerts": {"temperature_critical_celsius": 85}})


def test_m05_underused_is_more_than_idle() -> None:
    with pytest.raises(ValidationError, match=r"low_utilisation_ratio is 0\.02, which is not above .*\(0\.05\)"):
        Monitoring.model_validate({"alerts": {"low_utilisation_ratio": 0.02}})


def test_m04_a_container_prefix_cannot_break_out_of_the_query() -> None:
    with pytest.raises(ValidationError, match="preallocating_containers"):
        Monitoring.model_validate({"alerts": {"preallocating_containers": ['x"} or vector(1) #']}})


def test_the_schema_offers_the_word_and_the_block() -> None:
    choices = Monitoring.model_json_schema()["properties"]["prometheus"]["anyOf"]
    assert {"bundled", "existing"} in [set(choice.get("enum", ())) for choice in choices]
