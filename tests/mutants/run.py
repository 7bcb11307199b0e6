"""``make mutants``: changes the code of rules and planning a little at a time, and sees whether a test notices.

    make mutants                                    everything that is mutated, 20 to 40 minutes on two cores
    make mutants ONLY='eks_gpu_policies.rules.*'    the functions whose names match; what is done already is kept

A change that no test notices survives. Survivors are written out with their differences; one that changes no verdict is
explained in ``explained.toml``, and any other is a test that is missing. Sentences for people are not changed, nor what
the type checker refuses, nor properties and tables, which mutmut cannot change.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

ROOT: Final = Path(__file__).parents[2]
WORK: Final = ROOT / ".mutants"
"""Where the code is changed: a copy, which keeps the results of the last run."""

SOURCES: Final = {
    "eks_gpu": ROOT / "components" / "eks_gpu",
    "eks_gpu_policies": ROOT / "policies" / "eks_gpu_policies",
}
"""Both source roots side by side, because mutmut knows one."""

MUTATED: Final = (
    "src/eks_gpu/planning/*",
    "src/eks_gpu_policies/rules/*",
    "src/eks_gpu_policies/questions/*",
    "src/eks_gpu_policies/readers/*",
    "src/eks_gpu_policies/engine.py",
    "src/eks_gpu_policies/stack.py",
    "src/eks_gpu_policies/waivers.py",
)
TESTS: Final = ("tests/unit/planning", "tests/policy")
WHOLE: Final = (
    "admission",
    "manifests",
    "test_any_program.py",
    "test_gpu_software_programs.py",
    "test_node_shapes.py",
    "test_our_pools.py",
    "test_pack.py",
    "test_pack_process.py",
    "test_peers_mistakes.py",
    "test_public_training.py",
    "test_sound_programs.py",
    "test_strangers.py",
)
"""Of ``tests/policy``: what puts whole programs to every rule, or starts processes. A change is to be noticed by the
tests of its own rule or reader; these would be run for every change, and hide that none is there."""

PYTEST: Final = ["-p", "no:xdist", "-p", "tests.mutants.fresh", *(f"--ignore=tests/policy/{name}" for name in WHOLE)]

SETTINGS: Final = f"""
[tool.mutmut]
source_paths = ["src"]
only_mutate = {list(MUTATED)!r}
also_copy = ["stacks", "Pulumi.yaml", "sandbox", "docs", "policies"]
pytest_add_cli_args_test_selection = {list(TESTS)!r}
pytest_add_cli_args = {PYTEST!r}
use_git_change_detection = false
debug = true
# Lines with a sentence: what is said to people is no verdict.
do_not_mutate_patterns = ['"[^"]* [^"]*"']
type_check_command = ["mypy", "src", "--output", "json", "--disable-error-code", "unused-ignore"]
"""

PROGRESS: Final = re.compile(r"(\d+)/(\d+)  ")
EVERY_SECONDS: Final = 20
CONSOLE: Final = Console(highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class Mutant:
    """One changed function."""

    name: str
    status: str

    @property
    def module(self) -> str:
        """The module it is in."""
        return self.name.rpartition(".")[0]

    @property
    def function(self) -> str:
        """The function that is changed; the class's name for a method."""
        mangled = self.name.rpartition(".")[2].partition("__mutmut_")[0]
        return mangled.removeprefix("x_") if mangled.startswith("x_") else mangled.split("ǁ")[1]


def prepare() -> None:
    """Bring the copy up to date; results of functions that have not changed are kept."""
    # Python remembers for good that a folder on its path was not there when it started.
    (WORK / "mutants" / "src").mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        _copy(source, WORK / "src" / name)
    for name in ("tests", "stacks", "sandbox", "docs", "policies"):
        _copy(ROOT / name, WORK / name)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, WORK)
    (WORK / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + SETTINGS)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"), copy_function=shutil.copy2)


def mutmut(*arguments: str) -> subprocess.Popen[str]:
    """Start mutmut in the copy, with the changed code before the code that is installed."""
    tools = Path(sys.executable).parent
    changed = WORK / "mutants"
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{changed / 'src'}{os.pathsep}{changed}",
    }
    return subprocess.Popen(
        [str(tools / "mutmut"), *arguments],
        cwd=WORK,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def run(patterns: Sequence[str]) -> int:
    """Run all mutants that match, with a line on progress now and then; return mutmut's exit code."""
    log = WORK / "log.txt"
    told = time.monotonic()
    process = mutmut("run", *patterns)
    assert process.stdout is not None
    with log.open("w", encoding="utf-8") as lines:
        for line in process.stdout:
            lines.write(line)
            found = PROGRESS.search(line)
            if found and time.monotonic() - told > EVERY_SECONDS:
                told = time.monotonic()
                CONSOLE.print(f"{found[1]} of {found[2]} mutants")
    return process.wait()


def results() -> Iterator[Mutant]:
    """Yield every mutant that has been run."""
    output, _ = mutmut("results", "--all", "true").communicate()
    for line in output.splitlines():
        name, _, status = line.strip().partition(": ")
        if status and status != "not checked":
            yield Mutant(name, status)


def difference(mutant: Mutant) -> tuple[str, str]:
    """Return the lines that were taken out and put in."""
    output, _ = mutmut("show", mutant.name).communicate()
    body = [line for line in output.splitlines() if not line.startswith(("---", "+++", "#", "@@"))]
    return (
        "\n".join(line[1:].strip() for line in body if line.startswith("-")),
        "\n".join(line[1:].strip() for line in body if line.startswith("+")),
    )


def explained() -> Mapping[tuple[str, str], str]:
    """Return why some survivors change no verdict: by module and new line."""
    entries = tomllib.loads((Path(__file__).parent / "explained.toml").read_text())["survivor"]
    return {(entry["module"], entry["becomes"]): entry["because"] for entry in entries}


def only_at_import(module: str) -> frozenset[str]:
    """Return the functions of a module that run when it is imported and never again: they make the rules' examples.

    mutmut changes what a function does when it is called, in a process that has imported everything, so that no test
    can notice. ``tests/policy/test_rules.py`` judges every example.
    """
    path = WORK / "src" / Path(*module.split(".")).with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    names = {
        item.name: {node.id for node in ast.walk(item) if isinstance(node, ast.Name)}
        for item in body
        if isinstance(item, ast.FunctionDef | ast.ClassDef)
    }
    loose = [node for item in body if not isinstance(item, ast.FunctionDef | ast.ClassDef) for node in ast.walk(item)]
    called = [node.func for node in loose if isinstance(node, ast.Call)]
    handed_on = {node.id for node in loose if isinstance(node, ast.Name) and node not in called}
    builders = _reached(names, {name.id for name in called if isinstance(name, ast.Name)})
    return builders - _reached(names, (names.keys() - builders) | handed_on)


def _reached(uses: Mapping[str, set[str]], start: set[str]) -> frozenset[str]:
    """Return what is used by the names of ``start``, themselves among it."""
    found = set[str]()
    pending = list(start & uses.keys())
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(uses[name] & uses.keys())
    return frozenset(found)


def report(mutants: Sequence[Mutant]) -> int:
    """Print the score of each room and every survivor that nobody has explained; return how many there are."""
    examples = {module: only_at_import(module) for module in {mutant.module for mutant in mutants}}
    mutants = [mutant for mutant in mutants if mutant.function not in examples[mutant.module]]
    rooms: dict[str, Counter[str]] = {}
    for mutant in mutants:
        rooms.setdefault(".".join(mutant.module.split(".")[:3]), Counter())[mutant.status] += 1
    for room, counts in sorted(rooms.items()):
        CONSOLE.print(f"{room:44} {_score(counts)}")
    CONSOLE.print(f"{'all':44} {_score(sum(rooms.values(), Counter()))}")
    known = explained()
    open_ones = 0
    with (WORK / "survivors.txt").open("w", encoding="utf-8") as lines:
        for mutant in (each for each in mutants if each.status in {"survived", "no tests"}):
            before, after = difference(mutant)
            because = known.get((mutant.module, after))
            open_ones += because is None
            lines.write(f"{mutant.name} ({mutant.status})\n- {before}\n+ {after}\n{because or 'not explained'}\n\n")
    CONSOLE.print(f"{open_ones} survivors are not explained; all are in {WORK.name}/survivors.txt")
    return open_ones


def _score(counts: Counter[str]) -> str:
    survived = counts["survived"] + counts["no tests"]
    total = sum(counts.values()) - counts["skipped"]
    noticed = total - survived
    return f"{noticed:>6} of {total:>6} noticed ({noticed / max(total, 1):6.1%}), {survived} survived"


def main() -> int:
    """Run and report; exit 1 when a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="names of mutants, with * for anything; all when left out")
    parser.add_argument("--report", action="store_true", help="run nothing, report on what has been run")
    arguments = parser.parse_args()
    if not arguments.report:
        prepare()
        code = run(arguments.only)
        if code:
            CONSOLE.print(f"mutmut ended with {code}; the end of {WORK.name}/log.txt says why")
            return 2
    return 1 if report(list(results())) else 0


if __name__ == "__main__":
    sys.exit(main())
