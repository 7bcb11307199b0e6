"""The docstrings that stand below fields, read from the source when somebody asks.

pydantic can read them too (``use_attribute_docstrings``), but does so whenever the settings are imported: a third of
that time, for texts that only the schema, the reference and error messages need.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final

_WITHOUT_FIELDS: Final = ("builtins", "enum", "pydantic", "typing")
"""Where classes come from that add no field of ours."""


@cache
def field_docstrings(owner: type) -> Mapping[str, str]:
    """Return the docstring of each annotated field of a class, those that it inherits included."""
    texts: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith(_WITHOUT_FIELDS):
            texts.update(_own(base))
    return texts


def _own(owner: type) -> Iterator[tuple[str, str]]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    if not isinstance(tree, ast.ClassDef):
        return
    for field, below in pairwise(tree.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)
