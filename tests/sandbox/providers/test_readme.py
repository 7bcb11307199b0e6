from __future__ import annotations

import re
from pathlib import Path

from sandbox.providers.aws.invokes import FUNCTIONS
from sandbox.providers.aws.kept import keepers

README = Path(__file__).parents[3] / "sandbox" / "README.md"


def test_the_table_lists_exactly_the_types_that_are_kept_in_moto() -> None:
    rows = re.findall(r"^\| `(aws:[^`]+)` \|", README.read_text(), re.MULTILINE)

    assert rows == sorted(keepers())


def test_every_function_that_is_answered_is_named() -> None:
    text = README.read_text()

    assert [name for name in FUNCTIONS if f"{name.rsplit(':', 1)[-1]}`" not in text] == []
