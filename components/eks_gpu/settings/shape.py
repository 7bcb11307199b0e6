"""What may stand at a place of the settings: which keys, words and blocks. Read off the models, for messages."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Tag
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from eks_gpu.settings.documentation import field_docstrings


@dataclass(frozen=True, slots=True)
class _Choice:
    """One type that is allowed somewhere, with the tag that tells it from the others."""

    kind: Any
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """What is allowed at one place."""

    choices: tuple[_Choice, ...] = ()
    description: str = ""
    """First sentence of the field's documentation."""

    def at(self, part: str | int, *, stay: bool = False) -> Shape:
        """Return what is allowed one step further in; ``stay`` keeps this shape, for a key that is not known."""
        if stay:
            return self
        found: list[_Choice] = []
        description = ""
        for choice in self.choices:
            if _is_model(choice.kind):
                information = choice.kind.model_fields.get(part)
                if information is not None:
                    found.extend(_of_field(information))
                    description = description or _first_sentence(field_docstrings(choice.kind).get(str(part)))
            else:
                found.extend(_of_container(choice.kind))
        return Shape(tuple(found), description)

    def tagged(self, tag: str) -> Shape:
        """Return the shape with only the variant of a union that has this tag, if there is one."""
        found = tuple(choice for choice in self.choices if tag == choice.tag or tag in _kinds(choice.kind))
        return Shape(found or self.choices, self.description)

    def is_only(self, model: type[BaseModel]) -> bool:
        """Return whether nothing but this block is allowed."""
        return bool(self.choices) and all(choice.kind is model for choice in self.choices)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the blocks that are allowed, in the order of their documentation."""
        models = (choice.kind for choice in self.choices if _is_model(choice.kind))
        return tuple(dict.fromkeys(name for model in models for name in model.model_fields))

    @property
    def words(self) -> tuple[str, ...]:
        """Words that are allowed, where only certain ones are."""
        return tuple(dict.fromkeys(word for choice in self.choices for word in _words(choice.kind)))

    @property
    def is_union(self) -> bool:
        """Return whether several variants are allowed, of which a tag names one."""
        return len(self.tags) > 1

    @property
    def tags(self) -> tuple[str, ...]:
        """What tells the variants of a union apart."""
        named = (choice.tag for choice in self.choices if choice.tag)
        return tuple(dict.fromkeys([*named, *(kind for choice in self.choices for kind in _kinds(choice.kind))]))


def shape_of(annotation: Any) -> Shape:  # noqa: ANN401 - an annotation can be anything
    """Return the shape that an annotation allows."""
    return Shape(tuple(_choices(annotation)))


def _of_field(information: FieldInfo) -> Iterator[_Choice]:
    """Return what may be written at a field, which is not always what it holds afterwards."""
    for extra in information.metadata:
        if isinstance(extra, BeforeValidator) and extra.json_schema_input_type is not PydanticUndefined:
            return _choices(extra.json_schema_input_type)
    return _choices(information.annotation)


def _of_container(kind: Any) -> Iterator[_Choice]:  # noqa: ANN401 - an annotation can be anything
    """Return what a list or mapping holds."""
    arguments = [argument for argument in get_args(kind) if argument is not Ellipsis]
    if arguments:
        yield from _choices(arguments[-1])


def _choices(annotation: Any, tag: str | None = None) -> Iterator[_Choice]:  # noqa: ANN401 - an annotation can be anything
    """Flatten an annotation into the types it allows."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        tags = [extra.tag for extra in metadata if isinstance(extra, Tag)]
        yield from _choices(inner, tags[0] if tags else tag)
    elif origin in {Union, types.UnionType}:
        for member in get_args(annotation):
            if member is not types.NoneType:
                yield from _choices(member, tag)
    else:
        yield _Choice(annotation, tag)


def _is_model(kind: Any) -> bool:  # noqa: ANN401 - an annotation can be anything
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _kinds(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - an annotation can be anything
    """Return the values of a block's ``kind``, by which variants are told apart."""
    if not _is_model(kind):
        return ()
    information: FieldInfo | None = kind.model_fields.get("kind")
    return _words(information.annotation) if information else ()


def _words(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - an annotation can be anything
    """Return the words that an enumeration or a literal allows."""
    if get_origin(kind) is Literal:
        return tuple(str(word.value if isinstance(word, Enum) else word) for word in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return ()


def _first_sentence(text: str | None) -> str:
    """Return the first sentence without its period, on one line, without code marks."""
    line = " ".join((text or "").split()).replace("``", "")
    return line.partition(". ")[0].removesuffix(".")
