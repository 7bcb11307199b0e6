"""Writes the reference pages from the code they describe; with ``--check`` only says which are not current."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import eks_gpu
from eks_gpu.facts import mig, versions
from eks_gpu.facts.instances import CATALOGUE
from eks_gpu.facts.lessons import LESSONS
from eks_gpu.nodes.reference import nodes_page
from eks_gpu.observability.reference import alerts_page
from eks_gpu.observability.rules import ALERTS
from eks_gpu.planning.offer import split_of
from eks_gpu.planning.sharing.advertised import advertised
from eks_gpu.settings.documentation import field_docstrings
from eks_gpu.settings.schema import stack_file_schema
from eks_gpu.settings.sharing import Sharing
from eks_gpu_policies.explain import reference
from eks_gpu_policies.rules import RULES

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "tests"
NAMED = re.compile(r"^def test_([a-z]\d\d)_", re.MULTILINE)
SHARING_EXAMPLES: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({}, "g5.12xlarge", "whole GPUs; the default"),
    ({"time_slicing": {"replicas": 4}}, "g5.12xlarge", "development: nothing parts the pods' memory"),
    (
        {"time_slicing": {"replicas": 4, "rename": True}},
        "g5.12xlarge",
        "the same, by a name nobody asks for by mistake",
    ),
    ({"mps": {"replicas": 4}}, "g5.12xlarge", "small servers, each within its part of memory and threads"),
    ({"mig": {"profile": "all-1g.5gb"}}, "p4d.24xlarge", "production: partitions with memory and faults of their own"),
    ({"mig": {"profile": "all-1g.5gb", "strategy": "single"}}, "p4d.24xlarge", "the same, by the name of a GPU"),
    ({"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 4}}}, "p4d.24xlarge", "a layout of one's own"),
)
RUNBOOKS = "../components/eks_gpu/observability/runbooks"


def components_page() -> str:
    """Return the library's public names, each with what it says of itself."""
    return "\n".join(_components()).rstrip() + "\n"


def _components() -> Iterator[str]:
    yield "# Components"
    yield ""
    yield "Generated from the code. `from eks_gpu import <name>`; each is built as `Name(name, NameArgs(...), opts)`."
    for name in eks_gpu.__all__:
        if name.endswith("Args"):
            continue
        yield from ("", f"## {name}", "", _prose(getattr(eks_gpu, name)))
        arguments = f"{name}Args"
        if arguments in eks_gpu.__all__:
            yield from ("", f"### {arguments}", "")
            yield from _fields(getattr(eks_gpu, arguments))


def _prose(value: type) -> str:
    return (inspect.getdoc(value) or "").replace("``", "`")


def _fields(arguments: type) -> Iterator[str]:
    documented = field_docstrings(arguments)
    for name in inspect.get_annotations(arguments):
        yield f"- `{name}`: {' '.join(documented.get(name, '').split()).replace('``', '`')}"


def settings_page() -> str:
    """Return every key of a stack file."""
    return "\n".join(_settings(stack_file_schema())).rstrip() + "\n"


def _settings(schema: Mapping[str, Any]) -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "Generated from the settings. What stands under `eks-gpu:platform` in `stacks/Pulumi.<stack>.yaml`;"
    yield "[the JSON Schema](stack-file.schema.json) lets editors complete and check it."
    definitions: Mapping[str, Any] = schema["$defs"]
    for name in sorted(definitions, key=lambda each: (each != "Platform", each)):
        block = definitions[name]
        yield from ("", f"## {name}", "", block.get("description", ""))
        if "enum" in block:
            yield from ("", "One of " + ", ".join(f"`{value}`" for value in block["enum"]) + ".")
        if block.get("properties"):
            yield from ("", "| key | type | default | meaning |", "|-|-|-|-|")
            for key, field in block["properties"].items():
                needed = "needed" if key in block.get("required", ()) else _default(field)
                yield f"| `{key}` | {_type(field)} | {needed} | {_cell(field.get('description', ''))} |"


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    return "-" if value in (None, [], {}) else f"`{json.dumps(value)}`"


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return f"`{field['const']}`"
    for several in ("anyOf", "oneOf"):
        if several in field:
            return " or ".join(_type(each) for each in field[several] if each.get("type") != "null")
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {_type(field.get('items', {}))}"
    if kind == "object":
        inner: object = field.get("additionalProperties") or next(iter(field.get("patternProperties", {}).values()), {})
        return f"mapping of {_type(inner)}" if isinstance(inner, Mapping) and inner else "mapping"
    return str(kind)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def versions_page() -> str:
    """Return every pinned version with its source."""
    lines = [
        "# Versions",
        "",
        "Generated from `facts/versions.py`: what is installed, exactly, and where that was read.",
    ]
    lines += ["", "| chart | version | source | checked |", "|-|-|-|-|"]
    lines += [f"| {c.name} | {c.version} | {_cell(c.source)} | {c.checked} |" for c in versions.CHARTS.values()]
    lines += ["", "| add-on | Kubernetes | version | source | checked |", "|-|-|-|-|-|"]
    lines += [
        f"| {a.name} | {a.kubernetes} | {a.version} | {_cell(a.source)} | {a.checked} |"
        for by_version in versions.ADD_ONS.values()
        for a in by_version.values()
    ]
    return "\n".join(lines) + "\n"


def sharing_page() -> str:
    """Return how GPUs can be shared, and what nodes then advertise."""
    return "\n".join(_sharing()) + "\n"


def _sharing() -> Iterator[str]:
    yield "# Sharing GPUs"
    yield ""
    yield "Generated from the code: `sharing` of a node group, a node pool or `gpu_software`, and what a node then"
    yield "advertises, as `eks_gpu.planning.sharing.advertised` computes it for pools, servers and validation alike."
    yield from ("", "| `sharing` | on | one node advertises | for |", "|-|-|-|-|")
    for block, name, purpose in SHARING_EXAMPLES:
        kind = CATALOGUE[name]
        found = advertised(kind, split_of(Sharing.model_validate(block)))
        offered = ", ".join(f"`{resource}`: {count}" for resource, count in found.items())
        yield f"| `{json.dumps(block)}` | {name} | {offered} | {purpose} |"
    yield from ("", "## MIG layouts", "")
    yield f"GPUs of other models have no MIG: {mig.WITHOUT_MIG}. A layout is partitions of each GPU; `all-disabled`,"
    yield "whole GPUs, is there everywhere. The operator's MIG manager applies it when a node joins and at each boot."
    yield from ("", "| instance types | slices: compute, memory | layouts |", "|-|-|-|")
    for model, gpu in mig.MODELS.items():
        types = ", ".join(name for name, kind in CATALOGUE.items() if kind.gpu_model == model)
        layouts = "; ".join(f"`{name}`: {_parts(parts)}" for name, parts in gpu.layouts.items() if parts)
        yield f"| {types} | {gpu.compute_slices}, {gpu.memory_slices} | {layouts} |"


def _parts(layout: Mapping[str, int]) -> str:
    return " + ".join(f"{count} x {profile}" for profile, count in layout.items())


def lessons_page() -> str:
    """Return where each lesson stands: what refuses it, what shows it at run time, and whether tests bear its name."""
    sources = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    tested = {name.upper() for source in sources for name in NAMED.findall(source)}
    lines = [
        "# Lessons",
        "",
        "Generated from rules, alerts and tests: where each lesson stands today. *Tested*: a test bears its name,",
        "most often one that holds a component to it. An empty place says that nothing is there yet.",
        "",
        "| id | lesson | refused by | shown by | tested |",
        "|-|-|-|-|-|",
    ]
    for lesson, text in LESSONS.items():
        rules = ", ".join(f"[{rule.id}](rules.md#{rule.id.lower()})" for rule in RULES if lesson in rule.lessons)
        alerts = ", ".join(alert.name for alert in ALERTS if lesson in alert.lessons)
        lines.append(f"| {lesson} | {_cell(text)} | {rules} | {alerts} | {'yes' if lesson in tested else ''} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Return every generated page by its file name."""
    return {
        "alerts.md": alerts_page(RUNBOOKS),
        "components.md": components_page(),
        "lessons.md": lessons_page(),
        "nodes.md": nodes_page(),
        "rules.md": reference(RULES),
        "settings.md": settings_page(),
        "sharing.md": sharing_page(),
        "stack-file.schema.json": json.dumps(stack_file_schema(), indent=2) + "\n",
        "versions.md": versions_page(),
    }


def main() -> int:
    """Write the pages, or with ``--check`` fail when one is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is not current")
    if not parser.parse_args().check:
        for name, text in pages().items():
            (DOCS / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in pages().items() if _content(DOCS / name) != text]
    if stale:
        sys.stderr.write(f"not current: docs/{', docs/'.join(stale)}; run: make docs\n")
    return 1 if stale else 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
