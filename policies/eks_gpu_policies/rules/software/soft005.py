"""SOFT005: versions are exact.

A configured Kubernetes provider shows the version that it resolved, so an unset one is seen only on a first preview,
and by ``eks-gpu check``, which sees what the program wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.facts.versions import GPU_OPERATOR
from eks_gpu.planning.reading import View
from eks_gpu_policies import charts, examples, tokens
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Example, Outcome, Problem, Rule, Scope, Severity, Undecided
from eks_gpu_policies.stack import Stack
from eks_gpu_policies.subjects import resources

_EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?")
_EXACT_DRIVER: Final = re.compile(r"\d+\.\d+(?:\.\d+)?")
_ADD_ON: Final = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+(?:\.\d+)?|v?\d+\.\d+\.\d+[-.+0-9A-Za-z]*")
_IN_REFERENCE: Final = re.compile(rf"^oci://.*(?:@sha256:[0-9a-f]{{64}}|:{_EXACT.pattern})$")
"""A chart of a registry whose reference says by itself which one it is: by digest, or by tag."""
_MOVING_REFERENCE: Final = re.compile(
    r"(?:https?://|(?:git::|ssh://|git@)?github\.com[/:])[^\s]*(?:/|[?&]ref=)(?:master|main|HEAD|latest)[/&]",
    re.IGNORECASE,
)
_REMOTE_FOLDER: Final = re.compile(r"https?://|ssh://|git@|git::|github\.com/")
_SAYS_WHICH: Final = re.compile(r"[?&](?:ref|version)=.")


def _check(resource: Resource, _stack: Stack) -> Iterator[Outcome]:
    token = tokens.whole(resource.type)
    if not resource.props:
        yield Undecided("version", "the engine is not told what this component was given")
    elif token in tokens.HELM:
        yield from _chart(resource)
    elif token in tokens.ADD_ONS:
        yield from _add_on(resource.view)
    else:
        yield from _files(resource.view)


def _chart(resource: Resource) -> Iterator[Outcome]:
    chart, version = resource.view["chart"].text() or "a chart", resource.view["version"]
    if not charts.is_local(chart) and not _IN_REFERENCE.search(chart) and not resource.view["path"].exists:
        yield from _inexact(f"installs {chart}", version, _EXACT)
    if charts.name(resource) == GPU_OPERATOR.name:
        driver = resource.view.at("values", "driver")
        if driver["enabled"].boolean():
            yield from _driver(driver["version"])


def _driver(version: View) -> Iterator[Outcome]:
    text = version.text()
    if not text or _EXACT_DRIVER.fullmatch(text.strip()) is None:
        said = f"in version {text!r}, which is not exact" if text else "without a version"
        yield Problem(
            f"lets the operator install the driver {said}: another release of the chart brings another driver",
            fix="set driver.version in full, such as 580.105.08, to one that the pods' CUDA has been tested with",
        )


def _add_on(view: View) -> Iterator[Outcome]:
    yield from _inexact(
        f"installs the add-on {view['addonName'].text() or ''}", view["addonVersion"], _ADD_ON, _FIX_ADD_ON
    )


_FIX_ADD_ON: Final = "write addonVersion in full; aws eks describe-addon-versions lists those that fit the cluster"


def _inexact(what: str, version: View, exact: re.Pattern[str], fix: str | None = None) -> Iterator[Outcome]:
    text = version.text()
    if not text:
        yield Problem(f"{what} without a version, which means the newest of the day", fix=fix)
    elif exact.fullmatch(text.strip()) is None:
        yield Problem(f"{what} in version {text!r}, which is not exact", fix=fix)


def _files(view: View) -> Iterator[Outcome]:
    listed = view["files"]
    places = (view["file"], listed, *listed.items(), view["directory"])
    for place in places:
        text = place.text()
        if text is not None and _MOVING_REFERENCE.search(f"{text}/"):
            yield Problem(
                f"applies {text}, which is another file whenever somebody changes it",
                fix="name a tag, a release or a commit in the address",
            )
        elif place.path == "directory" and text and _REMOTE_FOLDER.match(text) and not _SAYS_WHICH.search(text):
            yield Problem(
                f"applies {text} as its default branch has it, which is another one whenever somebody changes it",
                fix="add ?ref= with a tag or a commit to the address",
            )


RULE: Final = Rule(
    id="SOFT005",
    title="Versions are exact",
    severity=Severity.HIGH,
    why=(
        "A chart, add-on or manifest without an exact version is another one tomorrow: the same commit builds a "
        "different cluster, and a bad release of the device plugin arrives unasked, amid an unrelated change."
    ),
    fix="write the full version, such as 1.2.3; our components take theirs from eks_gpu.facts.versions",
    lessons=("G06", "G07"),
    scope=Scope.RESOURCE,
    looks_at=resources("charts, add-ons and manifests by URL", tokens.HELM | tokens.ADD_ONS | tokens.YAML_FILES),
    check=_check,
    failing=Example((examples.release("gpu-operator", GPU_OPERATOR.name, None),)),
    passing=Example((examples.release("gpu-operator", GPU_OPERATOR.name, GPU_OPERATOR.version),)),
)
