"""WORK008: model servers read from a cache.

A volume that goes with the pod (``emptyDir``, a generic ephemeral volume) is no cache: a new pod downloads again. An
init container that downloads into one makes the same mistake in another place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.images import GB
from eks_gpu.planning.model_source import Cache, Model, bytes_to_read, cache_of, fetches_from_hub, model_of, mount_over
from eks_gpu.planning.pod_template import Container, Mount, PodTemplate
from eks_gpu.planning.reading import attempt, need
from eks_gpu_policies import examples
from eks_gpu_policies.readers.start_up import GO_WITH_THE_POD, pod_only
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, Undecided, clauses
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import INFERENCE_PODS


def _check(pod: PodTemplate, _stack: Stack) -> Iterator[Outcome]:
    yield from clauses(
        *(_server(pod, container) for container in pod.gpu_containers),
        *(_fetcher(pod, container) for container in need(pod.init_containers)),
    )


def _server(pod: PodTemplate, container: Container) -> Iterator[Outcome]:
    """Judge a container that loads a model: what it fetches must be kept."""
    if not fetches_from_hub(container):
        return
    cache = cache_of(container)
    mount = mount_over(container, cache.path)
    if mount is not None and not pod_only(pod, mount):
        return
    if cache.assumed and container.place["envFrom"].items() and _kept(pod, container):
        yield Undecided(f"{container.place.path}.envFrom", "it may say where downloads go")
        return
    yield Problem(f"container {container.name} downloads {_what(pod, container)}: {_where(pod, cache, mount)}")


def _fetcher(pod: PodTemplate, container: Container) -> Iterator[Outcome]:
    """Judge an init container that fetches the model for the others: any volume that stays will do."""
    if fetches_from_hub(container) and not _kept(pod, container):
        yield Problem(
            f"init container {container.name} downloads {_what(pod, container)}: "
            "it mounts nothing that outlives the pod"
        )


def _kept(pod: PodTemplate, container: Container) -> bool:
    return any(not pod_only(pod, mount) for mount in need(container.mounts))


def _what(pod: PodTemplate, container: Container) -> str:
    model = attempt(model_of, container)
    size = attempt(bytes_to_read, pod, container)
    name = model.name if isinstance(model, Model) else "its model"
    return f"{name} ({size / GB:.3g} GB) at every start" if isinstance(size, int) else f"{name} at every start"


def _where(pod: PodTemplate, cache: Cache, mount: Mount | None) -> str:
    if mount is None:
        return f"{cache.path} is in the container itself, and goes with it"
    volume = pod.volume(mount.volume)
    kinds = [kind for kind in GO_WITH_THE_POD if volume is not None and volume.place[kind].exists]
    return f"{cache.path} is on the volume {mount.volume} ({', '.join(kinds)}), which goes with the pod"


_MODEL: Final = ["--model", "meta-llama/Llama-3.1-70B-Instruct"]
RULE: Final = Rule(
    id="WORK008",
    title="Model servers read from a cache",
    severity=Severity.HIGH,
    why=(
        "Without a cache every restart downloads the whole model again: minutes to hours in which the GPU is paid and "
        "serves nothing, once for each pod, and not at all on the day the hub is down or limits its rate."
    ),
    fix=(
        "mount a claim on a shared file system where the server keeps downloads (HF_HOME, HF_HUB_CACHE or "
        "--download-dir), or serve from a folder on it with HF_HUB_OFFLINE=1, as VllmServer does with ModelCache"
    ),
    lessons=("W05",),
    scope=Scope.RESOURCE,
    looks_at=INFERENCE_PODS,
    check=_check,
    failing=Example((examples.deployment(examples.container(args=_MODEL)),)),
    passing=Example((examples.on_cache({"args": _MODEL}),)),
)
