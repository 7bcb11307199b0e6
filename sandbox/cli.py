"""The command line ``python -m sandbox``.

Exit codes: 0 fine, 1 findings or a failed deployment, 2 could not run, 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import signal
import sys
from collections.abc import Sequence

from sandbox.checkout import DIRECTORY_VARIABLE
from sandbox.errors import SandboxError
from sandbox.home import Kubernetes

COULD_NOT_RUN = 2
"""The exit code of what never came to its work."""

INTERRUPTED = 130
"""What a shell reports of a program that Ctrl-C ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, rest = _split(given)
    parser = _parser()
    parsed = parser.parse_args(own)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _dispatch(parser, parsed, rest)
    except SandboxError as error:
        if str(error):
            print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"error: {_in_words(error)}", file=sys.stderr)
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        print("interrupted; what is done so far is kept, and the same command goes on from there", file=sys.stderr)
        return INTERRUPTED


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Separate our arguments from those behind ``--``, which are somebody else's."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _in_words(error: OSError) -> str:
    """Say what the system refused, where, and what to do."""
    where = error.filename or "the sandbox's files"
    remedy = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "free some space",
        errno.EROFS: f"use a checkout that can be written to, or set {DIRECTORY_VARIABLE} to a folder that can",
        errno.EACCES: f"use a checkout of your own, or set {DIRECTORY_VARIABLE} to a folder of your own",
    }.get(error.errno or 0)
    said = f"{where}: {(error.strerror or str(error)).lower()}"
    return f"{said}; {remedy}, and run again" if remedy else said


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox", description="An AWS, a Kubernetes and a Pulumi engine on this machine."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def stack_command(name: str, text: str, default: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=f"{text}; what follows `--` goes to pulumi")
        command.add_argument("stack", nargs="?", default=default, help=f"default: {default}")
        return command

    stack_command("preview", "show what a stack would build, judged by the policy pack", "dev")
    command = stack_command(
        "up", "build a stack to the end, with the sandbox answering for AWS and Kubernetes", "local"
    )
    command.add_argument(
        "--kubernetes",
        choices=[each.value for each in Kubernetes],
        help="real (default): a control plane on this machine judges and schedules; its first build takes about a "
        "quarter of an hour. stand-in: objects are checked and echoed, nothing is scheduled, nothing has to be built",
    )
    stack_command("down", "destroy a stack, and prove that nothing is left", "local")
    stack_command("recover", "finish what a crash or an interruption left half done", "local")
    command = commands.add_parser("exec", help="run any command with the sandbox's environment: exec -- CMD ...")
    command.add_argument("--cwd", default=".", help="the folder to run it in; default: this one")
    command.add_argument(
        "--kubernetes", action="store_true", help="start the sandbox's control plane, and let it answer for the cluster"
    )
    command = commands.add_parser("build", help="build the tools the sandbox needs, if they are not there")
    command.add_argument("tools", nargs="*", metavar="TOOL", help="a name of `status`, or modules; default: all")
    commands.add_parser("status", help="show what is built, what runs and what is deployed")
    commands.add_parser("clean", help="stop what runs and forget all state of this checkout")
    return parser


def _dispatch(parser: argparse.ArgumentParser, parsed: argparse.Namespace, rest: Sequence[str]) -> int:
    # Imported where they are used: a command must not wait for what another one needs.
    name = parsed.command
    if rest and name in {"build", "status", "clean"}:
        parser.error(f"{name} takes nothing after --")
    if name in {"up", "down", "recover"}:
        from sandbox.commands import lifecycle  # noqa: PLC0415 - see above

        if name == "up":
            return lifecycle.up(parsed.stack, rest, Kubernetes(parsed.kubernetes) if parsed.kubernetes else None)
        return {"down": lifecycle.down, "recover": lifecycle.recover}[name](parsed.stack, rest)
    if name == "preview":
        from sandbox.commands.preview import preview  # noqa: PLC0415 - see above

        return preview(parsed.stack, rest)
    if name == "exec":
        from sandbox.commands.execute import execute  # noqa: PLC0415 - see above

        return execute(rest, parsed.cwd, real_kubernetes=parsed.kubernetes)
    from sandbox.commands import housekeeping  # noqa: PLC0415 - see above

    if name == "build":
        return housekeeping.build(parsed.tools)
    return housekeeping.status() if name == "status" else housekeeping.clean()
