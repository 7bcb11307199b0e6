"""The library's public names: lazily imported, and exactly those that type checkers see."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pulumi
import pytest

import eks_gpu


def test_every_public_name_can_be_imported_and_says_what_it_is() -> None:
    for name in eks_gpu.__all__:
        assert getattr(eks_gpu, name).__doc__, name


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(eks_gpu.__file__).read_text(encoding="utf-8"))
    seen = {
        (alias.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("eks_gpu.")
        for alias in node.names
    }
    assert seen == {(name, getattr(eks_gpu, name).__module__) for name in eks_gpu.__all__}


def test_a_component_comes_with_its_arguments() -> None:
    components = {name for name in eks_gpu.__all__ if _is_component(getattr(eks_gpu, name))}
    arguments = {name for name in eks_gpu.__all__ if name.endswith("Args")}
    assert {name.removesuffix("Args") for name in arguments} <= components


@pytest.mark.parametrize("module", ["eks_gpu", "eks_gpu.facts", "eks_gpu.facts.instances"])
def test_facts_cost_neither_pulumi_nor_pydantic(module: str) -> None:
    code = f"import sys, {module}; print(sorted({{'pulumi', 'pydantic', 'yaml'}} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'GpuNodePol'"):
        _ = eks_gpu.GpuNodePol


def _is_component(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, pulumi.Resource)
