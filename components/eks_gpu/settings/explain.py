"""Turns what pydantic found into sentences: where, which value, what is allowed, what to do."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from eks_gpu.settings.problems import Location, Problem, may_be_secret
from eks_gpu.settings.secret import ConfigSecret
from eks_gpu.settings.shape import Shape, shape_of

_LONGEST_SHOWN: Final = 60
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'")
_KEY_OF_A_MAPPING: Final = "[key]"


@dataclass(frozen=True, slots=True)
class _Site:
    """One error and everything that is known about its place."""

    error: ErrorDetails
    location: Location
    value: object
    shape: Shape
    """What may stand there, or around it if it is a key that is not known."""
    written: str | None

    @property
    def shown(self) -> str:
        """The value for people to read; nothing that may be secret and no whole blocks."""
        return "a value that is not shown" if may_be_secret(self.location) else show(self.value, self.written)

    def limit(self, name: str) -> str:
        """Return a bound that the error tells of, as YAML writes numbers."""
        bound = self.error.get("ctx", {}).get(name)
        return str(int(bound)) if isinstance(bound, float) and bound.is_integer() else str(bound)


def explain(
    error: ValidationError, data: object, model: type[BaseModel], written: Mapping[Location, str]
) -> list[Problem]:
    """Return the problems behind a validation error of ``data`` against ``model``, without lines.

    ``written`` has numbers as their author wrote them. Several findings at one place are one problem.
    """
    messages: dict[Location, list[str]] = {}
    for details in error.errors(include_url=False):
        if _follows_from_its_entries(details):
            continue
        site = _site(details, data, model, written)
        message = _SENTENCES.get(details["type"], _as_pydantic_says)(site)
        said = messages.setdefault(site.location, [])
        if message not in said:
            said.append(message)
    return [Problem(location, ", or ".join(said)) for location, said in messages.items()]


def _follows_from_its_entries(details: ErrorDetails) -> bool:
    """Return whether a list is too short only because entries of it were refused, each with a problem of its own."""
    given = details["input"]
    return details["type"] == "too_short" and isinstance(given, list) and len(given) > details["ctx"]["actual_length"]


def show(value: object, written: str | None = None) -> str:
    """Return a scalar as YAML writes it, cut where it is long; of a list or a block only that it is one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "empty"
    if isinstance(value, str):
        text = value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 1] + "…"
        return json.dumps(text, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "a block"
    if isinstance(value, list | tuple):
        return "a list"
    return written or str(value)


def nearest(word: object, allowed: Iterable[str]) -> str:
    """Return ``; did you mean x?`` for the allowed word that is most like ``word``, or nothing."""
    if not isinstance(word, str):
        return ""
    by_folded = {candidate.casefold(): candidate for candidate in allowed}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[close[0]]}?" if close else ""


def _site(details: ErrorDetails, data: object, model: type[BaseModel], written: Mapping[Location, str]) -> _Site:
    """Find the place of an error in the data.

    Pydantic's location also holds the tags of unions and ``[key]``; neither is a key of the data, so they are left out.
    """
    parts = details["loc"]
    location: Location = ()
    value, shape = data, shape_of(model)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if shape.is_union and part in shape.tags:
            shape = shape.tagged(str(part))
        elif part == _KEY_OF_A_MAPPING and last:
            value = parts[index - 1]
        elif _leads_on(value, part):
            location, value, shape = (
                (*location, part),
                _child(value, part),
                shape.at(part, stay=_unknown(details, last)),
            )
        elif last and details["type"] == "missing":
            location, shape = (*location, part), shape.at(part)
    return _Site(details, location, value, shape, written.get(location))


def _unknown(details: ErrorDetails, last: bool) -> bool:
    return last and details["type"] == "extra_forbidden"


def _leads_on(value: object, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)


def _child(value: Any, part: str | int) -> object:  # noqa: ANN401 - a mapping or a list, as _leads_on found
    return value[part]


# --- one sentence for each kind of finding -----------------------------------------------------------------------


def _missing(site: _Site) -> str:
    choices = site.shape.words
    if choices:
        return f"is missing; allowed are {', '.join(choices)}"
    purpose = site.shape.description
    return f"is missing: {purpose}" if purpose else "is missing"


def _unknown_key(site: _Site) -> str:
    keys = site.shape.keys
    key = site.location[-1]
    return f"is no key here{nearest(key, keys)}; keys are {', '.join(keys)}"


def _one_of(site: _Site) -> str:
    expected = str(site.error.get("ctx", {}).get("expected", ""))
    allowed = [word.replace("\\'", "'") for word in _QUOTED.findall(expected)]
    return f"is {site.shown}; allowed are {', '.join(allowed) or expected}{nearest(site.value, allowed)}"


def _tag(site: _Site) -> str:
    """Explain a block whose kind is not known or not said."""
    context = site.error.get("ctx", {})
    name = str(context.get("discriminator", "")).strip("'")
    allowed = _QUOTED.findall(str(context.get("expected_tags", ""))) or list(site.shape.tags)
    value = site.value.get(name) if isinstance(site.value, Mapping) else site.value
    if isinstance(site.value, Mapping) and name not in site.value:
        return f"has no {name}; give {name}: {' or '.join(allowed)}"
    place = f"has the {name} {show(value)}" if isinstance(site.value, Mapping) else f"is {site.shown}"
    return f"{place}; allowed are {', '.join(allowed)}{nearest(value, allowed)}"


def _block(site: _Site) -> str:
    if site.shape.is_only(ConfigSecret):
        return (
            "must be {config_secret: name}; a secret never stands in a stack file, so set it with "
            "`pulumi config set --secret eks-gpu:name`"
        )
    keys = site.shape.keys
    of = f" with the keys {', '.join(keys)}" if keys else " of names and what they stand for"
    return f"is {_kind(site.value)}; give a block{of}"


def _list(site: _Site) -> str:
    return f"is {_kind(site.value)}; give a list: [first, second]"


def _text(site: _Site) -> str:
    if isinstance(site.value, bool | int | float) and not may_be_secret(site.location):
        return f'is {site.shown}, {_kind(site.value)}; write it in quotes: "{site.shown}"'
    return f"is {_kind(site.value)}; give a text"


def _whole_number(site: _Site) -> str:
    return f"is {site.shown}; give a whole number, without quotes"


def _number(site: _Site) -> str:
    return f"is {site.shown}; give a number, without quotes"


def _truth(site: _Site) -> str:
    return f"is {site.shown}; allowed are true, false"


def _bound(words: str, name: str) -> Callable[[_Site], str]:
    return lambda site: f"is {site.shown}; must be {words} {site.limit(name)}"


def _pattern(site: _Site) -> str:
    return f"is {site.shown}; must match {site.limit('pattern')}{_meaning(site)}"


def _length(words: str, name: str) -> Callable[[_Site], str]:
    return lambda site: f"is {site.shown}; must have {words} {_counted(site.limit(name), 'character')}"


def _count(words: str, name: str) -> Callable[[_Site], str]:
    return lambda site: (
        f"has {_counted(site.limit('actual_length'), 'entry', 'entries')}; must have {words} {site.limit(name)}"
    )


def _counted(number: str, one: str, many: str = "") -> str:
    return f"{number} {one if number == '1' else many or one + 's'}"


def _meaning(site: _Site) -> str:
    return f" ({site.shape.description})" if site.shape.description else ""


def _own_words(site: _Site) -> str:
    """Return what a check of ours says: it is a sentence already."""
    return str(site.error.get("ctx", {}).get("error", site.error["msg"]))


def _as_pydantic_says(site: _Site) -> str:
    message = site.error["msg"]
    return f"is {site.shown}; {message[:1].lower()}{message[1:]}"


def _kind(value: object) -> str:
    """Return what sort of thing a value is, and not the value."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list | tuple) else "a block"


_SENTENCES: Final[Mapping[str, Callable[[_Site], str]]] = {
    "missing": _missing,
    "extra_forbidden": _unknown_key,
    "enum": _one_of,
    "literal_error": _one_of,
    "union_tag_invalid": _tag,
    "union_tag_not_found": _tag,
    "value_error": _own_words,
    "model_type": _block,
    "model_attributes_type": _block,
    "dict_type": _block,
    "mapping_type": _block,
    "tuple_type": _list,
    "list_type": _list,
    "string_type": _text,
    "int_type": _whole_number,
    "int_from_float": _whole_number,
    "float_type": _number,
    "finite_number": _number,
    "bool_type": _truth,
    "greater_than": _bound("more than", "gt"),
    "greater_than_equal": _bound("at least", "ge"),
    "less_than": _bound("less than", "lt"),
    "less_than_equal": _bound("at most", "le"),
    "string_pattern_mismatch": _pattern,
    "string_too_short": _length("at least", "min_length"),
    "string_too_long": _length("at most", "max_length"),
    "too_short": _count("at least", "min_length"),
    "too_long": _count("at most", "max_length"),
}
