"""What a Pulumi SDK says about its resource types, read from the SDK's source text.

Reading the text of one class costs a few milliseconds; importing the module that holds it costs up to 250 (all of
`pulumi_aws.ec2`), and a preview waits for it. The sources are generated, so their form is regular: a class `<Type>Args`
whose constructor lists every input with its type, and one getter per property that carries the wire's name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import util
from pathlib import Path
from typing import Final

_GETTER: Final = re.compile(r'@pulumi\.getter(?:\(name="(\w+)"\))?\n    def (\w+)\(self\) -> (.+):\n')
_TOKEN: Final = re.compile(r'^ +"([\w-]+:[^"]*:\w+)": "\w+"', re.MULTILINE)
_NEXT_TOP_LEVEL: Final = re.compile(r"^(?=[@\w])", re.MULTILINE)
_SCALARS: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a value: `string`, `integer`, `number`, `boolean`, `list`, `map`, `object`, `either` or `any`.

    `parts` holds the element of a list or map and the choices of an either; `name` the class of an object.
    """

    word: str
    parts: tuple[Kind, ...] = ()
    name: str = ""


ANY: Final = Kind("any")


@dataclass(frozen=True, slots=True)
class Field:
    """One property: its kind, and whether it must be given (an input) or is always there (an output)."""

    kind: Kind
    required: bool


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A resource type of an SDK; property names are those of the wire (camelCase)."""

    token: str
    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]
    service: Path = field(repr=False)
    """The folder whose `_inputs.py` holds the nested types."""


class Sdk:
    """An installed Pulumi SDK, such as `pulumi_aws`, seen through its source files."""

    def __init__(self, package: str) -> None:
        """Find `package` without importing it; raise `ModuleNotFoundError` if it is not installed."""
        spec = util.find_spec(package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{package} is not installed", name=package)
        self.package = package
        self.root = Path(spec.origin).parent

    @cached_property
    def version(self) -> str:
        """The SDK's version, which is also the version of the plugin it asks for."""
        from importlib import metadata  # noqa: PLC0415 - 20 ms that the engine, which names a version, saves us

        return metadata.version(self.package.replace("_", "-"))

    @cached_property
    def _table(self) -> str:
        return _text(self.root / "__init__.py")

    def tokens(self) -> list[str]:
        """Return every resource type the SDK registers."""
        return _TOKEN.findall(self._table)

    def nearest(self, token: str) -> str | None:
        """Return the registered type most like `token`, or None if nothing is near."""
        return next(iter(get_close_matches(token, self.tokens(), n=1, cutoff=0.7)), None)

    def resource(self, token: str) -> ResourceType | None:
        """Return what the SDK says about the resource type `token`, or None if it has no such type."""
        return _resource(self, token)

    def locate(self, token: str) -> tuple[Path, str] | None:
        """Return the service folder and the class name of `token`."""
        start = self._table.find(f'"{token}": "')
        if start < 0:
            return None
        class_name = self._table[start:].split('"', 4)[3]
        module_start = self._table.rfind('"fqn": "', 0, start) + len('"fqn": "')
        module = self._table[module_start : self._table.index('"', module_start)]
        return self.root.joinpath(*module.split(".")[1:]), class_name

    def nested(self, service: Path, name: str) -> Mapping[str, Field] | None:
        """Return the properties of the nested input type `name` (`EbsArgs`, `_meta.v1.ObjectMetaArgs`)."""
        return _nested(self.root, service, name)


@cache
def _resource(sdk: Sdk, token: str) -> ResourceType | None:
    located = sdk.locate(token)
    if located is None:
        return None
    service, class_name = located
    text = _text(_class_file(service, class_name, token))
    arguments = _class_text(text, f"{class_name}InitArgs") or _class_text(text, f"{class_name}Args")
    body = _class_text(text, class_name)
    return ResourceType(
        token=token,
        inputs=_inputs(arguments),
        outputs={name or python: _output(annotation) for name, python, annotation in _GETTER.findall(body)},
        service=service,
    )


@cache
def _nested(root: Path, service: Path, name: str) -> Mapping[str, Field] | None:
    *modules, class_name = name.split(".")
    folder = root.joinpath(*(module.lstrip("_") for module in modules)) if modules else service
    # Nested types of the top module (`aws.Provider`) lie beside those of the services.
    for candidate in (folder, root):
        text = _class_text(_text(candidate / "_inputs.py"), class_name)
        if text:
            return _inputs(text)
    return None


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _class_file(service: Path, class_name: str, token: str) -> Path:
    module = token.split(":")[1].rsplit("/", 1)[-1]
    names = (_snake(module), _snake(class_name), class_name)
    for name in names:
        path = service / f"{name}.py"
        if path.is_file():
            return path
    declaration = f"\nclass {class_name}(pulumi."
    return next(path for path in sorted(service.glob("*.py")) if declaration in _text(path))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _class_text(text: str, class_name: str) -> str:
    for opening in (f"\nclass {class_name}:\n", f"\nclass {class_name}(pulumi."):
        start = text.find(opening)
        if start >= 0:
            body = start + len(opening)
            end = _NEXT_TOP_LEVEL.search(text, body)
            return text[body : end.start() if end else len(text)]
    return ""


def _inputs(class_text: str) -> dict[str, Field]:
    """Return the arguments of a class's constructor by their names on the wire."""
    wire_names = {python: name or python for name, python, _ in _GETTER.findall(class_text)}
    start = class_text.find("def __init__(")
    if start < 0:
        return {}
    signature = class_text[start : class_text.index("):\n", start)]
    function = ast.parse(f"{signature}): pass").body[0]
    if not isinstance(function, ast.FunctionDef):
        return {}
    arguments = function.args
    return {
        wire_names.get(argument.arg, argument.arg): Field(_kind(argument.annotation), required=default is None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }


def _output(annotation: str) -> Field:
    return Field(_kind(ast.parse(annotation, mode="eval").body), required="pulumi.Output[Optional[" not in annotation)


def _kind(node: ast.expr | None) -> Kind:
    if isinstance(node, ast.Subscript):
        return _generic(ast.unparse(node.value).rsplit(".", 1)[-1], node.slice)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        # A quoted name is a nested type, unless it is an enumeration or a resource, whose values are not checked.
        nested = node.value.endswith("Args") or node.value.startswith("outputs.")
        return Kind("object", name=node.value) if nested else ANY
    if isinstance(node, ast.Attribute):
        return Kind(_SCALARS[node.attr]) if node.attr in _SCALARS else ANY
    return ANY


def _generic(outer: str, inner: ast.expr) -> Kind:
    if outer in {"Input", "Output", "Optional", "InputType"}:
        return _kind(inner)
    if outer in {"Sequence", "List"}:
        return Kind("list", (_kind(inner),))
    if outer in {"Mapping", "Dict"} and isinstance(inner, ast.Tuple):
        return Kind("map", (_kind(inner.elts[1]),))
    if outer == "Union" and isinstance(inner, ast.Tuple):
        return Kind("either", tuple(_kind(each) for each in inner.elts))
    return ANY
