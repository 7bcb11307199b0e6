"""Copies of stack files for the engine, which rewrites what it is given: salt, dates, numbers.

The tracked files are only read. Values that are encrypted for somebody else's passphrase or key cannot be decrypted in
the sandbox, and must not be; the copy holds a placeholder instead.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.checkout import Checkout
from sandbox.errors import SandboxError
from sandbox.programs import Program

PLACEHOLDER = "sandbox-placeholder"
"""What stands in the copy for an encrypted value."""

_ENCRYPTION = re.compile(r"^(?:encryptionsalt|encryptedkey|secretsprovider):.*\n?", re.MULTILINE)
_SALT = re.compile(r"^encryptionsalt:.*$", re.MULTILINE)
_SECURE_BLOCK = re.compile(r":[ \t]*\n[ \t]+secure:[ \t]*\S.*$", re.MULTILINE)
_SECURE_FLOW = re.compile(r"\{[ \t]*secure:[^}\n]*\}")
_SECURE_ITEM = re.compile(r"-[ \t]+secure:[ \t]*\S.*$", re.MULTILINE)


def copy_config(checkout: Checkout, program: Program, stack: str, source: Path) -> Path:
    """Copy a stack file for the engine and return the copy; the salt of an earlier copy is kept."""
    text = source.read_bytes().decode(errors="surrogateescape")
    target = checkout.config / program.name / f"Pulumi.{stack}.yaml"
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = _SALT.search(target.read_text(errors="replace")) if target.is_file() else None
    copy = without_foreign_secrets(text)
    if kept is not None:
        copy = f"{copy}{'' if copy.endswith(chr(10)) else chr(10)}{kept.group(0)}\n"
    temporary = target.with_suffix(".part")
    temporary.write_bytes(copy.encode(errors="surrogateescape"))
    temporary.replace(target)
    return target


def without_foreign_secrets(text: str) -> str:
    """Return a stack file's text with placeholders for encrypted values, and without their encryption's settings."""
    plain = _ENCRYPTION.sub("", text)
    for pattern, replacement in (
        (_SECURE_BLOCK, f": {PLACEHOLDER}"),
        (_SECURE_FLOW, PLACEHOLDER),
        (_SECURE_ITEM, f"- {PLACEHOLDER}"),
    ):
        plain = pattern.sub(replacement, plain)
    return plain


def passphrase(checkout: Checkout) -> str:
    """Return the passphrase of this sandbox's secrets; made at random the first time, readable by its owner only."""
    file = checkout.passphrase
    if not file.exists():
        temporary = file.with_suffix(f".{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_hex(32))
        try:
            # A link fails if somebody else was faster, and then theirs is the one.
            os.link(temporary, file)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return file.read_text()


def qualified(program: Program, stack: str) -> str:
    """Return the full name of a stack in a file backend."""
    return f"organization/{program.name}/{stack}"


def state_file(checkout: Checkout, program: Program, stack: str) -> Path:
    """Return where the file backend keeps a stack."""
    return checkout.state / ".pulumi" / "stacks" / program.name / f"{stack}.json"


def exists(checkout: Checkout, program: Program, stack: str) -> bool:
    """Tell whether the backend has the stack."""
    return state_file(checkout, program, stack).is_file()


def is_empty(checkout: Checkout, program: Program, stack: str) -> bool:
    """Tell whether the backend holds no resource of the stack, nor one that may have been left half made."""
    return _count(state_file(checkout, program, stack)) == 0


def resource_counts(checkout: Checkout) -> dict[str, int]:
    """Return ``project/stack`` and the number of its resources for each stack in the backend, sorted."""
    folder = checkout.state / ".pulumi" / "stacks"
    return {f"{file.parent.name}/{file.stem}": _count(file) for file in sorted(folder.glob("*/*.json"))}


def resources(checkout: Checkout) -> list[dict[str, Any]]:
    """Return every resource of every stack in the backend, as its state has it."""
    folder = checkout.state / ".pulumi" / "stacks"
    return [resource for file in sorted(folder.glob("*/*.json")) for resource in snapshot(file).get("resources") or ()]


def protected(checkout: Checkout, program: Program, stack: str) -> list[str]:
    """Return the names of the stack's resources that the engine refuses to delete, as a user knows them, sorted."""
    held = snapshot(state_file(checkout, program, stack)).get("resources") or ()
    by_urn = {resource["urn"]: resource for resource in held if resource.get("protect")}
    # What a component protects, it protects with its children: the component alone says it.
    highest = (resource for resource in by_urn.values() if resource.get("parent") not in by_urn)
    return sorted(resource["urn"].rsplit("::", 1)[-1] for resource in highest)


def snapshot(state: Path) -> dict[str, Any]:
    """Return what a state file holds: ``resources`` and ``pending_operations``, each only if there are any."""
    return (json.loads(state.read_text()).get("checkpoint", {}).get("latest") or {}) if state.is_file() else {}


def _count(state: Path) -> int:
    held = snapshot(state)
    return len(held.get("resources") or ()) + len(held.get("pending_operations") or ())


def create(checkout: Checkout, program: Program, stack: str, environment: Mapping[str, str], pulumi: str) -> None:
    """Create the stack in the backend if it is not there.

    ``pulumi stack init`` writes the project's stack file and has no option against it, so it runs in a project of the
    same name that holds nothing else.

    Raises:
        SandboxError: the engine refused.

    """
    if exists(checkout, program, stack):
        return
    scratch = checkout.directory / "scratch" / program.name
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "Pulumi.yaml").write_text(json.dumps({"name": program.name, "runtime": "python"}))
    command = [pulumi, "stack", "init", qualified(program, stack), "--no-select", "--non-interactive"]
    answer = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
    if answer.returncode != 0 and not exists(checkout, program, stack):
        raise SandboxError(f"the stack {stack!r} cannot be created: {answer.stderr.strip() or answer.stdout.strip()}")
