"""What people read about rules: the text of one, and the reference page of all. Made from the rules themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from eks_gpu.facts.lessons import LESSONS
from eks_gpu_policies.resource import Resource
from eks_gpu_policies.rule import Environment, Example, Rule, Scope
from eks_gpu_policies.topics import AREAS, TOPICS

AnyRule = Rule[Any]

_SCOPES: Final = {
    Scope.RESOURCE: "one resource: the finding comes before it is created",
    Scope.STACK: "several resources together: the finding comes when all are known",
}


def explain(rule: AnyRule) -> str:
    """Return everything there is to say about a rule, as plain text."""
    return "\n".join(_text(rule)) + "\n"


def _text(rule: AnyRule) -> Iterator[str]:
    yield f"{rule.id}  {rule.title}"
    yield ""
    yield f"Severity   {rule.severity}"
    yield f"Levels     {_levels(rule)}"
    yield f"Looks at   {rule.looks_at.what}"
    yield f"Needs      {_SCOPES[rule.scope]}"
    for lesson in rule.lessons:
        yield f"Lesson     {lesson}: {LESSONS[lesson]}"
    yield ""
    yield f"Why. {rule.why}"
    yield ""
    yield f"Fix: {rule.fix}."
    yield ""
    yield f"Read on: {rule.link}"
    for word, example in (("fails", rule.failing), ("passes", rule.passing)):
        yield ""
        yield f"This {word}:"
        yield ""
        yield from (f"    {line}" for line in example_yaml(example).splitlines())


def one_line(rule: AnyRule) -> str:
    """Return a rule in a list."""
    return f"{rule.id:<9}{rule.title}"


def explain_topic(name: str, rules: Sequence[AnyRule]) -> str | None:
    """Return what there is to say about a topic, an area (``NODE``) or a lesson (``N01``); None if it is none of them.

    A word that is none of them finds the rules that speak of it.
    """
    topic = TOPICS.get(name.lower())
    if topic is not None:
        return f"{topic.title}\n\n{topic.text}\n"
    known = name.upper()
    if known in AREAS:
        return _listed(f"{known}: {AREAS[known]}", [rule for rule in rules if rule.area == known])
    if known in LESSONS:
        return _listed(f"{known}: {LESSONS[known]}", [rule for rule in rules if known in rule.lessons])
    about = [rule for rule in rules if name.lower() in _said(rule)]
    return _listed(f"Rules that speak of {name}:", about) if about else None


def _listed(head: str, rules: Sequence[AnyRule]) -> str:
    lines = [one_line(rule) for rule in rules] or ["no rule: it cannot be seen before something runs"]
    return "\n".join((head, "", *lines)) + "\n"


def _said(rule: AnyRule) -> str:
    return f"{rule.title} {rule.why} {rule.fix} {rule.looks_at.what}".lower()


def reference(rules: Sequence[AnyRule]) -> str:
    """Return the reference page of ``rules`` as Markdown: a table, and a section for each."""
    return "\n".join(_page(rules)).rstrip() + "\n"


def _page(rules: Sequence[AnyRule]) -> Iterator[str]:
    yield "# Rules"
    yield ""
    yield "Generated from the rules themselves."
    for topic in TOPICS.values():
        yield ""
        yield f"## {topic.title}"
        yield ""
        yield "```text"
        yield from topic.text.splitlines()
        yield "```"
    yield ""
    yield "## All rules"
    yield ""
    yield "M: a finding refuses the deployment; A: it warns; -: the rule is off."
    yield ""
    yield "| id | title | severity | dev | staging | prod | looks at | lessons |"
    yield "|-|-|-|-|-|-|-|-|"
    for rule in rules:
        levels = " | ".join(_letter(rule, environment) for environment in Environment)
        lessons = " ".join(rule.lessons) or "-"
        yield (
            f"| [{rule.id}](#{rule.id.lower()}) | {rule.title} | {rule.severity} | {levels} "
            f"| {rule.looks_at.what} | {lessons} |"
        )
    for rule in rules:
        yield from _section(rule)


def _section(rule: AnyRule) -> Iterator[str]:
    yield ""
    yield f"## {rule.id}"
    yield ""
    yield f"**{rule.title}.** {rule.why}"
    yield ""
    yield f"*Fix:* {rule.fix}. [Read on]({rule.link})"
    for word, example in (("Fails", rule.failing), ("Passes", rule.passing)):
        yield ""
        yield f"{word}:"
        yield ""
        yield "```yaml"
        yield from example_yaml(example).splitlines()
        yield "```"


def _levels(rule: AnyRule) -> str:
    return ", ".join(f"{environment} {rule.levels.in_environment(environment)}" for environment in Environment)


def _letter(rule: AnyRule, environment: Environment) -> str:
    return {"mandatory": "M", "advisory": "A", "disabled": "-"}[rule.levels.in_environment(environment).value]


def example_yaml(example: Example) -> str:
    """Return an example as YAML in the form of a Pulumi program's resources, with the options of its run."""
    # The rules are imported by the engine at every preview, their examples are printed once in a while.
    import yaml  # noqa: PLC0415

    names = {resource.urn: resource.name for resource in example.resources}
    document: dict[str, Any] = {
        "resources": {resource.name: _resource(resource, names) for resource in example.resources}
    }
    if len(document["resources"]) < len(example.resources):
        document["resources"] = [{"name": item.name, **_resource(item, names)} for item in example.resources]
    if example.options:
        document["policy options"] = dict(example.options)
    # Through JSON, so that a value is written out wherever it occurs rather than referring to its first occurrence.
    return yaml.safe_dump(json.loads(json.dumps(document)), sort_keys=False, width=100)


def _resource(resource: Resource, names: dict[str, str]) -> dict[str, object]:
    computed = {prop: [names[urn] for urn in sorted(urns)] for prop, urns in resource.property_dependencies.items()}
    linked = frozenset().union(*resource.property_dependencies.values())
    after = sorted(names[urn] for urn in resource.dependencies - linked)
    described: dict[str, object] = {"type": resource.type, "properties": resource.props}
    if computed:
        described["computed from"] = computed
    if after:
        described["options"] = {"dependsOn": after}
    return described
