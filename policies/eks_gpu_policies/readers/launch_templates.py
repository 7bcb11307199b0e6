"""EC2 launch templates: which one a group of nodes uses, and what it says about them."""

from __future__ import annotations

from typing import Final

from eks_gpu.planning.images.public_image import public_image
from eks_gpu.planning.pool import Family, ImageChoice, ImageSource, Pool
from eks_gpu.planning.reading import NotKnown, NotKnownError, View, attempt, need
from eks_gpu_policies import tokens
from eks_gpu_policies.program import Program
from eks_gpu_policies.resource import Resource

Template = Resource | NotKnown | None
"""The launch template of a group; ``None`` for a group without one."""

RESOLVED_BY_SSM: Final = "resolve:ssm:"
"""EC2 then looks the image up at every launch."""


def template_of(group: Resource, prop: str, place: View, program: Program) -> Resource | None:
    """Return the launch template named at ``place`` of the property ``prop``: by origin, else by its literal name.

    Raises ``NotKnownError`` when there is one that is not, or not plainly, in the stack.
    """
    if not place.exists:
        return None
    sources = program.computed_from(group, prop, tokens.LAUNCH_TEMPLATE)
    if len(sources) == 1:
        return sources[0]
    name = place["name"].text() or place["launchTemplateName"].text()
    named = [
        template
        for template in program.of_type(tokens.LAUNCH_TEMPLATE)
        if name is not None and attempt(template.view["name"].text) == name
    ]
    if len(named) == 1:
        return named[0]
    raise NotKnownError(place.not_known("the launch template is not in the stack"))


def used_by(pool: Pool, program: Program) -> View:
    """Return the properties of a pool's launch template or EC2NodeClass: nothing without one.

    Raises ``NotKnownError`` when it has one that is not in the stack.
    """
    urn = need(pool.template)
    return View(None, "") if urn is None else program.by_urn[urn].view


def urn_of(template: Template) -> str | NotKnown | None:
    """Return a template's URN, where it has one."""
    return template.urn if isinstance(template, Resource) else template


def properties_of(template: Template) -> View:
    """Return the template's properties: nothing without one, an error when it is not known."""
    if isinstance(template, NotKnown):
        raise NotKnownError(template)
    return View(None, "") if template is None else template.view


def types_of(template: Template) -> tuple[str, ...]:
    """Return the instance type of a template; raise ``NotKnownError`` when it chooses by attributes."""
    properties = properties_of(template)
    if properties["instanceRequirements"].exists:
        raise NotKnownError(properties["instanceRequirements"].not_known("chosen by attributes, not by name"))
    named = properties["instanceType"].text()
    return () if named is None else (named,)


def own_image(image_id: View) -> ImageChoice:
    """Return how a literal image id, or the parameter in its place, chooses the image."""
    value = attempt(lambda: image_id.text() or "")
    if isinstance(value, str) and value.startswith(RESOLVED_BY_SSM):
        return ImageChoice(ImageSource.SSM_PARAMETER, value)
    return ImageChoice(ImageSource.ID, value)


def own_family(image_id: View) -> Family | None:
    """Return the family of an image that a public parameter names; None for anybody's own."""
    name = image_id.text() or ""
    image = public_image(name) if name.startswith(RESOLVED_BY_SSM) else None
    return None if image is None else image.family
