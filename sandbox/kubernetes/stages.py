"""What happens to pretended nodes and pods by itself: the configuration of kwok.

Stands in for kubelets: nodes become ready and send heartbeats, pods start at once, pods of Jobs complete, deleted pods
go. It does not prove that an image exists, that a probe would succeed, that anything fits a disk, or how long anything
takes. The stages are those of kwok's own module, as it is pinned, with the changes below; each must find its place
exactly once, so that a new version of kwok cannot drop one in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eks_gpu.facts import resources
from sandbox.errors import SandboxError

FAIL_ANNOTATION: Final = "eks-gpu-sandbox/fail"
"""Annotation of a pod that is never to become ready, if its value is ``true``: its containers crash, again and again.
The pod of a Job fails. For tests of what happens when something that was installed does not start."""

MANAGED_ANNOTATION: Final = "kwok.x-k8s.io/node"
MANAGED: Final = "fake"
"""Nodes with this annotation are managed by kwok; the kwok cloud of Karpenter sets it, too."""

NODE_INITIALIZE: Final = "node/fast/node-initialize"
_POD_READY: Final = "pod/fast/pod-ready"
_POD_COMPLETE: Final = "pod/fast/pod-complete"
_FOLDER: Final = Path("kustomize", "stage")
_FILES: Final = (
    NODE_INITIALIZE,
    "node/heartbeat-with-lease/node-heartbeat-with-lease",
    _POD_READY,
    _POD_COMPLETE,
    "pod/fast/pod-delete",
)

WITHHELD: Final = (resources.GPU, resources.EFA)
"""What a node has only when the device plugin on it says so. Karpenter's kwok cloud would give it at once."""

_OMIT: Final = " ".join(f'"{name}"' for name in WITHHELD)
_NULLS: Final = "".join(f"        {name}: null\n" for name in WITHHELD)
_WORKS: Final = f"""\
    - key: '.metadata.annotations["{FAIL_ANNOTATION}"]'
      operator: 'NotIn'
      values:
      - 'true'
"""


def _resources(name: str) -> tuple[str, str]:
    """Return the change that leaves out what is withheld from one of a node's two lists of resources."""
    old = f"      {name}:\n      {{{{ with .status.{name} }}}}\n      {{{{ YAML . 1 }}}}\n"
    new = f"      {name}:\n{_NULLS}      {{{{ with .status.{name} }}}}\n      {{{{ YAML (omit . {_OMIT}) 1 }}}}\n"
    return old, new


def _only_if_it_works(last_expression: str) -> tuple[str, str]:
    return last_expression, last_expression + _WORKS


_CHANGES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = MappingProxyType(
    {
        NODE_INITIALIZE: (_resources("allocatable"), _resources("capacity")),
        _POD_READY: (
            _only_if_it_works(
                "    - key: '.status.conditions.[] | select( .type == \"Ready\" ) | .status'\n"
                "      operator: 'NotIn'\n      values:\n      - 'True'\n"
            ),
        ),
        _POD_COMPLETE: (
            _only_if_it_works(
                "    - key: '.metadata.ownerReferences.[].kind'\n      operator: 'In'\n      values:\n      - 'Job'\n"
            ),
        ),
    }
)

_POD_FAILS: Final = f"""\
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-fails
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'DoesNotExist'
    - key: '.metadata.annotations["{FAIL_ANNOTATION}"]'
      operator: 'In'
      values:
      - 'true'
    - key: '.status.phase'
      operator: 'In'
      values:
      - 'Pending'
  next:
    statusTemplate: |
      {{{{ $now := Now }}}}
      {{{{ $job := false }}}}
      {{{{ range .metadata.ownerReferences }}}}
      {{{{ if eq .kind "Job" }}}}
      {{{{ $job = true }}}}
      {{{{ end }}}}
      {{{{ end }}}}
      conditions:
      - lastTransitionTime: {{{{ $now | Quote }}}}
        status: "True"
        type: Initialized
      - lastTransitionTime: {{{{ $now | Quote }}}}
        status: "False"
        reason: ContainersNotReady
        type: Ready
      - lastTransitionTime: {{{{ $now | Quote }}}}
        status: "False"
        reason: ContainersNotReady
        type: ContainersReady
      containerStatuses:
      {{{{ range .spec.containers }}}}
      - image: {{{{ .image | Quote }}}}
        name: {{{{ .name | Quote }}}}
        ready: false
        restartCount: {{{{ if $job }}}}0{{{{ else }}}}3{{{{ end }}}}
        state:
          {{{{ if $job }}}}
          terminated:
            exitCode: 1
            finishedAt: {{{{ $now | Quote }}}}
            reason: Error
            startedAt: {{{{ $now | Quote }}}}
          {{{{ else }}}}
          waiting:
            message: the annotation {FAIL_ANNOTATION} says that it fails
            reason: CrashLoopBackOff
          {{{{ end }}}}
      {{{{ end }}}}
      phase: {{{{ if $job }}}}Failed{{{{ else }}}}Running{{{{ end }}}}
      startTime: {{{{ $now | Quote }}}}
"""


def document(module: Path) -> str:
    """Return the configuration; ``module`` is the folder of kwok's module.

    Raises:
        SandboxError: a stage of kwok's is not what the changes were made for.

    """
    return "---\n".join((*(_changed(module, name) for name in _FILES), _POD_FAILS))


def _changed(module: Path, name: str) -> str:
    path = (module / _FOLDER / name).with_suffix(".yaml")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SandboxError(f"kwok's stage {path} cannot be read: {error.strerror}") from error
    for old, new in _CHANGES.get(name, ()):
        if text.count(old) != 1:
            raise SandboxError(
                f"kwok's stage {path} is not the one that the sandbox changes: it has this {text.count(old)} times "
                f"instead of once; see sandbox/kubernetes/stages.py\n{old}"
            )
        text = text.replace(old, new)
    return text
