"""Reading a file of JSON that somebody named."""

from __future__ import annotations

import json
from pathlib import Path

from eks_gpu.cli.exit_codes import CannotRun


def read_json(path: Path) -> object:
    """Return what a file holds; raise :class:`CannotRun` where it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CannotRun(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CannotRun(f"{path} is no JSON: it is no UTF-8") from error
    except ValueError as error:
        raise CannotRun(f"{path} is no JSON: {error}") from error
    except RecursionError as error:
        raise CannotRun(f"{path} is no JSON that can be read: it is nested too deeply") from error
