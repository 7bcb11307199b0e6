"""The real Pulumi engine for tests: each test has its own backend, plugins and AWS; the built engine is shared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import yaml

from sandbox import aws, programs
from sandbox.checkout import Checkout
from sandbox.engine import Engine, prepare

TIMEOUT_SECONDS = 300
"""A run that takes longer hangs."""


@dataclass(frozen=True)
class Step:
    """What the engine did, or would do, with one resource."""

    operation: str
    """As the engine calls it: ``create``, ``update``, ``same``, ``delete``, ``read``, ``replace``, ..."""
    urn: str
    type: str
    inputs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]


@dataclass(frozen=True)
class Violation:
    """What a policy said."""

    policy: str
    level: str
    """``advisory`` or ``mandatory``"""
    urn: str
    message: str


@dataclass(frozen=True)
class Result:
    """What came of one run of the engine."""

    returncode: int
    output: str
    """Standard output and standard error, as one text."""
    events: Sequence[Mapping[str, Any]] = field(repr=False)
    """The engine's own events (``--event-log``)."""

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps, in the order they began, without the stack itself."""
        planned = (event["resourcePreEvent"]["metadata"] for event in self.events if "resourcePreEvent" in event)
        steps = (
            Step(
                step["op"], step["urn"], step["type"], ((step.get("new") or step.get("old") or {}).get("inputs") or {})
            )
            for step in planned
        )
        return tuple(step for step in steps if step.type != "pulumi:pulumi:Stack")

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """What the policy packs reported."""
        reported = (event["policyEvent"] for event in self.events if "policyEvent" in event)
        return tuple(
            Violation(one["policyName"], one["enforcementLevel"], one.get("resourceUrn", ""), one["message"])
            for one in reported
        )

    @cached_property
    def changes(self) -> Mapping[str, int]:
        """How many resources each operation concerned, as the engine sums up (``same`` among them)."""
        for event in reversed(self.events):
            if "summaryEvent" in event:
                return dict(event["summaryEvent"]["resourceChanges"] or {})
        return {}

    def operations(self, resource_type: str) -> list[str]:
        """Return the operations on resources of a type."""
        return [step.operation for step in self.steps if step.type == resource_type]

    def step(self, name: str) -> Step:
        """Return the one step on the resource with that logical name."""
        found = [step for step in self.steps if step.name == name]
        assert len(found) == 1, (
            f"{len(found)} steps on {name!r}; there are {sorted({step.name for step in self.steps})}"
        )
        return found[0]


class Choices(TypedDict, total=False):
    """What a run may be given; everything is optional."""

    options: Sequence[str]
    """Further options of pulumi."""
    config: Mapping[str, object]
    """The stack's settings, by full key (``eks-gpu:platform``); or"""
    config_file: Path
    """a stack file, of which a copy is used."""
    policy_pack: Path
    """The folder of a policy pack."""
    policy_config: Mapping[str, object]
    """The pack's configuration."""
    environment: Mapping[str, str]
    """Variables to add."""


class Bench:
    """Runs programs through the engine, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = Checkout(folder / "sandbox")

    def program(self, source: str, *, name: str = "tiny", project: str = "") -> Path:
        """Write a program that runs on this Python, with further lines of ``Pulumi.yaml`` in ``project``."""
        folder = self.folder / "programs" / name
        folder.mkdir(parents=True, exist_ok=True)
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        (folder / "Pulumi.yaml").write_text(f"name: {name}\nruntime: {json.dumps(runtime)}\n{project}")
        (folder / "__main__.py").write_text(source)
        return folder

    def engine(self, program: Path) -> Engine:
        """Return the engine as the sandbox prepares it for a program."""
        return prepare(self.checkout, programs.find(program))

    def preview(self, program: Path, stack: str = "dev", **choices: Unpack[Choices]) -> Result:
        """Preview a stack; it is created if need be."""
        return self.run("preview", program, stack, **choices)

    def up(self, program: Path, stack: str = "dev", **choices: Unpack[Choices]) -> Result:
        """Deploy a stack; it is created if need be."""
        return self.run("up", program, stack, **_confirmed(choices))

    def destroy(self, program: Path, stack: str = "dev", **choices: Unpack[Choices]) -> Result:
        """Destroy what a stack holds."""
        return self.run("destroy", program, stack, **_confirmed(choices))

    def run(self, verb: str, program: Path, stack: str, **choices: Unpack[Choices]) -> Result:
        """Run ``pulumi <verb>`` on a stack of the program in the folder ``program``."""
        found = _load(program)
        engine = self.engine(program)
        engine.create(found, stack)
        log = self.folder / "events.jsonl"
        log.unlink(missing_ok=True)
        options = [*choices.get("options", ()), "--event-log", str(log), *self._files(f"{found.name}.{stack}", choices)]
        answer = subprocess.run(
            engine.command(verb, found, stack, *options),
            cwd=program,
            env={**engine.environment, "PULUMI_DEBUG_COMMANDS": "true", **choices.get("environment", {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        events = [json.loads(line) for line in log.read_text().splitlines() if line] if log.exists() else []
        return Result(answer.returncode, answer.stdout, events)

    def export(self, program: Path, stack: str = "dev") -> Mapping[str, Any]:
        """Return the stack's state (``pulumi stack export``)."""
        found = _load(program)
        engine = self.engine(program)
        command = engine.command("stack", found, stack, "export")
        answer = subprocess.run(command, cwd=program, env=engine.environment, capture_output=True, check=True)
        return dict(json.loads(answer.stdout))

    def close(self) -> None:
        """Stop what runs in the background."""
        aws.stop(self.checkout)

    def _files(self, name: str, choices: Choices) -> list[str]:
        settings = self.folder / f"{name}.yaml"
        if "config_file" in choices:
            settings.write_bytes(choices["config_file"].read_bytes())
        else:
            settings.write_text(yaml.safe_dump({"config": dict(choices.get("config", {}))}))
        options = ["--config-file", str(settings)]
        if "policy_pack" in choices:
            options += ["--policy-pack", str(choices["policy_pack"])]
        if "policy_config" in choices:
            given = self.folder / "policy-config.json"
            given.write_text(json.dumps(choices["policy_config"]))
            options += ["--policy-pack-config", str(given)]
        return options


def _confirmed(choices: Choices) -> Choices:
    return {**choices, "options": ["--yes", "--skip-preview", *choices.get("options", ())]}


def _load(program: Path) -> programs.Program:
    found = programs.find(program)
    assert found is not None, f"there is no Pulumi.yaml in or above {program}"
    return found
