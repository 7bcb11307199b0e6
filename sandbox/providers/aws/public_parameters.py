"""The public parameters that name the newest machine image of a kind: made-up ids, the same for the same name."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_IMAGES: Final = re.compile(r"/aws/service/(?:eks|bottlerocket)/.+/image_id")
_DIGITS: Final = 17


def names_image(parameter: str) -> bool:
    """Tell whether a parameter is one of those that AWS keeps for the images of EKS nodes."""
    return _IMAGES.fullmatch(parameter) is not None


def image_id(parameter: str) -> str:
    """Return an image id of the usual form that follows from the parameter's name."""
    return f"ami-{hashlib.sha256(parameter.encode()).hexdigest()[:_DIGITS]}"
