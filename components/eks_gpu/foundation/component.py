"""What every component of the library has in common."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi


class Component(pulumi.ComponentResource):
    """A component with a type token, a parent for its children, and names for them.

    The type token is ``eks-gpu:index:<Class>`` and, like the children's names, part of the contract: changing one
    replaces what users have deployed, so a change comes with an alias.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None, previously: Sequence[str] = ()) -> None:
        """Register the component under ``name``.

        ``previously`` lists former names of this component. Each becomes an alias, and because the engine aliases
        the children of an aliased component whose names start with its name, a rename replaces nothing. What bears the
        component's name in the cluster keeps the first one: a name there cannot be changed.
        """
        renamed = pulumi.ResourceOptions(aliases=[pulumi.Alias(name=former) for former in previously])
        token = f"eks-gpu:index:{type(self).__name__}"
        super().__init__(token, name, {}, pulumi.ResourceOptions.merge(opts, renamed))
        self._name = name
        self._first_name = (*previously, name)[0]

    def child_name(self, suffix: str) -> str:
        """Return the logical name of a child. ``suffix`` is a literal or a plain key such as a zone, never an Output.

        A child's URN holds its parents' types but not their names, hence the component's name in front.
        """
        return f"{self._name}-{suffix}"

    def child_opts(  # noqa: PLR0913 - the options that some child needs, all keyword-only
        self,
        *,
        depends_on: Sequence[pulumi.Resource] = (),
        provider: pulumi.ProviderResource | None = None,
        protect: bool | None = None,
        delete_before_replace: bool | None = None,
        ignore_changes: Sequence[str] = (),
        custom_timeouts: pulumi.CustomTimeouts | None = None,
        deleted_with: pulumi.Resource | None = None,
    ) -> pulumi.ResourceOptions:
        """Return options for a child: parented here, and never the component's own options."""
        return pulumi.ResourceOptions(
            parent=self,
            depends_on=list(depends_on),
            provider=provider,
            protect=protect,
            delete_before_replace=delete_before_replace,
            ignore_changes=list(ignore_changes) or None,
            custom_timeouts=custom_timeouts,
            deleted_with=deleted_with,
        )
