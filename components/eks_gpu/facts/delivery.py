"""What brings objects into a cluster from a repository that no program shows."""

from __future__ import annotations

SOURCE = (
    "argoproj/argo-helm (charts argo-cd, argocd-apps) and argo-cd manifests/crds; fluxcd-community/helm-charts (flux2, "
    "flux2-sync), controlplaneio-fluxcd/charts (flux-operator, flux-instance), fluxcd/kustomize-controller and "
    "helm-controller api"
)
CHECKED = "2026-11-21"

CHARTS: frozenset[str] = frozenset({"argo-cd", "argocd-apps", "flux2", "flux2-sync", "flux-operator", "flux-instance"})
"""Charts that install a controller of that kind, or tell it what to bring."""

KINDS: frozenset[str] = frozenset(
    {
        "argoproj.io/v1alpha1:Application",
        "argoproj.io/v1alpha1:ApplicationSet",
        "kustomize.toolkit.fluxcd.io/v1:Kustomization",
        "helm.toolkit.fluxcd.io/v2:HelmRelease",
    }
)
"""Kinds of objects that tell it what to bring, with their APIs."""
