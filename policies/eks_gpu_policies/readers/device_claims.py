"""What a pod's claims on devices are for: GPUs, or whatever else has a driver that allocates (network cards, TPUs)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eks_gpu.planning.reading import View
from eks_gpu_policies.program import Program

_VERSIONS: Final = ("v1", "v1beta2", "v1beta1")
_GROUP: Final = "kubernetes:resource.k8s.io/"
_GPU: Final = re.compile(r"gpu|nvidia|(?<![a-z])mig(?![a-z])", re.IGNORECASE)
"""How claims on GPUs are called by those who write them."""
_NVIDIA: Final = "nvidia.com"


def claims_a_gpu(container: View, pod: View, program: Program) -> bool:
    """Return whether a container uses a device that is a GPU, as far as anybody can tell.

    Where the claim or its class is not in the stack, its names are all there is to tell by.
    """
    used = {claim["name"].text() for claim in container.at("resources", "claims").items()}
    if not used:
        return False
    of_pod = {claim["name"].text(): claim for claim in pod["resourceClaims"].items()}
    return any(_is_gpu(name or "", of_pod.get(name), program) for name in used)


def _is_gpu(name: str, claim: View | None, program: Program) -> bool:
    if claim is None:
        return _GPU.search(name) is not None
    classes = list(_classes(claim, program))
    if classes:
        return any(_is_gpu_class(kind, program) for kind in classes)
    names = (claim[key].data for key in ("name", "resourceClaimTemplateName", "resourceClaimName"))
    return any(not isinstance(item, str) or _GPU.search(item) is not None for item in names if item is not None)


def _classes(claim: View, program: Program) -> Iterator[str]:
    """Yield the device classes that a claim asks for, where it is in the stack."""
    for key, kind, spec in (
        ("resourceClaimTemplateName", "ResourceClaimTemplate", ("spec", "spec")),
        ("resourceClaimName", "ResourceClaim", ("spec",)),
    ):
        name = claim[key].data
        for version in _VERSIONS if isinstance(name, str) else ():
            for found in program.named(f"{_GROUP}{version}:{kind}", str(name)):
                for request in found.view.at(*spec, "devices", "requests").items():
                    yield from _of_request(request)


def _of_request(request: View) -> Iterator[str]:
    for place in (request, request["exactly"], *request["firstAvailable"].items()):
        name = place["deviceClassName"].text()
        if name is not None:
            yield name


def _is_gpu_class(name: str, program: Program) -> bool:
    """Return whether a class is of NVIDIA's devices; one of somebody's own is read, or judged by its name."""
    if "." in name:
        return name.endswith(_NVIDIA)
    own = [item for version in _VERSIONS for item in program.named(f"{_GROUP}{version}:DeviceClass", name)]
    told = [
        text
        for item in own
        for selector in item.view.at("spec", "selectors").items()
        if (text := selector.at("cel", "expression").text()) is not None
    ]
    return any(_NVIDIA in text for text in told) if told else _GPU.search(name) is not None
