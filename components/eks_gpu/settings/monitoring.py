"""What is watched, by whose Prometheus, and when people are told."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from eks_gpu.settings.block import Block

Ratio = Annotated[float, Field(gt=0, lt=1)]
Minutes = Annotated[int, Field(ge=1, le=24 * 60)]
Celsius = Annotated[int, Field(ge=40, le=110)]
ContainerPrefix = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class PrometheusVolume(Block):
    """The disk on which the bundled Prometheus keeps its samples."""

    storage_class: str = Field(min_length=1)
    """StorageClass of the volume, such as ``gp3``, which a new cluster has. No default: a class that does not exist
    leaves Prometheus pending for ever."""

    size_gib: int = Field(default=50, ge=10, le=16384)
    """Size of the volume. Default 50: two weeks of a few hundred GPUs at 30 s."""


class BundledPrometheus(Block):
    """A Prometheus of ours: kube-prometheus-stack with its operator, Alertmanager and kube-state-metrics."""

    kind: Literal["bundled"] = "bundled"
    """``bundled``."""

    retention_days: int = Field(default=15, ge=1, le=400)
    """How long samples are kept, as far as four fifths of the disk can hold them."""

    volume: PrometheusVolume | None = None
    """Default: none, samples are lost when the pod moves, and only the newest 8 GiB of them are kept. Alerts go on;
    history and hour-long windows start again."""

    grafana_admin_secret: str | None = Field(default=None, min_length=1)
    """Secret in the monitoring namespace with ``admin-user`` and ``admin-password``. Default: no Grafana."""

    alertmanager_config_secret: str | None = Field(default=None, min_length=1)
    """Secret in the monitoring namespace with ``alertmanager.yaml``. Default: alerts are shown, nobody is told."""


class ExistingPrometheus(Block):
    """A Prometheus that is there already, run by a prometheus-operator and fed by a kube-state-metrics."""

    kind: Literal["existing"] = "existing"
    """``existing``."""

    selector_labels: dict[str, str] = Field(default_factory=dict)
    """Labels by which it selects ServiceMonitors and PrometheusRules, such as ``release: kube-prometheus-stack``."""


def _from_word(value: object) -> object:
    """Let ``prometheus: bundled`` stand for ``prometheus: {kind: bundled}``."""
    return {"kind": value} if isinstance(value, str) else value


Prometheus = Annotated[
    Annotated[BundledPrometheus | ExistingPrometheus, Field(discriminator="kind")],
    BeforeValidator(
        _from_word,
        json_schema_input_type=BundledPrometheus | ExistingPrometheus | Literal["bundled", "existing"],
    ),
]


class AlertThresholds(Block):
    """When an alert fires. The defaults are judgement from running GPUs, not limits of the vendor."""

    temperature_warning_celsius: Celsius = 85
    """Warning above this for ``temperature_warning_minutes``."""

    temperature_warning_minutes: Minutes = 5
    """How long a GPU must be hot before the warning."""

    temperature_critical_celsius: Celsius = 90
    """Critical above this for a minute; above the warning's temperature."""

    memory_used_ratio: Ratio = 0.95
    """Used part of the GPU's memory above which it counts as nearly full."""

    memory_minutes: Minutes = 10
    """How long the memory must be nearly full."""

    preallocating_containers: tuple[ContainerPrefix, ...] = ("vllm",)
    """Beginnings of names of containers that fill the memory by design; full memory is only information there."""

    idle_utilisation_ratio: Ratio = 0.05
    """A GPU that works less than this part of the time is idle."""

    low_utilisation_ratio: Ratio = 0.10
    """A GPU that is not idle but works less than this is underused."""

    idle_after_minutes: Minutes = 60
    """How long a GPU must be idle or underused before anyone is told."""

    pod_pending_minutes: Minutes = 15
    """How long a pod may wait for a GPU: a node boots in three minutes, and a large image takes some more."""

    single_bit_errors_per_hour: int = Field(default=100, ge=1)
    """Corrected memory errors within an hour that predict a failure."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.temperature_critical_celsius <= self.temperature_warning_celsius:
            raise ValueError(
                f"temperature_critical_celsius is {self.temperature_critical_celsius}, which is not above "
                f"temperature_warning_celsius ({self.temperature_warning_celsius}); raise the one or lower the other"
            )
        if self.low_utilisation_ratio <= self.idle_utilisation_ratio:
            raise ValueError(
                f"low_utilisation_ratio is {self.low_utilisation_ratio}, which is not above idle_utilisation_ratio "
                f"({self.idle_utilisation_ratio}); raise the one or lower the other"
            )
        return self


class Monitoring(Block):
    """GPU metrics, alerts and runbooks."""

    prometheus: Prometheus = Field(default_factory=BundledPrometheus)
    """``bundled`` (default) installs one; ``existing`` hands the scrape and the rules to the one that is there."""

    alerts: AlertThresholds = Field(default_factory=AlertThresholds)
    """Thresholds of the alerts."""

    chart_source: str | None = Field(default=None, pattern=r"^(https|oci)://[^\s/]\S*[^\s/]$")
    """Mirror that holds the charts: an ``https://`` repository or an ``oci://`` prefix. Default: the public ones."""

    runbook_base_url: str | None = Field(default=None, pattern=r"^https://.*[^/]$")
    """Where the runbooks are published, for links in alerts. Default: alerts name the ConfigMap that holds them."""
