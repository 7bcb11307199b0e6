"""``make bench``: what things cost, each beside something known, in one run.

Every figure is a ratio or a difference of two commands run in turn on this machine, so that it can be compared with the
goal on any machine. Goals are not gates: a missed one is shown, and nothing fails.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import eks_gpu.facts  # noqa: E402 - after the path is set, as for the tests
from tests.bench.measure import Command, in_turn  # noqa: E402
from tests.support.engine import Bench  # noqa: E402

MILLISECONDS = 1000
PIPE_WIDTH = 140
POOL_COUNTS = (1, 10, 100)
SERVICES = ("pulumi_aws.", "pulumi_kubernetes.", "pulumi_eks")


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    measured: str
    goal: str
    met: bool
    seconds: str
    """The medians behind it."""


def python(code: str) -> Command:
    """Return a command that runs ``code`` on this Python."""
    return Command([sys.executable, "-c", code], ROOT, _environment())


def check(program: Path, stack: str) -> Command:
    """Return ``eks-gpu check``."""
    argv = [sys.executable, "-m", "eks_gpu.cli", "check", stack, "--program", str(program)]
    return Command(argv, ROOT, _environment())


def _environment() -> dict[str, str]:
    """Return this process's environment with bytecode kept, as ``make`` sets it: the SDKs are compiled once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cost_of_facts(runs: int) -> Figure:
    """Importing every fact, beyond starting Python."""
    names = [f"eks_gpu.facts.{module.name}" for module in pkgutil.iter_modules(eks_gpu.facts.__path__)]
    pair = in_turn(python(f"import {', '.join(names)}"), python("pass"), runs)
    cost = pair.difference * MILLISECONDS
    return Figure(
        "import every fact, beyond Python's start", f"{cost:.0f} ms", "at most 60 ms", cost <= 60, _both(pair.medians)
    )


def cost_of_importing_rules(runs: int) -> Figure:
    """Importing every rule, beyond starting Python."""
    pair = in_turn(python("import eks_gpu_policies.rules"), python("pass"), runs)
    cost = pair.difference * MILLISECONDS
    return Figure(
        "import every rule, beyond Python's start", f"{cost:.0f} ms", "at most 150 ms", cost <= 150, _both(pair.medians)
    )


def cost_of_rules(runs: int) -> Figure:
    """Every rule on prod, repeated until it is large; the copies are made before the clock starts."""
    few, many = zip(*(_rules() for _ in range(runs)), strict=True)
    low, high = statistics.median(few), statistics.median(many)
    return Figure(
        "every rule on prod repeated to 10,000 resources, for each resource",
        f"{high * MILLISECONDS:.2f} ms; {high / low:.2f} x that of 1,000 resources",
        "at most 1 ms, linear",
        high * MILLISECONDS <= 1 and high / low <= 1.2,
        f"{low * MILLISECONDS:.2f} ms, {high * MILLISECONDS:.2f} ms",
    )


def _rules() -> tuple[float, float]:
    """Return the seconds for each resource of a small and of a large stack."""
    command = Command([sys.executable, "tests/bench/rules.py"], ROOT, _environment())
    low, high = (size["seconds"] / size["resources"] for size in json.loads(command.output()))
    return low, high


def cost_of_placement() -> Figure:
    """Placing many distinct pods on many pools, and twice as many of either."""
    done = Command([sys.executable, "tests/bench/placement.py"], ROOT, _environment())
    half, whole, double, choosy = (size["seconds"] for size in json.loads(done.output()))
    ratios = f"twice the pools {whole / half:.2f} x, twice the pods {double / whole:.2f} x"
    return Figure(
        "placing 1,000 distinct pods on 200 pools",
        f"{whole:.2f} s, with conditions that no other pod has {choosy:.2f} s; {ratios}",
        "under 1 s, linear or better",
        max(whole, choosy) < 1 and max(whole / half, double / whole) <= 2.2,
        f"{half:.2f} s, {whole:.2f} s, {double:.2f} s, {choosy:.2f} s",
    )


def cost_of_check(runs: int) -> Figure:
    """Checking prod, against importing the same provider service modules and nothing else."""
    # The SDKs load a service when one of its names is asked for, not when it is imported.
    names = _service_modules()
    imports = python(
        f"from importlib import import_module as load\nfor name in {names!r}:\n    getattr(load(name), 'x', None)"
    )
    pair = in_turn(check(ROOT, "prod"), imports, runs)
    return Figure(
        "eks-gpu check prod / importing the same provider modules",
        f"{pair.ratio:.2f} x",
        "at most 1.7 x",
        pair.ratio <= 1.7,
        _both(pair.medians),
    )


def _service_modules() -> list[str]:
    """Return the provider packages that a check of prod loads: the services, not the files within them."""
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from eks_gpu.cli.program import record_stack\n"
        "from eks_gpu.cli.project import Project\n"
        f"record_stack(Project.find(Path({str(ROOT)!r})), 'prod')\n"
        f"names = [name for name, module in sys.modules.items() if name.startswith({SERVICES!r})\n"
        "         and type(module).__name__ == 'module' and getattr(module, '__path__', None)]\n"
        "print(json.dumps(sorted(names)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


def costs_of_previews(runs: int, folder: Path) -> Iterator[Figure]:
    """Previews of prod with the pack, against an empty program with an empty pack and against prod without the pack."""
    bench = Bench(folder)
    try:
        here = Path(__file__).parent
        prod = _preview(bench, ROOT, "prod", ROOT / "policies")
        pair = in_turn(prod, _preview(bench, here / "empty_program", "dev", here / "empty_pack"), runs)
        yield Figure(
            "preview of prod with the pack / empty program with an empty pack",
            f"{pair.ratio:.2f} x",
            "at most 2.5 x",
            pair.ratio <= 2.5,
            _both(pair.medians),
        )
        pair = in_turn(prod, _preview(bench, ROOT, "prod", None), runs)
        yield Figure(
            "preview of prod with the pack / without",
            f"{pair.ratio:.2f} x",
            "at most 1.5 x",
            pair.ratio <= 1.5,
            _both(pair.medians),
        )
    finally:
        bench.close()


def _preview(bench: Bench, program: Path, stack: str, pack: Path | None) -> Command:
    from sandbox import programs  # noqa: PLC0415 - as in the tests' own harness

    found = programs.find(program)
    assert found is not None
    engine = bench.engine(program)
    engine.create(found, stack)
    settings = bench.folder / f"{found.name}.{stack}.yaml"
    source = ROOT / "stacks" / f"Pulumi.{stack}.yaml"
    settings.write_text(source.read_text() if program == ROOT else "config: {}\n")
    options = ["--config-file", str(settings), *(["--policy-pack", str(pack)] if pack else [])]
    return Command(engine.command("preview", found, stack, *options), program, engine.environment)


def cost_of_pools(runs: int, folder: Path) -> Figure:
    """What each further GPU pool adds to a check, from 1 to 10 and from 10 to 100 pools."""
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "stacks").mkdir()
    for count in POOL_COUNTS:
        _write_stack(folder / "stacks" / f"Pulumi.pools{count}.yaml", count)
    few, some, many = POOL_COUNTS
    low = in_turn(check(folder, f"pools{some}"), check(folder, f"pools{few}"), runs)
    high = in_turn(check(folder, f"pools{many}"), check(folder, f"pools{few}"), runs)
    slope = high.difference / (many - few)
    bend = (low.difference - slope * (some - few)) / low.medians[0]
    return Figure(
        f"each further GPU pool in a check, {few} to {many}",
        f"{slope * MILLISECONDS:.1f} ms; {some} pools are {bend:+.0%} off the line",
        "linear, within 10 %",
        abs(bend) <= 0.1,
        f"{low.medians[1]:.2f} s, {low.medians[0]:.2f} s, {high.medians[0]:.2f} s",
    )


def _write_stack(path: Path, pools: int) -> None:
    """Write prod with ``pools`` node pools, a budget that fits, and everything else as it is."""
    content = yaml.safe_load((ROOT / "stacks" / "Pulumi.prod.yaml").read_text())
    platform = content["config"]["eks-gpu:platform"]
    pool = platform["node_pools"]["g5"]
    platform["node_pools"] = {f"pool-{number}": pool for number in range(pools)}
    platform["budget"] = {"monthly_usd": 1_000_000 + 100_000 * pools}
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def _both(medians: tuple[float, float]) -> str:
    return f"{medians[0]:.2f} s, {medians[1]:.2f} s"


def main() -> None:
    """Measure everything and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (default: 5)")
    runs = parser.parse_args().runs
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    table = Table("what", "measured", "goal", "", "medians", title=f"{runs} runs of each command, in turn")
    with (
        console.status("measuring") as status,
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
    ):
        for figure in _figures(runs, Path(one), Path(two)):
            status.update(f"measured: {figure.what}")
            table.add_row(figure.what, figure.measured, figure.goal, "met" if figure.met else "missed", figure.seconds)
    console.print(table)


def _figures(runs: int, previews: Path, pools: Path) -> Iterator[Figure]:
    yield cost_of_facts(3 * runs)
    yield cost_of_importing_rules(3 * runs)
    yield cost_of_rules(runs)
    yield cost_of_placement()
    yield cost_of_check(runs)
    yield from costs_of_previews(runs, previews)
    yield cost_of_pools(runs, pools)


if __name__ == "__main__":
    main()
