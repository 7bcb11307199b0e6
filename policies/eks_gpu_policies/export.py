"""The files of a policy pack's folder, for those who have the wheel and not this repository.

The folder holds no rules: it names the distribution that does, at the version that wrote it, so that what was tried is
what is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

DISTRIBUTION: Final = "pulumi-eks-gpu"

_DESCRIPTION: Final = "What must be true of any GPU deployment on Amazon EKS."

_MANIFEST: Final = """\
name: eks-gpu
description: {description}
version: {version}
license: Apache-2.0
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: venv
"""

PROGRAM: Final = '''\
"""The policy pack as the Pulumi engine starts it."""

from eks_gpu_policies.pack import serve
from eks_gpu_policies.rules import RULES

serve(RULES)
'''


def pack_files() -> Mapping[str, str]:
    """Return the text of each file of a pack's folder, by name."""
    own = version(DISTRIBUTION)
    return {
        "PulumiPolicy.yaml": _MANIFEST.format(description=_DESCRIPTION, version=own),
        "__main__.py": PROGRAM,
        "requirements.txt": f"{DISTRIBUTION}[policies]=={own}\n",
    }
